"""Sequences: positions, immutability, and what inference may promise of elements."""

import ml_dtypes
import ml_oracle
import numpy as np
import pytest

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.types import UNRANKED, Known, SequenceType, TensorType
from whorl.ops.sequence.sequences import (
    ConcatFromSequence,
    SequenceAt,
    SequenceConstruct,
    SequenceEmpty,
    SequenceErase,
    SequenceInsert,
    SequenceLength,
    SplitToSequence,
)

N = dims.name("N")


def vectors(*lengths):
    return [np.arange(n, dtype=np.float32) for n in lengths]


def number(value, dtype=np.int64):
    return np.array(value, dtype)


def tensor(*shape, dtype=FLOAT32, known=None):
    return Known(TensorType(dtype, shape), None if known is None else np.array(known, dtype=object))


def sequence(*shape, dtype=FLOAT32):
    return Known(SequenceType(TensorType(dtype, shape)))


UNKNOWN_ELEMENTS = Known(SequenceType(TensorType(FLOAT32)))


# ---- positions


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(("position", "length"), [(0, 1), (2, 3), (-1, 3), (-3, 1)])
def test_at_position_counts_from_both_ends(position, length, dtype):
    assert SequenceAt().run(vectors(1, 2, 3), number(position, dtype)).shape == (length,)


@pytest.mark.parametrize("position", [3, -4])
def test_at_position_outside_is_refused(position):
    with pytest.raises(RunError) as caught:
        SequenceAt().run(vectors(1, 2, 3), number(position))
    assert str(caught.value) == f"position {position} is outside [-3, 2] of a sequence of length 3"


@pytest.mark.parametrize(
    ("position", "lengths"),
    [(None, [1, 2, 9]), (0, [9, 1, 2]), (1, [1, 9, 2]), (2, [1, 2, 9]), (-1, [1, 9, 2]), (-2, [9, 1, 2])],
)
def test_insert_puts_the_tensor_before_the_position(position, lengths):
    location = None if position is None else number(position)
    grown = SequenceInsert().run(vectors(1, 2), *vectors(9), location)
    assert [len(x) for x in grown] == lengths


@pytest.mark.parametrize("position", [3, -3])
def test_insert_position_outside_is_refused(position):
    with pytest.raises(RunError) as caught:
        SequenceInsert().run(vectors(1, 2), *vectors(9), number(position, np.int32))
    assert str(caught.value) == f"position {position} is outside [-2, 2] of a sequence of length 2"


@pytest.mark.parametrize(
    ("position", "lengths"), [(None, [1, 2]), (0, [2, 3]), (1, [1, 3]), (-3, [2, 3]), (-1, [1, 2])]
)
def test_erase_drops_the_element_at_the_position(position, lengths):
    left = SequenceErase().run(vectors(1, 2, 3), None if position is None else number(position))
    assert [len(x) for x in left] == lengths


def test_erase_from_an_empty_sequence_is_refused():
    with pytest.raises(RunError, match=r"position -1 is outside \[0, -1\] of a sequence of length 0"):
        SequenceErase().run([])


def test_position_of_one_element_and_any_rank_is_taken():
    assert len(SequenceAt().run(vectors(1, 2), number([1]))) == 2
    with pytest.raises(RunError, match=r"the position has shape \[2\], expected one element"):
        SequenceAt().run(vectors(1, 2), number([0, 1]))


def test_position_that_is_no_integer_is_refused():
    with pytest.raises(TypeRuleError, match=r"position is float32\[\], expected one int32 or int64"):
        SequenceAt().infer(UNKNOWN_ELEMENTS, tensor())
    with pytest.raises(TypeRuleError, match=r"position is int64\[2\], expected one element"):
        SequenceAt().infer(UNKNOWN_ELEMENTS, tensor(2, dtype=INT64))


# ---- values


def test_operations_leave_their_inputs_as_they_were():
    passed = vectors(1, 2)
    SequenceInsert().run(passed, *vectors(3), None)
    SequenceErase().run(passed, number(0))
    made = SequenceConstruct().run(*passed)
    made.append(None)
    assert [len(x) for x in passed] == [1, 2]


def test_length_is_an_int64_scalar():
    for passed in ([], vectors(1, 2)):
        length = ml_oracle.result(SequenceLength(), passed)
        assert length.shape == () and length.dtype == np.int64 and length == len(passed)


def test_empty_has_the_type_it_is_reported():
    assert SequenceEmpty().infer() == SequenceType(TensorType(FLOAT32))
    assert SequenceEmpty(dtype=INT64).infer() == SequenceType(TensorType(INT64))
    assert SequenceEmpty().run() == []


# ---- element types


def test_construct_keeps_what_all_elements_share():
    assert str(SequenceConstruct().infer(tensor(N, 2, 5), tensor(N, 3, 5)).element) == "float32[N, ?, 5]"
    assert str(SequenceConstruct().infer(tensor(2), tensor(2, 2))) == "seq(float32[*])"


def test_construct_mixed_element_types_are_refused():
    with pytest.raises(TypeRuleError, match=r"elements float32\[2\] and int64\[2\] differ in kind"):
        SequenceConstruct().infer(tensor(2), tensor(2, dtype=INT64))


def test_insert_widens_the_element_type():
    assert str(SequenceInsert().infer(sequence(2, 3), tensor(4, 3)).element) == "float32[?, 3]"
    assert str(SequenceInsert().infer(UNKNOWN_ELEMENTS, tensor(4, 3)).element) == "float32[*]"


