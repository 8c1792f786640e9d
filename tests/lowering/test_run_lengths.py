"""Lengths that follow from those of a run's inputs: forms over names, which are scalars of the program."""

from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.native.expressions import Const, Var
from whorl.ir.native.view import View
from whorl.lowering.run_lengths import RunLengths

N, M = dims.name("n"), dims.name("m")


def builder() -> RunLengths:
    k = RunLengths()
    k.take_names({"n": Var(INT64, "n", False)})
    return k


def test_lengths_over_names_of_the_run_follow_from_them():
    k = builder()
    assert k.in_run(7) == 7
    assert k.in_run(2 * N + 1) == 2 * N + 1
    assert k.in_run(N + M) is None
    assert k.in_run(UNKNOWN) is None
    assert k.shape_in_run((N, 4)) == (N, 4)
    assert k.shape_in_run((N, M)) is None


def test_name_that_equals_a_form_follows_as_well():
    k = builder()
    k.equate(M, N + 1)
    assert k.in_run(2 * M) == 2 * N + 2
    k.equate(dims.name("q"), dims.name("nobody knows"))
    assert k.in_run(dims.name("q")) is None


def test_form_is_one_scalar_however_often_it_is_read():
    k = builder()
    first = k.length(N + 1)
    assert isinstance(first, Var) and k.length(N + 1) is first
    assert list(k.forms) == [N + 1]
    assert k.length(N) is k.dims["n"]
    assert isinstance(k.length(3), Const)
    assert not k.block


def test_memory_has_its_shape_before_the_run():
    k = builder()
    buffer = k.memory("a", FLOAT32, (N, 4))
    assert not buffer.grows
    assert k.shapes[buffer] == (N, 4)
    assert buffer.shape == (k.length(N), 4)


def test_length_is_positive_where_the_names_are_at_least_two():
    k = builder()
    assert k.is_positive(N) and k.is_positive(N - 1) and k.is_positive(3 * N - 5)
    assert not k.is_positive(N - 2)
    assert not k.is_positive(M)
    assert not k.is_positive(0)
    assert k.positive == [N, N - 1, 3 * N - 5]


def test_lengths_of_the_run_that_must_agree_are_remembered():
    k = builder()
    k.require_agreement(N, 5)
    k.require_agreement(N, N + 1)
    assert k.agreeing == [(N, 5), (N, N + 1)]
    assert len(k.block) == 2


def test_axis_of_one_element_at_most_broadcasts_beside_longer_ones():
    k = builder()
    head = dims.call("min", 1, M)
    k.dims["m"] = Var(INT64, "m", False)

    def view(*shape: dims.Dim) -> View:
        return View(FLOAT32, shape, lambda index: k.const(0))

    wide, narrow = k.narrow([view(3, M), view(head)])
    assert (wide.shape, narrow.shape) == ((3, M), (1,))
    assert len(k.block) == 1
    assert [v.shape for v in k.narrow([view(head), view(1), view(3, head)])] == [(head,), (1,), (3, head)]
    assert len(k.block) == 1
