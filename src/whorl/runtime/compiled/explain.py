"""What native code did in the runs of a plan, and why it did not do the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from whorl.ir.graph import Node, Op, walk
from whorl.ir.types import TensorType
from whorl.kernel.program import Program
from whorl.lowering.storage import NATIVE
from whorl.runtime.compiled.launch import Launch
from whorl.runtime.compiled.loop import CompiledLoop
from whorl.runtime.compiled.partition import Part, Stretch
from whorl.runtime.compiled.refusals import Refusal
from whorl.runtime.interpreter.plan import BranchKernel, LoopKernel, Plan
from whorl.runtime.interpreter.step import Step

NO_REASON = Refusal("")
NATIVELY, INTERPRETED, UNKNOWN = "native", "interpreted", "not reached"


@dataclass(frozen=True)
class Verdict:
    """How nodes ran that follow each other. `calls` are those among them, or inside, that native code leaves to NumPy.

    `inside` tells of the bodies and branches of an interpreted node. `traceback` is that of a fault of whorl's own.
    """

    title: str
    nodes: int
    how: str
    reason: str = ""
    calls: list[str] = field(default_factory=list)
    inside: list[Verdict] = field(default_factory=list)
    traceback: str = ""


def explain(plan: Plan) -> list[Verdict]:
    """Verdicts on all nodes of a plan, in order."""
    return _of_parts(plan.parts, {})


def _of_parts(parts: Sequence[Part], reasons: dict[Node, Refusal]) -> list[Verdict]:
    found: list[Verdict] = []
    for part in parts:
        if isinstance(part, Stretch):
            found += _of_stretch(part, reasons)
        else:
            found += [_of_step(step, reasons) for step in part]
    return found


def _of_stretch(stretch: Stretch, reasons: dict[Node, Refusal]) -> list[Verdict]:
    attempts = list(stretch.segment.found.values())
    if stretch.parts:
        refused = [a for a in attempts if isinstance(a, Refusal) and a.position is not None]
        own = {stretch.steps[a.position].node: a for a in refused if a.position is not None}
        return _of_parts(stretch.parts, reasons | own)
    nodes = [step.node for step in stretch.steps]
    launch = next((a for a in attempts if isinstance(a, Launch)), None)
    if launch is not None:
        return [Verdict(stretch.title, _count(nodes), NATIVELY, "", _calls(launch.graph.program))]
    if len(nodes) == 1 and nodes[0].regions:
        return [_of_step(stretch.steps[0], reasons)]
    refusal = next((a for a in attempts if isinstance(a, Refusal)), _not_yet(stretch))
    how = INTERPRETED if refusal.reason else UNKNOWN
    inside = [v for step in stretch.steps if step.node.regions for v in _of_parts([[step]], reasons)]
    return [Verdict(stretch.title, _count(nodes), how, refusal.reason, [], inside, refusal.traceback)]


def _not_yet(stretch: Stretch) -> Refusal:
    """Why nobody has tried to compile a stretch, if it ran."""
    if stretch.segment.is_late:
        return Refusal("runs have compiled as much as one may so far, the next one goes on")
    return Refusal("it ran too seldom to be worth compiling") if stretch.segment.seen else NO_REASON


def _of_step(step: Step, reasons: dict[Node, Refusal]) -> Verdict:
    node, count = step.node, _count([step.node])
    match step.kernel:
        case LoopKernel(native=native, plan=plan):
            attempts = list(native.forms.programs)
            compiled = next((a for a in attempts if isinstance(a, CompiledLoop)), None)
            if compiled is not None:
                return Verdict(node.title, count, NATIVELY, "", _calls(compiled.program.program))
            refusal = next((a for a in attempts if isinstance(a, Refusal)), None)
            if refusal is None:
                return Verdict(node.title, count, UNKNOWN)
            return Verdict(node.title, count, INTERPRETED, refusal.reason, [], explain(plan), refusal.traceback)
        case BranchKernel(plans=plans):
            inside = [verdict for plan in plans for verdict in explain(plan)]
            refusal = reasons.get(node, NO_REASON)
            return Verdict(node.title, count, INTERPRETED, refusal.reason, [], inside, refusal.traceback)
    refusal = reasons.get(node, NO_REASON)
    return Verdict(node.title, count, INTERPRETED, refusal.reason or _why(node), traceback=refusal.traceback)


def _count(nodes: Sequence[Node]) -> int:
    return len(nodes) + sum(1 for node in nodes for region in node.regions for _ in walk(region))


def _calls(program: Program) -> list[str]:
    return list(dict.fromkeys(call.node or call.op.name for call in program.calls))


def _why(node: Node) -> str:
    """Why a node without regions is never part of native code."""
    for value in (*node.inputs, *node.outputs):
        if value is not None and not (isinstance(value.type, TensorType) and value.type.dtype in NATIVE):
            return f"{value.name!r} is {value.type}"
    if not node.op.pure:
        return f"{node.op.name} gives something else each time"
    kind = type(node.op)
    if kind.lower is Op.lower and kind.decompose is Op.decompose:
        return f"{node.op.name} has no native form"
    return "it was left over between others"
