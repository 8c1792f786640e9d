"""The preheader of a native loop: loop-invariant nodes, and products of all slices of a scanned value at once."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from whorl.codegen.emit import emit
from whorl.codegen.target import MachineCode
from whorl.debug import poison
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Node, Region, Value, as_values
from whorl.ir.native.expressions import Buffer, Expr, Var, index_const
from whorl.kernel.polls import insert_polls
from whorl.kernel.program import Call, For, Program
from whorl.kernels.aligned import aligned_empty
from whorl.kernels.product.layout import packed_shape
from whorl.lowering.layout import prepare
from whorl.lowering.native_types import sizes
from whorl.lowering.products import Hoisted, hoist_products, slice_captured
from whorl.ops.control.flow import Loop, Scanned
from whorl.ops.core.work import Effort
from whorl.passes.licm import invariant_nodes
from whorl.runtime.compiled.context import RunContext
from whorl.runtime.compiled.memory import address
from whorl.runtime.limits import Budget

_BLOCK, _MOST_ROWS = 24, 144
"""Rows that are multiplied together: the first, unless a divisor of their count up to the second is as good."""
_TILE = 12
"""Rows that keep the registers of the widest machines busy."""
_Entry = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


class LoopPreheader(Struct):
    """Loop-invariant nodes of a body: they run once before the loop, which captures their results.

    `sliced` are positions of captured values that the loop scans, `hoisted` products that it scans after these.
    `constants` are captured values that are the same in every run, and results that follow from them alone: these are
    computed in the first run only.
    """

    nodes: list[Node]
    captured: list[Value]
    results: list[Value]
    sliced: list[int]
    hoisted: list[Hoisted]
    constants: dict[Value, np.ndarray] = field(default_factory=dict[Value, np.ndarray])
    efforts: dict[Node, Effort] = field(default_factory=dict[Node, Effort])

    def run(
        self,
        rows: Sequence[np.ndarray],
        captured: Sequence[np.ndarray],
        bound: int | None,
        memory: Workspace,
        budget: Budget,
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The rows that the loop scans, and what it captures besides the captured values."""
        env: dict[Value, np.ndarray] = dict(zip(self.captured, captured, strict=True)) | self.constants
        for node in self.nodes:
            if node.outputs[0] in env:
                continue
            budget.check()
            if node not in self.efforts:
                self.efforts[node] = Effort(node.op, [v.type for v in node.outputs])
            inputs = [None if v is None else env[v] for v in node.inputs]
            values = as_values(self.efforts[node].run(node.op.run, inputs, budget.check))
            env.update(zip(node.outputs, values, strict=False))
            if all(v is None or v in self.constants for v in node.inputs):
                self.constants.update(zip(node.outputs, values, strict=False))
        scanned = [*rows, *(captured[n] for n in self.sliced)]
        products = [
            _rows_product(h, scanned[h.rows][:bound], env[h.panels], memory, n, budget)
            for n, h in enumerate(self.hoisted)
        ]
        return [*scanned, *products], [env[value] for value in self.results]


