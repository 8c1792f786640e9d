"""What native code did in the runs of a plan, and why it did not do the rest."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from whorl.ir.dtypes import STRING
from whorl.ir.graph import Node, walk
from whorl.ir.types import TensorType
from whorl.kernel.program import Program
from whorl.lowering.native_types import NATIVE
from whorl.lowering.strings import can_number_strings
from whorl.runtime.compiled.candidates import has_native_form
from whorl.runtime.compiled.launch import Launch
from whorl.runtime.compiled.loop_slices import LoopSlices
from whorl.runtime.compiled.partition import CompiledSubgraph
from whorl.runtime.compiled.refusals import Refusal
from whorl.runtime.interpreter.accelerator import Part
from whorl.runtime.interpreter.control import BranchKernel, LoopKernel, RegionPlan
from whorl.runtime.interpreter.plan import Plan
from whorl.runtime.interpreter.step import Interpreted, Step

NO_REASON = Refusal("")
NATIVELY, INTERPRETED, UNKNOWN = "native", "interpreted", "not reached"


class Verdict(Struct, frozen=True):
    """How consecutive nodes ran. `calls` are those among them, or inside, that native code leaves to NumPy.

    `inside` are the verdicts on the bodies and branches of an interpreted node. `traceback` is set
    for a fault of whorl's own.
    """

    title: str
    nodes: int
    how: str
    reason: str = ""
    calls: list[str] = field(default_factory=list[str])
    inside: list[Verdict] = field(default_factory=list["Verdict"])
    traceback: str = ""


def explain(plan: RegionPlan) -> list[Verdict]:
    """Verdicts on all nodes of a plan, in order."""
    return _of_parts(plan.parts, {}) if isinstance(plan, Plan) else []


def _of_parts(parts: Sequence[Part], reasons: dict[Node, Refusal]) -> list[Verdict]:
    """Verdicts on parts; `reasons` are refusals of single nodes that the subgraphs around them have met."""
    verdicts: list[Verdict] = []
    for part in parts:
        if isinstance(part, CompiledSubgraph):
            verdicts += _of_subgraph(part, reasons)
        elif isinstance(part, Interpreted):
            verdicts += [_of_step(step, reasons) for step in part.steps]
    return verdicts


def _of_subgraph(subgraph: CompiledSubgraph, reasons: dict[Node, Refusal]) -> list[Verdict]:
    attempts = [program for cache in subgraph.caches for program in cache.programs.values()]
    if subgraph.parts:
        refused = [a for a in attempts if isinstance(a, Refusal) and a.position is not None]
        own = {subgraph.steps[a.position].node: a for a in refused if a.position is not None}
        return _of_parts(subgraph.parts, reasons | own)
    nodes = [step.node for step in subgraph.steps]
    launch = next((a for a in attempts if isinstance(a, Launch)), None)
    if launch is not None:
        return [Verdict(subgraph.title, _count(nodes), NATIVELY, "", _calls(launch.graph.program))]
    if subgraph.is_prepared:
        return [Verdict(subgraph.title, _count(nodes), NATIVELY)]
    if len(nodes) == 1 and nodes[0].regions:
        return [_of_step(subgraph.steps[0], reasons)]
    refusal = next((a for a in attempts if isinstance(a, Refusal)), _not_yet(subgraph))
    how = INTERPRETED if refusal.reason else UNKNOWN
    inside = [_of_step(step, reasons) for step in subgraph.steps if step.node.regions]
    return [Verdict(subgraph.title, _count(nodes), how, refusal.reason, [], inside, refusal.traceback)]


def _not_yet(subgraph: CompiledSubgraph) -> Refusal:
    """Why a subgraph that ran was never compiled."""
    if any(cache.is_late for cache in subgraph.caches):
        return Refusal("runs have compiled as much as one may so far, the next one goes on")
    return (
        Refusal("it ran too seldom to be worth compiling")
        if any(cache.requests for cache in subgraph.caches)
        else NO_REASON
    )


def _of_step(step: Step, reasons: dict[Node, Refusal]) -> Verdict:
    return _of_kernel(step.kernel, step.node, reasons.get(step.node, NO_REASON))


def _of_kernel(kernel: object, node: Node, refusal: Refusal) -> Verdict:
    count = _count([node])
    match kernel:
        case LoopKernel(runner=LoopSlices(attempts=attempts), plan=plan):
            launch = next((a for a in attempts if isinstance(a, Launch)), None)
            if launch is not None:
                return Verdict(node.title, count, NATIVELY, "", _calls(launch.graph.program))
            refused = next((a for a in attempts if isinstance(a, Refusal)), None)
            if refused is None:
                return Verdict(node.title, count, UNKNOWN)
            return Verdict(node.title, count, INTERPRETED, refused.reason, [], explain(plan), refused.traceback)
        case BranchKernel(plans=plans):
            inside = [verdict for plan in plans for verdict in explain(plan)]
            return Verdict(node.title, count, INTERPRETED, refusal.reason, [], inside, refusal.traceback)
        case _:
            return Verdict(node.title, count, INTERPRETED, refusal.reason or _why(node), traceback=refusal.traceback)


def _count(nodes: Sequence[Node]) -> int:
    return len(nodes) + sum(1 for node in nodes for region in node.regions for _ in walk(region))


def _calls(program: Program) -> list[str]:
    return list(dict.fromkeys(call.node or call.op.name for call in program.calls))


def _why(node: Node) -> str:
    """Why a node without regions is never part of native code."""
    known = NATIVE | {STRING} if can_number_strings(node.op) else NATIVE
    for value in (*node.inputs, *node.outputs):
        if value is not None and not (isinstance(value.type, TensorType) and value.type.dtype in known):
            return f"{value.name!r} is {value.type}"
    if not node.op.can_repeat:
        return f"{node.op.name} gives something else each time"
    if not has_native_form(node):
        return f"{node.op.name} has no native form"
    return "it was left over between others"
