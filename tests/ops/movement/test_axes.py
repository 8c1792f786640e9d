"""Transpose, Concat, Split, Slice, Tile, blocks of pixels, ReverseSequence."""

from itertools import product

import numpy as np
import pytest
from evaluation import listed, shaped
from named_dims import FLOAT32, INT64, M, N, check_has, known_of, scalar, shape_of
from single_node import feeds, onnxruntime_run, single_node

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.types import UNRANKED, Known, TensorType
from whorl.ops.movement.axes import Concat, ReverseSequence, Slice, Split, Tile, Transpose

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
UNRANKED_X = Known(TensorType(FLOAT32, UNRANKED))
LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def ints(*numbers):
    return np.array(numbers, np.int64)


def shapes_of(op, *facts):
    return [tuple(None if d is UNKNOWN else d for d in t.shape) for t in op.infer(*facts)]


# ---- Transpose -----------------------------------------------------------------------------------------------------


def test_transpose_permutes_or_reverses():
    assert Transpose().run(X).shape == (4, 3, 2)
    assert Transpose((1, 2, 0)).run(X).shape == (3, 4, 2)
    assert shape_of(Transpose((1, 2, 0)), shaped(N, 3, M)) == (3, M, N)
    assert shape_of(Transpose((1, 0)), UNRANKED_X) == (None, None)


@pytest.mark.parametrize(
    ("perm", "message"),
    [
        ((0, 0, 1), "perm [0, 0, 1] is not a permutation"),
        ((1, 0), "perm [1, 0] does not permute the 3 axes of float32[2, 3, 4]"),
    ],
)
def test_transpose_refuses_what_is_no_permutation(perm, message):
    with pytest.raises(TypeRuleError) as caught:
        Transpose(perm).infer(shaped(2, 3, 4))
    assert str(caught.value) == message


# ---- Concat --------------------------------------------------------------------------------------------------------


def test_concat_adds_lengths_and_agrees_on_the_others():
    assert shape_of(Concat(1), shaped(N, 3), shaped(2, M), shaped(N, N)) == (2, M + N + 3)
    assert shape_of(Concat(-1), shaped(N, 3), UNRANKED_X) == (N, None)
    assert shape_of(Concat(0), UNRANKED_X) is UNRANKED
    np.testing.assert_array_equal(Concat(-1).run(X, X[..., :1]), np.concatenate([X, X[..., :1]], -1))


def test_concat_keeps_unknown_elements_inplace():
    unknown = shaped(2, dtype=np.int64)
    assert known_of(Concat(0), listed(N, 3), unknown, listed(-1)) == [N, 3, None, None, -1]
    assert known_of(Concat(0), unknown, unknown) is None
    assert known_of(Concat(0), listed(1), shaped(N, dtype=np.int64)) is None


def test_concat_refuses_other_shapes():
    with pytest.raises(TypeRuleError, match="inputs have ranks 2, 1, expected one rank"):
        Concat(0).infer(shaped(2, 3), shaped(2))
    with pytest.raises(TypeRuleError, match="axis 1 is both 3 and 4"):
        Concat(0).infer(shaped(2, 3), shaped(2, 4))
    with pytest.raises(TypeRuleError, match="a scalar has no axis to join"):
        Concat(0).infer(scalar(1))
    with pytest.raises(RunError, match=r"cannot join \[2, 3\], \[2, 4\] along axis 0"):
        Concat(0).run(np.zeros((2, 3)), np.zeros((2, 4)))


# ---- Split ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "count", "expected"), [(6, 3, [2, 2, 2]), (7, 3, [3, 3, 1]), (5, 4, [2, 2, 1, 0]), (0, 2, [0, 0])]
)
def test_split_into_a_number_of_parts_makes_the_last_smaller(length, count, expected):
    op = Split(num_outputs=count, output_count=count)
    assert [part.shape[0] for part in op.run(np.zeros((length, 2)))] == expected
    for (text, _), actual in zip(shapes_of(op, shaped(length, 2)), expected, strict=True):
        assert text == actual or (text is None and expected[-1] == 0)