def test_insert_other_element_type_is_refused():
    with pytest.raises(TypeRuleError, match=r"inserts int64\[2\] into seq\(float32\[2\]\)"):
        SequenceInsert().infer(sequence(2), tensor(2, dtype=INT64))


def test_tensor_instead_of_a_sequence_is_refused():
    with pytest.raises(TypeRuleError, match=r"input is float32\[2\], expected a sequence"):
        SequenceLength().infer(tensor(2))


# ---- joining


@pytest.mark.parametrize("axis", [0, -1])
def test_concat_joins_along_an_axis(axis):
    parts = [np.ones((2, 2), np.float32), np.zeros((2, 2), np.float32)]
    np.testing.assert_array_equal(ConcatFromSequence(axis).run(parts), np.concatenate(parts, axis))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_concat_new_axis_stacks(axis):
    parts = [np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)]
    combined = ConcatFromSequence(axis, new_axis=1).run(parts)
    np.testing.assert_array_equal(combined, np.stack(parts, axis))
    promised = ConcatFromSequence(axis, new_axis=1).infer(sequence(2, 3))
    ml_oracle.check_type(combined, promised)
    assert promised.shape[axis] is UNKNOWN


def test_concat_scalars_and_strings():
    assert ConcatFromSequence(0, new_axis=1).run([number(1), number(2)]).tolist() == [1, 2]
    words = [ml_oracle.strings("a"), ml_oracle.strings("b", "c")]
    assert ConcatFromSequence(0).run(words).tolist() == ["a", "b", "c"]


def test_concat_infers_only_what_is_sure():
    assert str(ConcatFromSequence(0).infer(sequence(2, N))) == "float32[?, N]"
    assert ConcatFromSequence(0).infer(UNKNOWN_ELEMENTS).shape is UNRANKED


def test_concat_shapes_that_differ_are_refused():
    with pytest.raises(RunError, match=r"element 1 has shape \[2, 3\], element 0 \[2, 2\]"):
        ConcatFromSequence(0).run([np.zeros((2, 2)), np.zeros((2, 3))])


def test_concat_empty_sequence_is_refused():
    with pytest.raises(RunError, match="an empty sequence cannot be joined"):
        ConcatFromSequence(0).run([])


def test_concat_axis_outside_is_refused():
    with pytest.raises(RunError, match=r"axis 1 is outside \[-1, 1\) for elements of shape \[2\]"):
        ConcatFromSequence(1).run(vectors(2))


# ---- splitting


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(("split", "lengths"), [(2, [2, 2, 1]), (5, [5]), (9, [5]), ([1, 0, 4],) * 2, (None, [1] * 5)])
def test_split_gives_parts_of_the_lengths(split, lengths, dtype):
    x = np.arange(10, dtype=np.float32).reshape(2, 5)
    parts = SplitToSequence(axis=1).run(x, None if split is None else np.array(split, dtype))
    assert [part.shape for part in parts] == [(2, n) for n in lengths]
    np.testing.assert_array_equal(np.concatenate(parts, 1), x)


def test_split_keepdims_counts_only_without_split():
    x = np.arange(6, dtype=ml_dtypes.bfloat16).reshape(3, 2)
    assert [p.shape for p in SplitToSequence(keepdims=0).run(x)] == [(2,)] * 3
    assert [p.shape for p in SplitToSequence(keepdims=0).run(x, number(1))] == [(1, 2)] * 3
    (word,) = SplitToSequence(keepdims=0).run(ml_oracle.strings("a"))
    assert isinstance(word, np.ndarray) and word.shape == () and word.item() == "a"


def test_split_empty_axis_gives_an_empty_sequence():
    assert SplitToSequence().run(np.zeros((0, 2))) == []
    assert SplitToSequence().run(np.zeros((0, 2)), number(3)) == []


@pytest.mark.parametrize("split", [[2, 2], [6, -1]])
def test_split_lengths_that_do_not_fit_are_refused(split):
    with pytest.raises(RunError) as caught:
        SplitToSequence().run(np.zeros(5), np.array(split))
    assert str(caught.value) == f"split {split} does not divide an axis of length 5"


def test_split_zero_is_refused():
    with pytest.raises(RunError, match="split 0 is not a length of parts"):
        SplitToSequence().run(np.zeros(5), number(0))


@pytest.mark.parametrize(
    ("length", "split", "part"),
    [(6, 2, "2"), (5, 2, "?"), (2, 5, "2"), (N * 4, 2, "2"), (N, 2, "?"), (5, [1, 4], "?"), (4, [2, 2], "2")],
)
def test_split_infers_the_length_all_parts_share(length, split, part):
    shape = np.shape(split)
    actual = SplitToSequence().infer(tensor(length, 7), tensor(*shape, dtype=INT64, known=split))
    assert str(actual.element) == f"float32[{part}, 7]"


def test_split_infers_without_known_lengths():
    assert str(SplitToSequence(axis=-1).infer(tensor(N, 7)).element) == "float32[N, 1]"
    assert str(SplitToSequence(axis=-1, keepdims=0).infer(tensor(N, 7)).element) == "float32[N]"
    assert str(SplitToSequence(axis=-1).infer(tensor(N, 7), tensor(dtype=INT64)).element) == "float32[N, ?]"
    assert SplitToSequence().infer(Known(TensorType(FLOAT32))).element.shape is UNRANKED
