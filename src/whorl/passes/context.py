"""What a pass is given besides the module: options, the report it adds to, inference, and the number of edits left."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from whorl.ir.cached_property import cached_property
from whorl.ir.elements.pool import Pool
from whorl.ir.graph import Module, Node, Region
from whorl.ir.infer import Inference
from whorl.ir.rewrite import resumed_inference
from whorl.passes.origins import Origins
from whorl.passes.report import Report


class PassOptions(Struct, frozen=True):
    """How a module is optimised.

    `fast_math`: float sums and products may be regrouped, which changes last bits. `expansion_bound`: a folded
    result may have so many times the bytes of its operands; None for any, as long as the whole model does not grow
    much. `memory_budget`: bytes of folded constants held in memory before they go to files; `disk_budget`: bytes of
    those files. `disabled`: names of passes, rules and ops to leave alone. `only`: the passes to run, all if empty.
    `limit`: edits after which to stop. `max_iterations`, `max_seconds`, `max_bytes`: what evaluating one loop may
    take. `verify`: check the module before and after every pass. `poison`: overwrite buffers that no constant uses
    any more, to find who reads them. `keep_errors`: what fails at run time still fails at the same node of the same
    region. `hoisted_bytes`: what is computed before one loop may take so much memory while it runs. `distances`:
    squared distances of the rows of matrices may become a matrix product, as they do with `fast_math`. `linear`:
    linear recurrences of floats may become an LSTM of linear activations, which not every engine has.
    """

    fast_math: bool = False
    expansion_bound: float | None = None
    memory_budget: int | None = None
    disk_budget: int | None = None
    disabled: frozenset[str] = frozenset()
    only: tuple[str, ...] = ()
    limit: int | None = None
    max_iterations: int = 100_000
    max_seconds: float = 10.0
    max_bytes: int = 1 << 30
    keep_errors: bool = False
    hoisted_bytes: int = 1 << 26
    verify: bool = False
    poison: bool = False
    distances: bool = False
    linear: bool = False


class Context(Struct, dict=True):
    """One optimisation of one module, which may begin while the module is read."""

    module: Module | None = None
    options: PassOptions = field(default_factory=PassOptions)
    report: Report = field(default_factory=Report)
    edits: int = 0
    refused: set[Node] = field(default_factory=set[Node])
    """Loops that could not be evaluated: they are not tried again."""
    origins: Origins = field(default_factory=Origins)
    _inference: Inference | None = None

    @cached_property
    def pool(self) -> Pool:
        """Where constants lie that are computed on the way."""
        return Pool(self.options.memory_budget, self.options.poison, self.options.disk_budget)

    @property
    def inference(self) -> Inference:
        """The inference of this run, which goes on from what the module says of its values."""
        if self._inference is None:
            self._inference = resumed_inference(self.module or Module(Region()))
        return self._inference

    def is_enabled(self, name: str) -> bool:
        """Whether a pass, rule or op may be used."""
        return name not in self.options.disabled

    def may_edit(self, rule: str) -> bool:
        """Whether one more edit by this rule is allowed; a pass asks right before it makes the edit, which is counted.

        `--limit N` so stops after N edits, which finds the one that goes wrong by bisection.
        """
        if rule in self.options.disabled or (self.options.limit is not None and self.edits >= self.options.limit):
            return False
        self.edits += 1
        self.report.edits[rule] += 1
        return True


Pass = Callable[[Module, Context], None]
"""Changes a module in place."""
