"""Storage of carried values: registers, two buffers, memory that grows, and assignment of all at once."""

import numpy as np
import pytest

from whorl.ir import dims
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.graph import Region, Value
from whorl.ir.native.expressions import Buffer, Expr, Var, text
from whorl.ir.types import SequenceType, TensorType
from whorl.kernel.interpret import interpret
from whorl.kernel.program import Program, text_of
from whorl.lowering.builder import KernelBuilder
from whorl.lowering.expressions import Unsupported
from whorl.lowering.storage import (
    carried_view,
    commit_iteration,
    first_element,
    growable_buffers,
    growable_scratch,
    memory_shape,
    memory_type,
    require_lengths,
    require_same_shapes,
    snapshot,
)

N, M = dims.name("N"), dims.name("M")


def value(type) -> Value:
    return Value("x", type, Region(), 0)


def test_sequence_of_equal_tensors_lies_as_their_rows():
    k = KernelBuilder()
    x = value(SequenceType(TensorType(FLOAT32, (2, 3))))
    type = memory_type(x, k)
    assert str(type).endswith("2, 3]") and type.rank == 3 and memory_type(x, k) == type


@pytest.mark.parametrize("type", [SequenceType(TensorType(FLOAT32, (N,))), TensorType(np.dtype(object), ())])
def test_value_that_lies_nowhere_in_memory_is_refused(type):
    with pytest.raises(Unsupported, match="'x'"):
        memory_type(value(type), KernelBuilder(), "carried value ")


@pytest.mark.parametrize(
    ("shape", "addressed"),
    [((2, 3), "2, 3"), ((N, 3), "None, 3"), ((1, N, 3), "1, None, 3"), ((2, N), "2, n"), ((1, 1), "1, 1")],
)
def test_first_length_that_is_not_one_takes_no_part_in_addresses(shape, addressed):
    k, n = KernelBuilder(), Var(INT64, "n", False)
    registers = {axis: n for axis, d in enumerate(shape) if not isinstance(d, int)}
    lengths = memory_shape(k, shape, registers)
    assert ", ".join(text(d) if isinstance(d, Expr) else str(d) for d in lengths) == addressed


def test_lengths_that_are_known_already_are_addresses_of_the_run():
    k, m = KernelBuilder(), Var(INT64, "m", False)
    k.dims["M"] = m
    lengths = memory_shape(k, (2, M + 1), {})
    assert lengths[0] == 2 and isinstance(lengths[1], Expr) and text(lengths[1]) == "add(m, 1)"


def test_memory_that_grows_has_a_register_for_each_length_of_its_own():
    k = KernelBuilder()
    k.dims["M"] = Var(INT64, "m", False)
    storage = growable_buffers(k, "x", TensorType(FLOAT32, (N, M, 2)))
    assert list(storage.lengths) == [0] and k.length(N) is storage.lengths[0]
    assert storage.now.grows and storage.now.name == "x.now" and storage.next.name == "x.next"
    assert storage.lengths[0] is not storage.lengths_after[0]


@pytest.mark.parametrize("shape", [(N, N), (N + 1, 2), (dims.UNKNOWN, 2)])
def test_lengths_that_depend_on_each_other_are_refused(shape):
    k = KernelBuilder()
    with pytest.raises(Unsupported):
        growable_buffers(k, "x", TensorType(FLOAT32, shape))


def test_scratch_that_grows_is_memory_of_the_program():
    k = KernelBuilder()
    storage = growable_scratch(k, TensorType(FLOAT32, (N,)))
    assert k.scratch == [storage.now, storage.next]


def test_snapshot_of_a_register_that_changes_is_a_copy():
    k = KernelBuilder()
    changing, fixed = Var(INT64, "c", False), Var(INT64, "f")
    copy = snapshot(changing, k)
    assert copy is not changing and text_of(k.block) == f"{text(copy)} = c"
    assert snapshot(fixed, k) is fixed and snapshot(k.const(3), k) is k.const(3)


def test_states_are_assigned_at_once():
    """a, b, x, y = b, a + b, y, x + a: what a result reads is what was there before."""
    k = KernelBuilder()
    a, b = Var(INT64, "a", False), Var(INT64, "b", False)
    x, x2, y, y2 = (Buffer(name, INT64, (2,)) for name in ("x", "x2", "y", "y2"))
    storages = [a, b, (x, x2), (y, y2)]
    tensor = TensorType(INT64, (2,))
    one, other = carried_view((x, x2), tensor, k), carried_view((y, y2), tensor, k)
    total = k.view(INT64, (2,), lambda index: k.add(one.at(index), a), 1)
    results = [k.scalar(b), k.scalar(k.add(a, b)), other, total]
    commit_iteration(results, storages, [], k)
    program = Program([a, b], [x, x2, y, y2], k.scratch, k.block)
    arrays = [np.array(values) for values in ([1, 2], [0, 0], [30, 40], [0, 0])]
    outcome = interpret(program, [5, 7], arrays)
    assert outcome.scalars == [7, 12]
    assert outcome.arrays[0].tolist() == [30, 40] and outcome.arrays[2].tolist() == [6, 7]


def test_state_that_remains_where_it_is_needs_no_statement():
    k = KernelBuilder()
    x, x2 = Buffer("x", INT64, (2,)), Buffer("x2", INT64, (2,))
    commit_iteration([carried_view((x, x2), TensorType(INT64, (2,)), k)], [(x, x2)], [], k)
    assert not k.block


def test_tensors_of_one_shape_are_computed_in_one_nest():
    k = KernelBuilder()
    pairs = [
        tuple(Buffer(f"{name}{n}", FLOAT32, shape) for n in "01")
        for name, shape in zip("xyz", [(3,), (3,), (4,)], strict=True)
    ]
    views = [k.view(FLOAT32, first.shape, lambda index: k.const(1.0, FLOAT32), 1) for first, _ in pairs]  # type: ignore[arg-type]
    commit_iteration(views, pairs, [], k)  # type: ignore[arg-type]
    assert text_of(k.block).count("for ") == 2 and text_of(k.block).count("swap") == 3


@pytest.mark.parametrize(("lengths", "fails"), [((N, 1), [False, True]), ((1, 1), [])])
def test_one_element_is_checked_where_only_the_run_knows(lengths, fails):
    k, n = KernelBuilder(), Var(INT64, "n", False)
    k.dims["N"] = n
    first_element(k.view(FLOAT32, lengths, lambda index: k.const(1.0, FLOAT32), 1), k)
    assert k.may_fail is bool(fails)
    outcome = [interpret(Program([n], [], [], k.block), [number], []).status != 0 for number in (1, 2)][: len(fails)]
    assert outcome == fails


def test_shapes_that_are_not_the_same_are_refused():
    k = KernelBuilder()
    for lengths, message in (((2, 3), "a value changes its rank"), ((3,), "a value changes its shape")):
        with pytest.raises(Unsupported, match=message):
            require_lengths(lengths, (2,), k)
    require_lengths((2,), (2,), k)
    assert not k.block
    k.dims["N"] = Var(INT64, "n", False)
    require_lengths((N,), (2,), k)
    assert k.may_fail


def test_state_whose_length_may_change_is_not_checked():
    k = KernelBuilder()
    type = TensorType(FLOAT32, (N, 2))
    storage = growable_buffers(k, "x", type)
    longer = k.view(FLOAT32, (N + 1, 2), lambda index: k.const(1.0, FLOAT32), 1)
    require_same_shapes([longer], [type], [storage], 0, k)
    assert not k.may_fail
    require_same_shapes([longer], [type], [storage], 1, k)
    assert k.may_fail
