"""Columns of Arrow as tensors, and back."""

import numpy as np
import pyarrow as pa
import pytest

from whorl.errors import RunError
from whorl.ir import dims
from whorl.ir.dtypes import BY_NAME
from whorl.ir.types import UNRANKED, MapType, SequenceType, TensorType
from whorl.scoring.columns import array_column, arrow_type, convert, rank_of, read_column, write_column


def rows(column, name="c"):
    """Each row as a list, None for one that has a fault."""
    read = read_column(column, name)
    shapes = [tuple(shape) for shape in read.shapes.tolist()]
    return [None if k in read.faults else read.take(np.array([k]), shape).tolist()[0] for k, shape in enumerate(shapes)]


LISTS = [
    [[[1, 2], [3, 4]], [[5, 6]], [[7], [8], [9]]],
    [[[1.5], []], [[2.5], [3.5]], []],
    [["a", "b"], ["c"], []],
    [[True], [False, True], []],
    [1, 2, 3],
]


@pytest.mark.parametrize("values", LISTS, ids=str)
@pytest.mark.parametrize("start", [0, 1])
def test_rows_of_lists_are_tensors_of_their_own_shapes(values, start):
    expected = [None if row == [[1.5], []] else row for row in values]
    assert rows(pa.array(values).slice(start)) == expected[start:]


def test_chunks_are_read_as_one_column():
    chunks = pa.chunked_array([pa.array([[1, 2]]), pa.array([[3], [4, 5]]).slice(1)])
    assert rows(chunks) == [[1, 2], [4, 5]]


@pytest.mark.parametrize(
    ("values", "row", "fault"),
    [
        ([[1], None], 1, "column 'c' has no value"),
        ([[1], [None, 2]], 1, "column 'c' has no value"),
        (["a", None], 1, "column 'c' has no value"),
        ([[[1], [2, 3]], [[4]]], 0, "the lists of column 'c' have several lengths"),
        ([[[4]], [[1, 2], [3]]], 1, "the lists of column 'c' have several lengths"),
    ],
)
def test_row_without_a_tensor_has_a_fault(values, row, fault):
    assert read_column(pa.array(values), "c").faults == {row: fault}


def test_floats_that_are_missing_are_nan():
    read = read_column(pa.array([1.0, None]), "c")
    assert np.isnan(read.elements[1]) and not read.faults


def test_type_without_a_tensor_is_refused():
    with pytest.raises(RunError) as error:
        read_column(pa.array([0], pa.timestamp("s")), "when")
    assert str(error.value) == (
        "column 'when' is timestamp[s], which no tensor has\n  fix: convert it to numbers or strings"
    )


def test_dictionary_is_its_values():
    assert rows(pa.array(["a", "b", "a"]).dictionary_encode()) == ["a", "b", "a"]


@pytest.mark.parametrize("shape", [(5,), (5, 2), (5, 2, 3), (0, 2), (5, 0)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "float64", "float16"])
def test_array_is_the_column_of_its_rows(shape, dtype):
    array = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    column = array_column(array, "x")
    assert rank_of(column.type) == array.ndim - 1
    read = read_column(column, "x")
    np.testing.assert_array_equal(read.take(np.arange(shape[0]), shape[1:]), array)


def test_column_of_one_shape_is_taken_without_a_copy():
    array = np.arange(12.0).reshape(4, 3)
    assert np.shares_memory(read_column(array_column(array, "x"), "x").take(np.arange(4), (3,)), array)


def test_columns_of_one_shape_are_known_to_be():
    fixed = array_column(np.arange(24.0).reshape(4, 3, 2), "x")
    read = read_column(fixed, "x")
    assert read.is_even and read.shapes.tolist() == [[3, 2]] * 4
    np.testing.assert_array_equal(read.take(np.array([0, 2]), (3, 2)), np.arange(24.0).reshape(4, 3, 2)[[0, 2]])
    assert not read_column(pa.array([[1], [2]]), "x").is_even
    assert read_column(pa.array([1, 2]), "x").is_even


