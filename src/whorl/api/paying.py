"""Which loops and branches a model is better without: the target has what replaces them, and is no slower at it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct, field

from whorl.api.tracing.recording import copy_module
from whorl.ir.graph import Module, Node, walk
from whorl.ir.infer import names_of as names_of_dims
from whorl.ops.control.flow import Loop
from whorl.passes.locations import Chooser, locations_of, names_of
from whorl.passes.simplify_loop import iterations
from whorl.passes.targets.costs import Costs
from whorl.passes.targets.targets import Target
from whorl.passes.unroll.remedy import Remedy

MARGIN = 1.08
"""How much longer a model may be estimated to take without a loop: estimates are not better than that."""
FEW = 16
"""Iterations of a loop up to which copies of its body may take less than all at once."""


class Delooped(Struct, frozen=True):
    """A module, and what became of its loops and branches.

    `removed`: the form of those that are gone, by location; `remaining`: the reason of the others; `remedy`: what may
    remove these; `refused`: whether some of them remain because of the target; `fix`: the options to give.
    """

    module: Module
    removed: dict[str, str]
    remaining: dict[str, str]
    remedy: Remedy
    refused: bool = False
    fix: str = ""


Remove = Callable[[Module, Chooser, Chooser], Delooped]
"""Removes the control flow of a module that the first chooses; of what the second chooses, by copies alone."""


class Plan(Struct):
    """Names of loops and branches that stay, and of those that become copies; why the first ones do, by location."""

    stay: set[str] = field(default_factory=set[str])
    copied: set[str] = field(default_factory=set[str])
    reasons: dict[str, str] = field(default_factory=dict[str, str])


class Paying:
    """A module with control flow, and the runtime that it is for.

    `required` are names of what goes anyway; `say` is told what is tried.
    """

    def __init__(
        self,
        module: Module,
        remove: Remove,
        target: Target,
        expected: Mapping[str, int],
        required: Iterable[str],
        say: Callable[[str], None],
    ) -> None:
        self.module, self.remove, self.target, self.required, self.say = module, remove, target, {*required}, say
        self.costs = None if target.prices is None else Costs(target.prices, expected)
        self.own = target.missing(module)
        self.before = self._microseconds(module)
        self.locations = locations_of(module)

    def result(self, is_chosen: Chooser) -> Delooped:
        """The module without the control flow that is better gone."""
        plan = Plan()
        for node in self.module.main.nodes:
            if node.regions:
                self._decide(node, is_chosen, plan)
        self.say("removing loops and branches")
        result = self._without(
            lambda node: is_chosen(node) and names_of(node).isdisjoint(plan.stay),
            lambda node: not names_of(node).isdisjoint(plan.copied),
        )
        remaining = {where: why for where, why in result.remaining.items() if where not in plan.reasons}
        return Delooped(result.module, result.removed, remaining | plan.reasons, result.remedy, bool(plan.reasons))

    def _without(self, is_chosen: Chooser, is_copied: Chooser) -> Delooped:
        return self.remove(copy_module(self.module), is_chosen, is_copied)

    def _decide(self, node: Node, is_chosen: Chooser, plan: Plan) -> None:
        """Note what becomes of a node with all that is inside, or, where it stays, of each node inside."""
        names = set[str]().union(*map(names_of, _control_flow(node)))
        if not self.required.isdisjoint(names) or not any(map(is_chosen, _control_flow(node))):
            return
        self.say(f"trying without {self.locations[node]}")

        def is_inside(each: Node) -> bool:
            return is_chosen(each) and not names_of(each).isdisjoint(names)

        result = self._without(is_inside, _nothing)
        best = self._estimate(result.module)
        if isinstance(node.op, Loop) and iterations(node)[1] <= FEW and (self.costs or best == math.inf):
            copies = self._estimate(self._without(is_inside, is_inside).module)
            if copies < best:
                best = copies
                plan.copied |= names
        with_it = self._with(node, is_inside)
        if best <= MARGIN * with_it:
            return
        if is_chosen(node) and self.locations[node] not in result.remaining:
            plan.stay |= names_of(node)
            plan.reasons[self.locations[node]] = self._reason(best, with_it, result.module)
        for region in node.regions:
            for inner in region.nodes:
                if inner.regions:
                    self._decide(inner, is_chosen, plan)

    def _with(self, node: Node, is_inside: Chooser) -> float:
        """What a run takes with a node as it is, or without what is inside alone, if that is less."""
        own = names_of(node)
        if not any(inner is not node and is_inside(inner) for inner in _control_flow(node)):
            return self.before
        inner = self._without(lambda each: is_inside(each) and names_of(each).isdisjoint(own), _nothing)
        return min(self.before, self._estimate(inner.module))

    def _estimate(self, module: Module) -> float:
        """Microseconds that a run takes; no end of them where the target has not what is new in a module."""
        return self._microseconds(module) if self.target.missing(module) <= self.own else math.inf

    def _microseconds(self, module: Module) -> float:
        return 0.0 if self.costs is None else self.costs.model(module.main)

    def _reason(self, without: float, with_it: float, module: Module) -> str:
        title = self.target.title
        if self.costs is None or without == math.inf:
            missing = " and no ".join(sorted(self.target.missing(module) - self.own))
            return f"{title} has no {missing}, which would take its place"
        names = sorted(names_of_dims(self.module.main.arguments))
        lengths = ", ".join(f"{name} = {self.costs.expect(name)}" for name in names)
        return (
            f"the model would be slower in {title} without it: {_text(without)} are expected, with it "
            f"{_text(with_it)}" + (f", at {lengths}" if names else "")
        )


def _control_flow(node: Node) -> Iterator[Node]:
    """A node with regions, and those inside."""
    yield node
    yield from (inner for region in node.regions for inner in walk(region) if inner.regions)


def _nothing(_: Node) -> bool:
    return False


def _text(microseconds: float) -> str:
    return f"{microseconds:.1f} µs" if microseconds < 10 else f"{microseconds:.0f} µs"
