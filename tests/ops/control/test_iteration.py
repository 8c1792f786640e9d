"""A running loop: slices, carried values, what ends it, and what is joined."""

import numpy as np
import pytest

from whorl.errors import RunError
from whorl.ir.dims import UNKNOWN
from whorl.ir.types import UNRANKED, TensorType
from whorl.ops.control.flow import Collected, Loop, Scanned
from whorl.ops.control.iteration import Iteration, empty_collected

TRUE, FALSE = np.array(True), np.array(False)


def ran(op, inputs, body, ranks=(0, 0)):
    iteration = Iteration(op, inputs, ranks)
    while (arguments := iteration.next()) is not None:
        iteration.take(body(*arguments))
    return iteration


def failure(op, inputs, body=lambda *arguments: [TRUE]):
    with pytest.raises(RunError) as caught:
        ran(op, inputs, body)
    return str(caught.value)


@pytest.mark.parametrize(("trip", "count"), [(3, 3), (0, 0), (-5, 0)])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_trip_count_of_any_rank_is_the_number_of_iterations(trip, count, shape):
    seen = []
    iteration = ran(Loop(), [np.full(shape, trip), None], lambda i, go: [seen.append((int(i), bool(go))) or FALSE])
    assert iteration.index == count and seen == [(k, True) for k in range(count)]


@pytest.mark.parametrize("ranks", [(0, 0), (1, 0), (1, 1)])
def test_number_and_condition_have_the_ranks_that_the_body_declares(ranks):
    arguments = Iteration(Loop(), [np.array(1), TRUE], ranks).next()
    assert tuple(x.ndim for x in arguments) == ranks and arguments[0].dtype == np.int64


@pytest.mark.parametrize(("start", "count"), [(True, 3), (False, 0)])
def test_condition_ends_a_loop_without_trip_count(start, count):
    assert ran(Loop(), [None, np.array([start])], lambda i, go: [np.array(i < 2)]).index == count


def test_carried_and_last_values_come_from_the_last_iteration():
    body = lambda i, go, a, b, c: [TRUE, b, a + c, i * 10]  # noqa: E731
    iteration = ran(Loop(carried=2, last=1), [np.array(3), None, np.array(1), np.array(2), np.array(5)], body)
    assert [int(x) for x in (*iteration.state, *iteration.last)] == [7, 11, 20]


X = np.arange(12).reshape(3, 4)


@pytest.mark.parametrize(
    ("how", "slices"),
    [
        (Scanned(), [X[0], X[1], X[2]]),
        (Scanned(reverse=True), [X[2], X[1], X[0]]),
        (Scanned(1), [X[:, 0], X[:, 1], X[:, 2], X[:, 3]]),
        (Scanned(-1, True, True, 2), [X[:, 2:], X[:, :2]]),
        (Scanned(0, keep_axis=True), [X[:1], X[1:2], X[2:]]),
    ],
)
def test_slices_are_cut_along_their_axis(how, slices):
    seen = []
    ran(Loop(scanned=(how,)), [None, None, X], lambda i, go, x: [seen.append(x) or TRUE])
    assert [x.tolist() for x in seen] == [x.tolist() for x in slices]


@pytest.mark.parametrize(
    ("how", "result"),
    [
        (Collected(), [[0, 1], [10, 11], [20, 21]]),
        (Collected(reverse=True), [[20, 21], [10, 11], [0, 1]]),
        (Collected(axis=-1), [[0, 10, 20], [1, 11, 21]]),
        (Collected(stack=False), [0, 1, 10, 11, 20, 21]),
        (Collected(stack=False, reverse=True, part=2), [20, 21, 10, 11, 0, 1]),
    ],
)
@pytest.mark.parametrize("elsewhere", [0, 1, 3])
def test_elements_are_concatenated_wherever_they_were_computed(how, result, elsewhere):
    op = Loop(collected=(how,))
    iteration = ran(op, [np.array(3 - elsewhere), None], lambda i, go: [TRUE, np.array([0, 1]) + 10 * i])
    rows = np.array([[0, 1], [10, 11], [20, 21]])[3 - elsewhere :]
    (joint,) = iteration.collected([rows] if elsewhere else ())
    assert joint.tolist() == result


def test_scalars_are_stacked_in_any_case():
    iteration = ran(Loop(collected=(Collected(stack=False),)), [np.array(2), None], lambda i, go: [TRUE, i])
    assert iteration.collected()[0].tolist() == [0, 1]