class Workspace:
    """Memory of one run that the next one uses again: fresh memory costs more than many a short loop."""

    def __init__(self) -> None:
        self.arrays: dict[Hashable, np.ndarray] = {}

    def array(self, key: Hashable, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        """An array without contents, the same at the next run if it asks for the same."""
        array = self.arrays.get(key)
        if array is None or array.shape != tuple(shape) or array.dtype != dtype:
            array = self.arrays[key] = aligned_empty(shape, dtype)
        return poison(array)

    @property
    def size(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())


def hoist_to_preheader(
    body: Region, loop: Node, length: int | None, constants: Mapping[int, np.ndarray]
) -> LoopPreheader:
    """Move what is loop-invariant out of a body; the loop then scans and captures the results.

    `length` is a bound of the iterations that will most likely be reached. `constants` are the captured values, by
    position, that are the same in every run.
    """
    op = loop.op
    assert isinstance(op, Loop)
    _, _, _, slices, captured = op.split(body.arguments)
    sliced: list[tuple[int, Value]] = []
    hoisted: list[Hoisted] = []
    prepare(body, captured)
    if length is not None:
        sliced = slice_captured(body, captured, length)
        hoisted = hoist_products(body, [*slices, *(value for _, value in sliced)], captured, length)
    scanned = [*(value for _, value in sliced), *(h.output for h in hoisted)]
    used = body.used_values()
    position = len(body.arguments) - len(captured)
    for value in scanned:
        argument = Value(value.name, value.type, body, 0)
        body.arguments.insert(position, argument)
        position += 1
        if value in used:
            body.replace_uses({value: argument})
    body.set_arguments(body.arguments)
    loop.op = replace(op, scanned=(*op.scanned, *(Scanned() for _ in scanned)))
    nodes, results = _move_invariants(body, captured)
    known = {captured[n]: array for n, array in constants.items()}
    return LoopPreheader(nodes, list(captured), results, [n for n, _ in sliced], hoisted, known)


def _move_invariants(body: Region, captured: list[Value]) -> tuple[list[Node], list[Value]]:
    """Remove the nodes that compute the same in every iteration; the body then captures what it reads of them."""
    moved, _ = invariant_nodes(body, captured, lambda node: node.op.pure and not node.regions)
    hoisted = set(moved)
    body.nodes = [node for node in body.nodes if node not in hoisted]
    used = body.used_values()
    results = [value for node in moved for value in node.outputs if value in used]
    body.replace_uses({value: body.add_argument(value.name, value.type, value.known) for value in results})
    return moved, results


# ---- products of all slices ----------------------------------------------------------------------------------


def _rows_product(
    hoisted: Hoisted, rows: np.ndarray, panels: np.ndarray, memory: Workspace, number: int, budget: Budget
) -> np.ndarray:
    """Each slice times the matrix, stacked as the loop scans them."""
    shape, inner, columns = sizes(hoisted.output.type), hoisted.inner, hoisted.columns
    count = len(rows) * math.prod(shape[:-1])
    block = _block_rows(count)
    blocks = -(-count // block)
    left = np.ascontiguousarray(rows).reshape(count, inner)
    if blocks * block > count:
        left = memory.array(("left", number), (blocks * block, inner), rows.dtype)
        left[:count] = rows.reshape(count, inner)
        left[count:] = 0
    result = memory.array(("product", number), (blocks * block, columns), rows.dtype)
    arrays = (result, left, panels)
    context = RunContext()
    context.set_check(budget.check)
    cells = np.array([blocks, *map(address, arrays), context.address], np.int64)
    _, multiply = _multiplier(rows.dtype, block, inner, columns, panels.shape[2])
    if multiply(address(cells)):
        context.raise_error()
    return result[:count].reshape(len(rows), *shape)


def _block_rows(count: int) -> int:
    """How many rows to multiply together: a divisor of the count, if one makes tiles that are nearly full."""
    divisors = [n for n in range(_TILE, _MOST_ROWS + 1) if count % n == 0]
    best = max(reversed(divisors), key=_fullness, default=_BLOCK)
    return best if count % best == 0 and _fullness(best) >= count / (-(-count // _BLOCK) * _BLOCK) else _BLOCK


def _fullness(rows: int) -> float:
    return rows / (-(-rows // _TILE) * _TILE)


@functools.lru_cache(maxsize=64)
def _multiplier(
    dtype: np.dtype, rows: int, inner: int, columns: int, width: int
) -> tuple[MachineCode, Callable[[int], int]]:
    """Code that multiplies any number of blocks of rows by a matrix in panels, and its entry."""
    count, block = Var(INT64, "count", False), Var(INT64, "block", False)
    result, left = Buffer("result", dtype, (None, rows, columns)), Buffer("left", dtype, (None, rows, inner))
    panels = Buffer("panels", dtype, packed_shape(inner, columns, width))
    zero = index_const(0)
    operands: list[tuple[Buffer, tuple[Expr, ...]]] = [
        (result, (block, zero, zero)),
        (left, (block, zero, zero)),
        (panels, (zero, zero, zero)),
    ]
    call = Call("packed_matmul", operands, (rows, inner, columns, width))
    program = Program([count], [result, left, panels], [], [For(block, count, [call])])
    insert_polls(program)
    code = MachineCode(emit(program), "whorl_run")
    return code, _Entry(code.address)
