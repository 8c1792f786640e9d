"""The passes in the order in which they run, and the driver that runs them until nothing changes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from whorl.errors import WhorlError
from whorl.ir.constants import Constant
from whorl.ir.dtypes import bits
from whorl.ir.graph import Module
from whorl.ir.verify import verify
from whorl.passes.context import Context, PassOptions
from whorl.passes.control_flow import simplify_control_flow
from whorl.passes.fold_constants import fold_constants
from whorl.passes.merge_equal import merge_equal
from whorl.passes.remove_dead import remove_dead
from whorl.passes.report import PassRun, Report
from whorl.passes.simplify import simplify

Pass = Callable[[Module, Context], None]

PASSES: tuple[Pass, ...] = (
    fold_constants,  # first, so that the rules see every operand that is a constant
    simplify,  # the algebra, which folds what it makes constant
    simplify_control_flow,  # branches and loops whose operands are constant by now
    remove_dead,  # so that only what is read is compared, and rules see how often it is read
    merge_equal,  # rules that ask whether two operands are one value then find them
)
MAX_ROUNDS = 20


def optimize(module: Module, options: PassOptions | None = None, report: Report | None = None) -> Report:
    """Run the passes over a module, in place, until a whole round changes nothing. Errors: WhorlError.

    A report that was begun before, while the module was read, is gone on with.
    """
    context = Context(module, options or PassOptions(), report or Report())
    chosen = _chosen(context.options)
    began = time.perf_counter()
    if not context.report.nodes_before:
        context.report.nodes_before, context.report.bytes_before = size_of(module)
    if context.options.verify:
        verify(module)
    quiet = 0
    for position in range(MAX_ROUNDS * len(chosen)):
        if quiet == len(chosen):
            break
        edits = context.edits
        _run(chosen[position % len(chosen)], module, context)
        quiet = quiet + 1 if context.edits == edits else 1
    context.report.peak_bytes, context.report.spilled_bytes = context.pool.peak, context.pool.spilled
    context.report.seconds += time.perf_counter() - began
    context.report.nodes_after, context.report.bytes_after = size_of(module)
    return context.report


def _chosen(options: PassOptions) -> list[Pass]:
    names = [each.__name__ for each in PASSES]
    for name in options.only:
        if name not in names:
            raise WhorlError(f"there is no pass {name!r}", fix=f"choose from {', '.join(names)}")
    wanted = options.only or names
    return [each for each in PASSES if each.__name__ in wanted and each.__name__ not in options.disabled]


def _run(each: Pass, module: Module, context: Context) -> None:
    """Run one pass and note what it did."""
    began, edits = time.perf_counter(), context.edits
    each(module, context)
    if context.options.verify:
        verify(module)
    if context.options.poison:
        context.pool.collect(node.op.value for node in module.nodes() if isinstance(node.op, Constant))
    nodes = size_of(module)[0]
    context.report.runs.append(
        PassRun(each.__name__, context.edits - edits, nodes, round(time.perf_counter() - began, 6))
    )


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
