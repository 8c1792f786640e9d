"""Functions of what the threads of a custom op's runtime share: each computes ranges of the steps of a `Spread`.

The context that such a program is called with is a block of cells: where `callers.FORK` is, the function that hands
ranges out; then one that is told of failures, and what these two need. Several ranges may fail at once. The failure
that a program without threads would have met first is the one that it reports.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from whorl.codegen import callers
from whorl.codegen.frame import Failures
from whorl.codegen.nest_functions import NestFrame, name_of, open_function
from whorl.codegen.statements import Statements
from whorl.codegen.statuses import FIRST_FAILURE
from whorl.ir.native.expressions import Const
from whorl.kernel.canonical import Nest, NestDescription
from whorl.kernel.outline import spreads_of
from whorl.kernel.program import Fail, For, Program, Spread, Statement
from whorl.llvm.module import Module
from whorl.llvm.value import Value

REPORT, ITERATIONS = callers.FORK + 1, callers.FORK + 2
"""Cells of the context: the function of failures, and the address of the iterations that the program reports."""
COUNT = callers.FORK + 3
"""Cells that a program knows of."""
REPORT_PARAMETERS = {
    "context": "ptr",
    "status": "i64",
    "first": "i64",
    "iterations": "ptr",
    "count": "i64",
    "in_order": "i64",
}
"""Those of the function of failures: the status, the first step of the range, the iterations around it, and whether
ranges one after the other do what the program did before they were ranges."""


def add_ranges(module: Module, program: Program, fails: list[Fail]) -> dict[int, Nest]:
    """Add the functions of what threads share, equal ones once, and what fails in them; by identity of statements."""
    nests: dict[int, Nest] = {}
    for spread in spreads_of(program.body):
        nest = nests[id(spread)] = replace(RangeDescription(spread).nest(()), lengths=())
        if name_of(nest) not in module:
            _add_range(module, spread, nest, fails)
    return nests


class RangeDescription(NestDescription):
    """A range as a function of all that it reads, the iterations of its failures too, whose texts are part of it."""

    def numbers_of(self, statement: Statement) -> Sequence[Const]:
        return ()

    def line(self, statement: Statement) -> str:
        if not isinstance(statement, Fail):
            return super().line(statement)
        self.ends = True
        iterations = [self.expr(number) for number in statement.iterations]
        return f"fail {statement.reason!r} {statement.node!r} {[title for title, _ in statement.around]} {iterations}"


def is_in_order(spread: Spread) -> bool:
    """Whether ranges are loops over their own steps: a loop over time in them has all steps in each iteration."""
    last = spread.body[-1]
    return isinstance(last, For) and last.extent is spread.count


def _add_range(module: Module, spread: Spread, nest: Nest, fails: list[Fail]) -> None:
    f, parameters = open_function(module, nest, "internal")
    frame = NestFrame(f, nest, parameters)
    Statements(frame, failures=RangeFailures(frame, fails, is_in_order(spread))).write([spread])
    frame.close()
    f.give(f.index(0))


class RangeFailures(Failures):
    """Failures in a range: their statuses follow those of the program, which is told of them by a call."""

    def __init__(self, frame: NestFrame, fails: list[Fail], in_order: bool) -> None:
        super().__init__(frame, fails)
        self.in_order = in_order

    def add(self, fail: Fail) -> int:
        f, context = self.f, self.frame.context()
        self.fails.append(fail)
        status = FIRST_FAILURE + len(self.fails) - 1
        iterations = f.slot(f"[{len(fail.iterations) + 1} x i64]")
        for position, var in enumerate(fail.iterations):
            f.store(self.frame.read(var), f.offset(iterations, "i64", position))
        report = f.load("ptr", f.offset(context, "ptr", REPORT))
        count, in_order = f.index(len(fail.iterations)), f.index(int(self.in_order))
        f.run_pointer(report, context, f.index(status), f["first"], iterations, count, in_order)
        return status

    def end(self) -> None:
        """A range has no memory that has grown."""

    def memory_function(self) -> Value:
        raise TypeError("a range asks for no memory")
