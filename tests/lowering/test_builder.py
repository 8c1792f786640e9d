"""Views and memory while a program is written: what is computed where it is read, and what is result."""

import numpy as np
import pytest

from whorl.ir import dims
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import Buffer, Load, Var, text
from whorl.ir.types import TensorType
from whorl.kernel.interpret import interpret
from whorl.kernel.program import Program, RunOp, Take, text_of
from whorl.lowering.builder import MATERIALIZE_COST, REREAD_COST, KernelBuilder
from whorl.lowering.statements import LENGTHS
from whorl.ops.elementwise.arithmetic import Add, Neg

N, M = dims.name("N"), dims.name("M")


def buffer(*shape: int, name: str = "b") -> Buffer:
    return Buffer(name, FLOAT32, shape)


def computed(k: KernelBuilder, source: Buffer, cost: int = 1):
    """A tensor that is the double of what lies in memory."""
    x = k.view_of(source)
    return k.view(FLOAT32, x.shape, lambda index: k.add(x.at(index), x.at(index)), cost)


@pytest.mark.parametrize(
    ("cost", "shape", "stores", "scratch"),
    [(MATERIALIZE_COST, (4,), 0, 0), (MATERIALIZE_COST + 1, (4,), 1, 1), (0, (1, 1), 1, 0), (99, (0,), 0, 0)],
)
def test_costly_tensor_is_stored_and_a_single_element_is_a_register(cost, shape, stores, scratch):
    k = KernelBuilder()
    result = k.materialise_costly(computed(k, buffer(*shape), cost))
    assert (len(k.block), len(k.scratch)) == (stores, scratch)
    assert (result.buffer is not None) is bool(scratch) and result.shape == shape


@pytest.mark.parametrize(("cost", "scratch"), [(REREAD_COST, 0), (REREAD_COST + 1, 1)])
def test_tensor_that_is_read_often_is_stored_sooner(cost, scratch):
    k = KernelBuilder()
    k.materialise_reread(computed(k, buffer(4), cost))
    assert len(k.scratch) == scratch


def test_tensor_in_memory_is_not_copied():
    k, b = KernelBuilder(), buffer(4)
    x = k.view_of(b)
    assert k.materialise(x) is x and k.materialise_costly(x) is x and not k.block
    assert k.copy(x).buffer is not b and len(k.block) == 1


def run_sum(shape_x: tuple, shape_y: tuple, shape: tuple) -> tuple[np.ndarray, str]:
    k = KernelBuilder()
    x, y, out = buffer(*shape_x, name="x"), buffer(*shape_y, name="y"), buffer(*shape, name="out")
    (view,) = k.elementwise(Add().scalar, [k.view_of(x), k.view_of(y)], TensorType(FLOAT32, shape)) or ()
    k.fill(out, view)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s).astype(np.float32) for s in (shape_x, shape_y, shape)]
    outcome = interpret(Program([], [x, y, out], k.scratch, k.block), [], arrays)
    np.testing.assert_array_equal(outcome.arrays[2], arrays[0] + arrays[1])
    return outcome.arrays[2], text_of(k.block)


@pytest.mark.parametrize(
    ("x", "y", "shape"),
    [
        ((), (), ()),
        ((3,), (), (3,)),
        ((1,), (3,), (3,)),
        ((2, 1), (1, 3), (2, 3)),
        ((3,), (2, 3), (2, 3)),
        ((0, 3), (1,), (0, 3)),
        ((1, 1), (1,), (1, 1)),
    ],
)
def test_operands_broadcast(x, y, shape):
    run_sum(x, y, shape)


def test_elementwise_result_is_flat_where_all_operands_are():
    k = KernelBuilder()
    x, y = k.view_of(buffer(2, 3)), k.view_of(buffer(2, 3))
    row, one = k.view_of(buffer(3)), k.view_of(buffer(1))
    result = [k.elementwise(Add().scalar, pair, TensorType(FLOAT32, (2, 3))) for pair in ([x, y], [x, one], [x, row])]
    assert [(views or [None])[0].flat is not None for views in result] == [True, True, False]  # type: ignore[union-attr]
    assert (result[0] or [])[0].cost == 3 and k.elementwise(lambda k, x: None, [x], TensorType(FLOAT32, (2, 3))) is None


def test_lengths_that_are_not_proved_to_agree_are_checked():
    k = KernelBuilder()
    k.dims |= {"N": Var(INT64, "n", False), "M": Var(INT64, "m", False)}
    views = [k.view(FLOAT32, (d,), lambda index: k.const(1.0, FLOAT32), 1) for d in (N, M)]
    k.elementwise(Add().scalar, views, TensorType(FLOAT32, (N,)))
    program = Program([Var(INT64, "n", False), Var(INT64, "m", False)], [], [], k.block)
    program.scalars[:] = [k.dims["N"], k.dims["M"]]  # type: ignore[list-item]
    assert [interpret(program, [3, m], []).status for m in (3, 4)] == [0, 1]