def test_element_that_is_a_view_does_not_keep_its_array():
    large = np.zeros((100, 2))
    iteration = ran(Loop(collected=(Collected(),)), [np.array(1), None], lambda i, go: [TRUE, large[0]])
    assert iteration.elements[0][0].base is None


ERRORS = {
    "trip_count": (Loop(), [np.array([1, 2]), None], "the trip count has shape [2], expected one element"),
    "condition": (Loop(), [None, np.zeros(0, bool)], "the condition has shape [0], expected one element"),
    "lengths": (
        Loop(scanned=(Scanned(), Scanned())),
        [None, None, X, X.T],
        "the scanned inputs have different lengths: 3, 4\n  fix: scan values of one length",
    ),
    "axis": (Loop(scanned=(Scanned(2),)), [None, None, X], "scanned input 0 has shape [3, 4] and no axis 2"),
    "rest": (
        Loop(scanned=(Scanned(keep_axis=True, part=2),)),
        [None, None, X],
        "each iteration must be the same size: length (3) of axis 0 of scanned input 0 is not divisible by step (2)\n"
        "  fix: pad the value to a multiple of the part",
    ),
    "slices": (
        Loop(scanned=(Scanned(),), slices_suffice=True),
        [np.array(5), None, X],
        "iteration 3 takes a slice of scanned input 0, which has 3\n"
        "  fix: let the trip count or the condition end the loop before its slices do",
    ),
}


@pytest.mark.parametrize(("op", "inputs", "message"), ERRORS.values(), ids=ERRORS)
def test_inputs_that_do_not_fit_are_refused(op, inputs, message):
    assert failure(op, inputs) == message


BODIES = {
    "condition": (Loop(), lambda i, go: [np.array([True, True])], "the body's condition has shape [2], expected one"),
    "shape": (
        Loop(collected=(Collected(),)),
        lambda i, go: [TRUE, np.zeros(int(i) + 1)],
        "collected value 0 is float64[2], float64[1] in the first iteration\n  fix: give elements of one shape",
    ),
    "dtype": (
        Loop(collected=(Collected(),)),
        lambda i, go: [TRUE, np.zeros(1, np.int8 if i else np.uint8)],
        "collected value 0 is int8[1], uint8[1] in the first iteration",
    ),
    "rows": (
        Loop(collected=(Collected(stack=False, part=3),)),
        lambda i, go: [TRUE, np.zeros(2)],
        "collected value 0 has incorrect output shape[axis] after iteration for concatenation. "
        "3 is expected, but actual: 2\n  fix: give elements with 3 rows along axis 0",
    ),
    "axis": (
        Loop(collected=(Collected(axis=4),)),
        lambda i, go: [TRUE, np.zeros(2)],
        "collected elements of shape [2] cannot be joined along axis 4",
    ),
}


@pytest.mark.parametrize(("op", "body", "message"), BODIES.values(), ids=BODIES)
def test_results_that_do_not_fit_are_refused(op, body, message):
    assert failure(op, [np.array(2), None], body).startswith(message)


def test_state_of_a_scan_may_not_change_its_shape():
    grow = lambda i, go, x: [TRUE, np.append(x, 0)]  # noqa: E731
    assert failure(Loop(carried=1, keep_shapes=True), [np.array(1), None, np.zeros(2)], grow) == (
        "state 0 changes shape from [2] to [3], which a Scan may not\n  fix: carry it in a Loop"
    )
    assert ran(Loop(carried=1), [np.array(3), None, np.zeros(2)], grow).state[0].shape == (5,)


@pytest.mark.parametrize(
    ("type", "how", "shape"),
    [
        ((UNKNOWN, 2), Collected(), (0, 2)),
        ((2, UNKNOWN), Collected(axis=1), (2, 0)),
        ((UNKNOWN, UNKNOWN), Collected(), (0, 0)),
        ((UNKNOWN, UNKNOWN), Collected(declared=TensorType(np.dtype(np.int8), (5,))), (0, 5)),
        (UNRANKED, Collected(declared=TensorType(np.dtype(np.int8), (5, 6))), (0, 5, 6)),
        (UNRANKED, Collected(), (0,)),
        ((3, 4), Collected(axis=-1, stack=False), (3, 0)),
    ],
)
@pytest.mark.parametrize("dtype", [np.int8, object])
def test_no_iterations_collect_nothing_of_the_shape_that_is_known(type, how, shape, dtype):
    empty = empty_collected(TensorType(np.dtype(dtype), type), how)
    assert empty.shape == shape and empty.dtype == dtype
