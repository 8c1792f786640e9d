"""What marking the parts of a program that several cores may share takes: how much work is worth it, and names."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from whorl.ir.dtypes import INT64
from whorl.ir.native.expressions import Buffer, Const, Expr, Var
from whorl.kernel.program import Program
from whorl.kernel.walk import all_statements, count_uses
from whorl.kernel.work_estimates import WorkEstimates


class Marking(Struct):
    """`least` are the scalar operations from which work may be worth sharing; 0 where all is to be shared."""

    program: Program
    least: int
    work: WorkEstimates = field(default_factory=WorkEstimates)
    count: int = 0
    seen: Counter[Var | Buffer] | None = None

    def is_worth(self, total: Expr, is_repeated: bool, times: int = 1) -> bool:
        """Whether work may take so long, or so many times that, that it is worth waking another core."""
        return total.value >= times * self.least if isinstance(total, Const) else not (is_repeated and self.least)

    def uses(self) -> Counter[Var | Buffer]:
        """How often the whole program assigns variables and uses buffers, as it was lowered."""
        if self.seen is None:
            self.seen = count_uses(all_statements(self.program.body))
        return self.seen

    def range(self) -> tuple[Var, Var]:
        return self.variable("first"), self.variable("count")

    def variable(self, hint: str) -> Var:
        self.count += 1
        return Var(INT64, f"{hint}.spread.{self.count}")