def test_split_by_lengths_and_into_equal_parts():
    first, second = Split(axis=-1, output_count=2).run(X, ints(1, 3))
    np.testing.assert_array_equal(first, X[..., :1])
    np.testing.assert_array_equal(second, X[..., 1:])
    assert [part.shape for part in Split(axis=2, output_count=2).run(X)] == [(2, 3, 2)] * 2


def test_split_of_named_lengths_is_exact():
    assert shapes_of(Split(output_count=2), shaped(2 * N)) == [(N,), (N,)]
    assert shapes_of(Split(output_count=2), shaped(N), listed(1, N - 1)) == [(1,), (N - 1,)]
    assert shapes_of(Split(output_count=2), shaped(N), shaped(2, dtype=np.int64)) == [(None,), (None,)]
    for count in (1, 2, 3):
        assert check_has(Split(num_outputs=count, output_count=count), shaped(N + 1, 2), sizes=range(8))


def test_split_passes_known_elements_on():
    assert [list(part) for part in Split(output_count=2).infer_known(listed(N, 1, M), listed(2, 1))] == [[N, 1], [M]]


@pytest.mark.parametrize(
    ("op", "facts", "message"),
    [
        (Split(output_count=2), [shaped(5)], "length 5 is not 2 equal parts"),
        (Split(output_count=2), [shaped(5), listed(2, 2)], "split [2, 2] does not add up to 5"),
        (Split(output_count=2), [shaped(5), listed(5)], "split has 1 lengths for 2 outputs"),
        (Split(num_outputs=3, output_count=2), [shaped(6)], "num_outputs is 3, the node has 2 outputs"),
        (Split(num_outputs=2, output_count=2), [shaped(6), listed(3, 3)], "both split and num_outputs are given"),
    ],
)
def test_split_refuses_parts_that_do_not_fit(op, facts, message):
    with pytest.raises(TypeRuleError) as caught:
        op.infer(*facts)
    assert caught.value.message == message


def test_split_at_run_time_refuses_parts_that_do_not_fit():
    with pytest.raises(RunError, match=r"cannot cut axis 0 of length 2 into 2 parts \[1, 2\]"):
        Split(output_count=2).run(X, ints(1, 2))


# ---- Slice ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end", "step", "expected"),
    [
        (1, 4, 1, [1, 2, 3]),
        (0, MOST, 2, [0, 2, 4]),
        (-3, -1, 1, [2, 3]),
        (-100, 100, 1, [0, 1, 2, 3, 4]),
        (MOST, LEAST, -1, [4, 3, 2, 1, 0]),
        (-1, LEAST, -2, [4, 2, 0]),
        (3, 0, -1, [3, 2, 1]),
        (-100, LEAST, -1, [0]),
        (2, 2, 1, []),
        (4, 1, 1, []),
        (1, 4, -1, []),
        (0, MOST, MOST, [0]),
        (4, LEAST, LEAST, [4]),
    ],
)
def test_slice_clamps_as_the_specification_says(start, end, step, expected):
    x = np.arange(5, dtype=np.float32)
    result = Slice().run(x, ints(start), ints(end), ints(0), ints(step))
    assert result.tolist() == expected
    assert shape_of(Slice(), shaped(5), listed(start), listed(end), listed(0), listed(step)) == (len(expected),)
    if end != MOST or step > 0:  # onnxruntime reads INT64_MAX as "to the end" whatever the direction
        inputs = [x, ints(start), ints(end), ints(0), ints(step)]
        np.testing.assert_array_equal(onnxruntime_run(single_node("Slice", inputs, 13), feeds(inputs))[0], result)


def test_slice_of_an_empty_axis_is_empty():
    empty = np.zeros((0, 2))
    for start, end, step in product((-2, 0, 3), (-2, 0, 3), (1, -1)):
        assert Slice().run(empty, ints(start), ints(end), ints(0), ints(step)).shape == (0, 2)


def test_slice_without_axes_cuts_the_first_ones():
    assert Slice().run(X, ints(1, 0), ints(2, 2)).shape == (1, 2, 4)
    assert Slice().run(X, ints(1), ints(3), ints(-1)).shape == (2, 3, 2)


