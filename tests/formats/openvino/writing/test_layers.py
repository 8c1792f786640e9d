"""Layers that the writers of several families put around theirs."""

import numpy as np
import pytest
from formats.openvino.net_text import shown

from whorl.errors import SaveError
from whorl.formats.openvino.saving import EXPORTERS
from whorl.formats.openvino.writing import layers
from whorl.formats.openvino.writing.net import FileState, NetWriter
from whorl.formats.openvino.writing.sources import Source
from whorl.ir.dims import name
from whorl.ir.dtypes import BOOL, INT64
from whorl.ir.graph import Region
from whorl.ir.types import UNRANKED, TensorType

F32 = np.dtype(np.float32)


@pytest.fixture
def write() -> NetWriter:
    return NetWriter(FileState(EXPORTERS))


def parameter(write: NetWriter, *shape: object, dtype: np.dtype = F32) -> Source:
    return write.parameter(TensorType(dtype, shape), "x")[1]  # type: ignore[arg-type]


def written(write: NetWriter) -> list[str]:
    write.net.layers[:0] = write.parameters
    return shown(write.net)


def test_conversion_to_the_same_type_writes_nothing(write: NetWriter) -> None:
    x = parameter(write, 2)
    assert layers.convert(write, x, F32) is x
    assert str(layers.convert(write, x, INT64).type) == "int64[2]"
    assert written(write)[1:] == ["Convert-1(0) destination_type=i64"]


def test_comparison_and_choice_have_the_types_that_they_give(write: NetWriter) -> None:
    x = parameter(write, 2)
    test = layers.compare(write, "Less", x, x)
    assert test.type == TensorType(BOOL, (2,))
    assert layers.select(write, test, x, x, x.type).type == x.type


def test_one_source_is_merged_to_nothing(write: NetWriter) -> None:
    x = parameter(write, 2, name("N"))
    assert layers.concatenate(write, [x], 1) is x
    mergeds = layers.concatenate(write, [x, x], 1)
    assert str(mergeds.type) == "float32[2, 2*N]"
    assert written(write)[1:] == ["Concat-1(0, 0) axis=1"]


@pytest.mark.parametrize(("axis", "order", "shape"), [(1, "1,0,2", "[3, 2, 4]"), (2, "1,2,0", "[3, 4, 2]")])
def test_first_axis_is_moved_behind_others(write: NetWriter, axis: int, order: str, shape: str) -> None:
    moved = layers.move_axis(write, parameter(write, 2, 3, 4), axis)
    assert str(moved.type) == f"float32{shape}"
    assert layers.move_axis(write, moved, 0) is moved


def test_axes_are_merged_with_lengths_that_only_a_run_knows(write: NetWriter) -> None:
    merged = layers.merge_axes(write, parameter(write, 2, name("N"), 4), 1)
    assert str(merged.type) == "float32[2, 4*N]"
    assert written(write)[-1].startswith("Reshape-1(0, ")


def test_rows_between_computed_ends(write: NetWriter) -> None:
    x, ends = parameter(write, name("N"), 3), parameter(write, 1, dtype=INT64)
    rows = layers.take_rows(write, x, ends, ends)
    assert rows.type.rank == 2
    assert written(write)[-1] == "Slice-8(0, 1, 1, 2, 3)"


def test_shape_of_a_value_of_any_rank_is_refused() -> None:
    value = Region().add_argument("x", TensorType(F32, UNRANKED))
    with pytest.raises(SaveError) as caught:
        layers.ranked(value, "the input")
    assert str(caught.value) == "the input has no known rank\n  fix: declare the shape"
    assert layers.unsqueeze(NetWriter(FileState(EXPORTERS)), Source(0, 0, TensorType(F32)), 0).type.rank is None