def test_first_of_the_elements_that_follow_each_other_is_their_address():
    k, b, i = KernelBuilder(), buffer(4, 5), Var(INT64, "i")
    whole, row = k.view_of(b), k.view_of(b, (5,), (i,))
    assert [text(x) for x in (k.contiguous(whole) or ("", ()))[1]] == ["0", "0"]
    assert [text(x) for x in (k.contiguous(row) or ("", ()))[1]] == ["i", "0"]
    shifted = k.view(FLOAT32, (3,), lambda n: k.load(b, (i, k.add(i, n[0]))), 1, lambda n: k.load(b, (i, k.add(i, n))))
    assert [text(x) for x in (k.contiguous(shifted) or ("", ()))[1]] == ["i", "i"]
    assert k.contiguous(computed(k, b)) is None and not k.block
    copy, index = k.address(computed(k, b))
    assert copy in k.scratch and len(index) == 2 and len(k.block) == 1


def test_tensor_is_written_over_its_own_memory_or_a_copy():
    k, b = KernelBuilder(), buffer(4)
    view = k.view_of(b)
    copy = k.writable(view)
    assert copy is not b and copy in k.may_reuse and k.memory_of(copy) is copy
    k.may_reuse.add(b)
    taken = k.writable(view)
    assert isinstance(k.block[-1], Take) and k.memory_of(taken) is b and taken.shape == b.shape


def test_memory_of_a_loop_is_made_again_and_not_reused():
    k, body = KernelBuilder(), []
    with k.repeating(body):
        assert k.overwritable(k.view_of(k.reusable(FLOAT32, (4,)))) is None and not body
    first = k.reusable(FLOAT32, (4,))
    taken = k.overwritable(k.view_of(first))
    assert taken is not None and k.memory_of(taken) is first


def test_memory_under_two_names_is_of_neither_value():
    k, b = KernelBuilder(), buffer(4)
    view = k.view_of(b)
    k.owners[b] = "x"
    assert k.owned_by("x", view) is b and k.owned_by("y", view) is None
    k.own("y", view, set())
    assert k.owned_by("x", view) is None and k.owned_by("y", view) is None
    k.own("z", view, {b})
    assert k.owned_by("z", view) is b


def test_buffers_that_an_element_reads_are_seen_through_statements():
    k, a, b = KernelBuilder(), buffer(4, name="a"), buffer(4, name="b")
    total = k.view(FLOAT32, (4,), lambda index: k.add(k.load(a, index), k.let(k.load(b, index))), 1)
    assert k.read_by(total) == {a, b} and k.reads(total, a) and not k.block
    k.from_caller.add(b)
    assert k.may_change(total) and not k.may_change(k.view_of(a))


def test_what_is_shared_is_written_once_for_each_block():
    k, count = KernelBuilder(), []
    write = lambda: count.append(1) or len(count)  # noqa: E731
    assert k.share("key", write) == 1 and k.share("key", write) == 1 and k.share("other", write) == 2
    with k.into([]):
        assert k.share("key", write) == 3


def test_constant_lies_in_memory_of_its_own():
    k = KernelBuilder()
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    view = k.constant(array, TensorType(FLOAT32, (3, 2)))
    assert view.buffer is not None and k.constants[view.buffer].flags.c_contiguous
    assert k.constants[view.buffer].tolist() == array.tolist() and view.buffer in k.fixed


def test_op_without_a_form_takes_whole_buffers():
    k = KernelBuilder()
    x = k.view_of(buffer(4))
    (result,) = k.run_op(Neg(), [x], [TensorType(FLOAT32, (4,))])
    call = k.block[-1]
    assert isinstance(call, RunOp) and k.calls == [call] and k.may_fail
    assert call.inputs[0] in k.scratch and result.buffer is call.outputs[0]
    again = k.run_op(Neg(), [result, None], [TensorType(FLOAT32, (4,))])
    assert k.calls[1].inputs == [result.buffer, None] and again[0].buffer is not result.buffer


def test_lengths_of_a_result_are_named_once_and_then_checked():
    k = KernelBuilder()
    first, second = k.new_length(k.const(3)), k.new_length(k.const(4))
    type = TensorType(FLOAT32, (N,))
    one = k.name_lengths(type, k.view(FLOAT32, (first,), lambda index: k.const(0.0, FLOAT32), 1))
    assert one.shape == (N,) and interpret(Program([], [], [], k.block), [], []).status == 0
    k.name_lengths(type, k.view(FLOAT32, (second,), lambda index: k.const(0.0, FLOAT32), 1))
    assert interpret(Program([], [], [], k.block), [], []).status != 0 and LENGTHS in repr(k.block)


def test_element_fails_as_an_element_of_its_node():
    k = KernelBuilder()

    def risky(index):
        k.fail_unless(k.compare("lt", index[0], k.const(2)), "too far")
        return k.const(1.0, FLOAT32)

    view = k.failing_as("Gather 'g'", k.view(FLOAT32, (4,), risky, 2))
    with k.failing_at("Add 'a'", ()):
        view.at((Var(INT64, "i"),))
    assert "node=\"Gather 'g'\"" in repr(k.block) and "Add 'a'" not in repr(k.block)
    in_memory = k.view_of(buffer(3))
    assert k.failing_as("x", in_memory) is in_memory and isinstance(in_memory.at((k.const(0),)), Load)