def test_slice_infers_named_axes():
    assert shape_of(Slice(), shaped(N, M), listed(0), listed(MOST), listed(0)) == (N, M)
    assert shape_of(Slice(), shaped(N + 1, M), listed(1), listed(MOST), listed(0)) == (N, M)
    assert shape_of(Slice(), shaped(N, M), listed(0), listed(N), listed(-2)) == (N, M)
    assert shape_of(Slice(), shaped(N, M), listed(0), listed(M), listed(0)) == (dims.call("min", M, N), M)
    assert shape_of(Slice(), shaped(N, 4), listed(0), shaped(1, dtype=np.int64), listed(0)) == (None, 4)
    assert shape_of(Slice(), shaped(N, 4), listed(0), listed(1), shaped(1, dtype=np.int64)) == (None, None)
    assert shape_of(Slice(), shaped(N, 4), *[Known(TensorType(INT64))] * 2) == (None, None)


def test_slice_has_for_every_size_of_a_named_axis():
    ends = (-3, -1, 0, 2, MOST, LEAST, N, N - 1)
    for start, end, step in product(ends, ends, (1, 3, -1, -2)):
        assert check_has(Slice(), shaped(N), listed(start), listed(end), listed(0), listed(step), sizes=range(6))


def test_slice_passes_known_elements_on():
    assert known_of(Slice(), listed(N, 3, M, 4), listed(-1), listed(LEAST), listed(0), listed(-2)) == [4, 3]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([(0,), (1,), (0,), (0,)], "steps are [0], a step must not be 0"),
        ([(0,), (1,), (3,)], "axis 3 is outside [-3, 3) of a tensor of rank 3"),
        ([(0,), (1, 2)], "starts [0], ends [1, 2], axes [0] and steps [1] differ in length"),
    ],
)
def test_slice_refuses_wrong_lists(lists, message):
    with pytest.raises(RunError) as caught:
        Slice().run(X, *(ints(*numbers) for numbers in lists))
    assert str(caught.value) == message


# ---- Tile, blocks, ReverseSequence ---------------------------------------------------------------------------------


def test_tile_multiplies_lengths():
    np.testing.assert_array_equal(Tile().run(X, ints(1, 2, 0)), np.tile(X, (1, 2, 0)))
    assert shape_of(Tile(), shaped(N, 3), listed(2, M)) == (N * 2, M * 3)
    assert shape_of(Tile(), UNRANKED_X, shaped(2, dtype=np.int64)) == (None, None)
    assert known_of(Tile(), listed(N, 2), listed(2)) == [N, 2, N, 2]
    assert known_of(Tile(), listed(1), listed(10**9)) is None


def test_tile_refuses_wrong_numbers():
    with pytest.raises(TypeRuleError, match="repeats has 1 numbers for the 2 axes"):
        Tile().infer(shaped(2, 3), listed(2))
    with pytest.raises(RunError, match=r"repeats is \[-1, 1, 1\], lengths must not be negative"):
        Tile().run(X, ints(-1, 1, 1))
    with pytest.raises(RunError, match="more than this machine's memory"):
        Tile().run(X, ints(2**50, 1, 1))


def test_reverse_sequence_turns_each_row_up_to_its_length():
    x = np.arange(8).reshape(2, 4)
    turned = ReverseSequence(batch_axis=0, time_axis=1).run(x, ints(3, 0))
    assert turned.tolist() == [[2, 1, 0, 3], [4, 5, 6, 7]]
    np.testing.assert_array_equal(ReverseSequence().run(x.T, ints(3, 0)), turned.T)
    with pytest.raises(RunError, match=r"sequence length 5 is outside \[0, 4\]"):
        ReverseSequence(batch_axis=0, time_axis=1).run(x, ints(3, 5))
    with pytest.raises(TypeRuleError, match="batch_axis is 1, time_axis 1"):
        ReverseSequence(time_axis=1).infer(shaped(2, 3), shaped(2, dtype=np.int64))
