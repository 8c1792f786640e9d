"""Dims as layers: named ones are the axes of tensors at hand."""

import numpy as np
import pytest
from formats.openvino.net_text import shown

from whorl.formats.openvino.saving import EXPORTERS
from whorl.formats.openvino.writing.dims import dim_source, shape_vector
from whorl.formats.openvino.writing.net import FileState, NetWriter
from whorl.ir import dims
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.graph import Region
from whorl.ir.types import TensorType

N, M = dims.name("N"), dims.name("M")
assert not isinstance(N, int) and not isinstance(M, int)


def writer() -> NetWriter:
    """A writer with the tensors x [2, N] and y [M]."""
    write, region = NetWriter(FileState(EXPORTERS)), Region()
    for name, shape in (("x", (2, N)), ("y", (M,))):
        value = region.add_argument(name, TensorType(np.dtype(np.float32), shape))
        write.sources[value] = write.parameter(TensorType(np.dtype(np.float32), shape), name)[1]
    return write


def kinds(write: NetWriter) -> list[str]:
    return [layer.type for layer in write.net.layers if layer.type != "Const"]


@pytest.mark.parametrize(
    ("dim", "expected"),
    [
        (7, []),
        (N, ["ShapeOf", "Gather"]),
        (2 * N, ["ShapeOf", "Gather", "Multiply"]),
        (N - 1, ["ShapeOf", "Gather", "Add"]),
        (N + M, ["ShapeOf", "Gather", "ShapeOf", "Gather", "Add"]),
        (N // 2, ["ShapeOf", "Gather", "Divide"]),
        (N % 2, ["ShapeOf", "Gather", "FloorMod"]),
    ],
    ids=str,
)
def test_dim_is_computed_from_the_axes_that_have_its_names(dim: Dim, expected: list[str]) -> None:
    write = writer()
    source = dim_source(write, dim)
    assert source is not None
    assert str(source.type) == "int64[]"
    assert kinds(write) == expected


@pytest.mark.parametrize("dim", [UNKNOWN, dims.name("K"), N + dims.name("K"), dims.name("K") // 2], ids=str)
def test_name_that_no_tensor_has_cannot_be_computed(dim: Dim) -> None:
    assert dim_source(writer(), dim) is None
    assert shape_vector(writer(), [2, dim]) is None


def test_shape_is_a_vector_of_dims_and_sources() -> None:
    write = writer()
    length = dim_source(write, M)
    assert length is not None
    vector = shape_vector(write, [2, N, length])
    assert vector is not None
    assert str(vector.type) == "int64[3]"
    write.net.layers[:0] = write.parameters
    assert shown(write.net)[-1].startswith("Concat-1(")
