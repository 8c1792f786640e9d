"""The passes in the order in which they run, and the driver that runs them until nothing changes."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Iterable

from whorl.errors import WhorlError
from whorl.ir.constants import Constant
from whorl.ir.dtypes import bits
from whorl.ir.graph import REGISTRY, Module
from whorl.ir.suggestions import suggest
from whorl.ir.verify import verify
from whorl.passes.context import Context, Pass, PassOptions
from whorl.passes.cse import cse
from whorl.passes.dce import dce
from whorl.passes.fold_constants import fold_constants
from whorl.passes.report import PassRun, Report
from whorl.passes.simplify import RULES, simplify
from whorl.passes.simplify_control_flow import EDITS, simplify_control_flow
from whorl.passes.unfold_constants import unfold_constants
from whorl.passes.value_ranges import value_ranges
from whorl.phases import Phase, in_phase

PASSES: tuple[Pass, ...] = (
    fold_constants,  # first, so that the rules see every operand that is a constant
    simplify,  # the algebra, which folds what it makes constant
    dce,  # so that only what is read is gone through, and rules see how often it is read
    value_ranges,  # conditions and counts that ranges decide, for what follows
    simplify_control_flow,  # branches and loops whose operands are constant by now
    cse,  # rules that ask whether two operands are one value then find them
)
MAX_ROUNDS = 100
GARBAGE = 64 << 20
"""Bytes of folded constants from which those of dropped nodes are looked for after each pass."""


def optimize(module: Module, options: PassOptions | None = None, context: Context | None = None) -> Report:
    """Run the passes over a module, in place, until a whole round changes nothing. Errors: WhorlError.

    A context in which the module was read is gone on with; its options then count.
    """
    context = context or Context(module, options or PassOptions())
    context.module = module
    check_names(context.options)
    chosen = [each for each in PASSES if is_chosen(each, context.options)]
    began = time.perf_counter()
    nodes, size = size_of(module)
    context.report.nodes_before += nodes + context.report.edits["fold_constants"]
    context.report.bytes_before += size
    if context.options.verify:
        verify(module)
    quiet = 0
    for position in range(MAX_ROUNDS * len(chosen)):
        if quiet == len(chosen):
            break
        edits = context.edits
        _run(chosen[position % len(chosen)], module, context)
        quiet = quiet + 1 if context.edits == edits else 0
    unfold_constants(module, context)
    context.report.peak_bytes, context.report.spilled_bytes = context.pool.peak, context.pool.spilled
    context.report.seconds += time.perf_counter() - began
    context.report.nodes_after, context.report.bytes_after = size_of(module)
    return context.report


def check_names(options: PassOptions) -> None:
    """Refuse passes to run that do not exist."""
    names = [each.__name__ for each in PASSES]
    for name in options.only:
        if name not in names:
            raise WhorlError(f"there is no pass {name!r}", fix=f"choose from {', '.join(names)}")


def check_disabled(names: Iterable[str]) -> None:
    """Refuse names to disable that no pass, edit of control flow, rule or op has."""
    passes = [each.__name__ for each in PASSES]
    known = {*passes, *EDITS, *(rule.name for rule in RULES), *REGISTRY}
    for name in names:
        if name not in known:
            choices = f"choose from {', '.join([*passes, *EDITS])}, or name a rule or an op"
            what = f"no pass, rule or op is called {name!r}, which --disable, in Python disabled, names"
            raise WhorlError(what, fix=suggest(name, sorted(known)) or choices)


def is_chosen(each: Pass, options: PassOptions) -> bool:
    """Whether the options leave a pass to be run."""
    name = each.__name__
    return name not in options.disabled and (not options.only or name in options.only)


@in_phase(Phase.PASSES)
def _run(each: Pass, module: Module, context: Context) -> None:
    """Run one pass and note what it did."""
    began, edits = time.perf_counter(), context.edits
    each(module, context)
    if context.options.verify:
        verify(module)
    if context.pool.live > GARBAGE:
        gc.collect()  # nodes and their values refer to each other: only the collector frees the arrays of dropped ones
    if context.options.poison:
        context.pool.collect(node.op.value for node in module.nodes() if isinstance(node.op, Constant))
    done = context.edits - edits
    nodes = size_of(module)[0] if done or not context.report.runs else context.report.runs[-1].nodes
    context.report.runs.append(PassRun(each.__name__, done, nodes, round(time.perf_counter() - began, 6)))


def size_of(module: Module) -> tuple[int, int]:
    """The nodes that are no constants, in all regions, and the bytes of the constants."""
    nodes = total = 0
    for node in module.nodes():
        if isinstance(node.op, Constant):
            value = node.op.value
            total += (math.prod(value.shape) * bits(value.dtype) + 7) // 8
        else:
            nodes += 1
    return nodes, total
