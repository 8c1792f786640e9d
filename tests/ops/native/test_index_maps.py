"""Index arithmetic on views, interpreted: reshapes, slices, concatenations and indices from either end."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from native_forms import run_form

import whorl
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.lowering.builder import KernelBuilder
from whorl.ops.native.index_maps import (
    MOST_PARTS,
    MOST_SELECTED,
    broadcast_view,
    cast_view,
    check_slice,
    concat_views,
    embed_numbers,
    insert_at,
    normalise_indices,
    replace_at,
    reshape_view,
    select_column,
    slice_axis,
    transpose_view,
)

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def integers(*elements: int) -> np.ndarray:
    return np.array(elements, np.int64)


@pytest.mark.parametrize("shape", [(24,), (6, 4), (2, 12), (4, 3, 2), (2, 1, 3, 2, 2), (3, 8)])
def test_reshaped_view_has_the_elements_in_row_major_order(shape: tuple[int, ...]) -> None:
    np.testing.assert_array_equal(run_form(lambda k, x: reshape_view(k, x, shape), X), X.reshape(shape))


def test_reshape_that_merges_axes_reads_where_the_elements_lie() -> None:
    k = KernelBuilder()
    source = k.view_of(k.temporary(FLOAT32, (2, 6)))
    reshape_view(k, source, (2, 2, 3))
    assert not k.block


def test_transposed_broadcast_and_cast_views_follow_numpy() -> None:
    np.testing.assert_array_equal(run_form(lambda k, x: transpose_view(k, x, (2, 0, 1)), X), X.transpose(2, 0, 1))
    wide = run_form(lambda k, x: broadcast_view(k, x, (5, 2, 3, 4)), X)
    np.testing.assert_array_equal(wide, np.broadcast_to(X, (5, 2, 3, 4)))
    np.testing.assert_array_equal(run_form(lambda k, x: cast_view(k, x, INT64), X), X.astype(np.int64), strict=True)


def test_slice_of_an_axis_and_a_column_leave_the_other_axes() -> None:
    np.testing.assert_array_equal(run_form(lambda k, x: slice_axis(k, x, 1, 1, 2), X), X[:, 1:3])
    np.testing.assert_array_equal(run_form(lambda k, x: select_column(k, x, 3), X), X[..., 3])


@pytest.mark.parametrize("axis", [0, 2])
@pytest.mark.parametrize("length", [1, 4])
def test_concatenated_views_lie_one_after_the_other(axis: int, length: int) -> None:
    parts = [X.take(range(n, n + length), axis=2) if n + length <= 4 else X[..., :length] for n in range(3)]
    result = run_form(lambda k, *views: concat_views(k, views, axis), *parts)
    np.testing.assert_array_equal(result, np.concatenate(parts, axis))


def test_few_short_parts_are_selected_and_many_are_stored() -> None:
    for count, is_stored in ((MOST_PARTS, False), (MOST_PARTS + 1, True)):
        k = KernelBuilder()
        parts = [k.view_of(k.temporary(FLOAT32, (1, 3))) for _ in range(count)]
        assert (concat_views(k, parts, 0).buffer is not None) == is_stored


@pytest.mark.parametrize("count", [0, 1, MOST_SELECTED, MOST_SELECTED + 1])
def test_numbers_in_a_program_keep_their_order(count: int) -> None:
    numbers = [3 * n - 7 for n in range(count)]
    result = run_form(lambda k: embed_numbers(k, numbers, INT64, (count,)))
    np.testing.assert_array_equal(result, integers(*numbers))


@pytest.mark.parametrize(("indices", "expected"), [([0, -1, 2], [0, 2, 2]), ([-3], [0]), ([3], None), ([0, -4], None)])
def test_indices_count_from_either_end_and_fail_outside_the_axis(
    indices: list[int], expected: list[int] | None
) -> None:
    result = run_form(lambda k, x: normalise_indices(k, x, 3), integers(*indices))
    assert (None if result is None else result.tolist()) == expected


@pytest.mark.parametrize(
    ("start", "end", "step", "count", "first"),
    [(1, 9, 2, 2, 1), (-2, 5, 1, 2, 3), (-1, -9, -2, 3, 4), (0, 5, 1, 4, None), (4, 2, 1, 0, 4)],
)
def test_slice_begins_where_numpy_begins_and_fails_for_another_count(
    start: int, end: int, step: int, count: int, first: int | None
) -> None:
    result = run_form(lambda k: k.scalar(check_slice(k, k.const(start), k.const(end), step, 5, count)))
    assert (None if result is None else int(result)) == first


def test_index_with_another_axis_or_coordinate() -> None:
    assert insert_at((1, 2), 1, 9) == (1, 9, 2)
    assert replace_at((1, 2), 1, 9) == (1, 9)


def test_parts_of_run_time_lengths_with_a_fixed_sum_lie_one_after_the_other() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[N] x) => (float[M] y) <int64[1] most = {8}, float zero = {0}> {
      length = Shape (x)
      missing = Sub (most, length)
      filler = Expand (zero, missing)
      y = Concat <axis = 0> (x, filler)
    }"""
    options = whorl.SessionOptions()
    options.backend = "native"
    session = whorl.InferenceSession(onnx.parser.parse_model(text), options)
    for length in (3, 8, 5):
        x = np.arange(length, dtype=np.float32) + 1
        assert session.run(None, {"x": x})[0].tolist() == [*x.tolist(), *[0] * (8 - length)]