def test_missing_list_of_a_fixed_length_has_a_fault_and_moves_no_other():
    column = pa.array([[1, 2], None, [5, 6]], pa.list_(pa.float32(), 2))
    read = read_column(column, "c")
    assert read.faults == {1: "column 'c' has no value"}
    assert read.take(np.array([0, 2]), (2,)).tolist() == [[1, 2], [5, 6]]
    inner = pa.array([[1, 2], [3, None]], pa.list_(pa.int64(), 2))
    assert read_column(inner, "c").faults == {1: "column 'c' has no value"}


def test_list_of_fixed_lists_and_a_fixed_list_of_lists_have_their_rows():
    outer = pa.array([[[1, 2]], [], [[3, 4], [5, 6]]], pa.list_(pa.list_(pa.int64(), 2)))
    assert rows(outer) == [[[1, 2]], [], [[3, 4], [5, 6]]]
    inner = pa.array([[[1], [2]], [[3], [4]]], pa.list_(pa.list_(pa.int64()), 2))
    assert rows(inner) == [[[1], [2]], [[3], [4]]]
    assert rows(pa.array([[], []], pa.list_(pa.int64(), 0))) == [[], []]


@pytest.mark.parametrize(("source", "target"), [("float64", "float32"), ("int64", "float64"), ("int64", "int8")])
def test_numbers_of_a_kind_are_converted(source, target):
    assert convert(np.array([1, 2], source), np.dtype(target), "c").dtype == target


def test_float_is_no_integer():
    with pytest.raises(RunError) as error:
        convert(np.array([1.0]), np.dtype(np.int64), "c")
    assert str(error.value) == (
        "column 'c' is float64, and the input takes int64\n  fix: convert the column, or map another one to the input"
    )


def test_integer_that_does_not_fit_is_refused():
    with pytest.raises(RunError) as error:
        convert(np.array([300]), np.dtype(np.int8), "c")
    assert str(error.value) == "column 'c' has a number that int8 cannot be"


def test_output_has_lists_of_one_length_where_it_is_known():
    type = TensorType(np.dtype(np.float32), (dims.name("n"), 3, dims.name("t")))
    assert str(arrow_type(type, "y", 1)) == str(pa.list_(pa.list_(pa.float32()), 3))
    assert arrow_type(TensorType(BY_NAME["bfloat16"], ()), "y", 0) == pa.float32()


def test_maps_are_maps():
    type = SequenceType(MapType(np.dtype(np.int64), TensorType(np.dtype(np.float32), ())))
    column = write_column([{0: 0.5, 1: 1.5}], arrow_type(type, "p", 1))
    assert column.to_pylist() == [[(0, 0.5), (1, 1.5)]]


@pytest.mark.parametrize(
    ("type", "message"),
    [
        (TensorType(np.dtype(np.float32), UNRANKED), "output 'y' is float32[*], and a column needs a rank"),
        (SequenceType(TensorType(np.dtype(np.int64), ())), "output 'y' is seq(int64[]), which no column has"),
        (TensorType(np.dtype(np.complex64), ()), "output 'y' is complex64, which no column has"),
    ],
)
def test_output_without_a_column_is_refused(type, message):
    with pytest.raises(RunError) as error:
        arrow_type(type, "y", 0)
    assert str(error.value) == f"{message}\n  fix: choose other outputs"


def test_chunk_that_is_alone_is_not_copied():
    chunk = pa.array([1.0, 2.0, 3.0])
    assert read_column(pa.chunked_array([chunk]), "c").elements.ctypes.data == chunk.buffers()[1].address


@pytest.mark.parametrize("name", ["int8", "uint16", "int64", "float16", "float32", "float64"])
def test_slices_of_numbers_are_read_where_they_lie(name):
    whole = pa.array(np.arange(9, dtype=name))
    for part in (whole, whole.slice(2, 4), whole.slice(5), whole.slice(9)):
        assert read_column(part, "c").elements.tolist() == part.to_pylist()
        assert read_column(part, "c").elements.dtype == name
