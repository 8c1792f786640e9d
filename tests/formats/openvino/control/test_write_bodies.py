"""Bodies of layers: their Results and ports, and what connects them."""

import numpy as np
import pytest

from whorl.formats.openvino.control.write_bodies import BodyWriter, one_element, sliced_port
from whorl.formats.openvino.document import PortMap
from whorl.formats.openvino.saving import EXPORTERS
from whorl.formats.openvino.writing.layers import unsqueeze
from whorl.formats.openvino.writing.net import FileState, NetWriter
from whorl.ir.dims import UNKNOWN
from whorl.ir.graph import Region
from whorl.ir.types import TensorType

F32 = np.dtype(np.float32)


@pytest.fixture
def write() -> NetWriter:
    return NetWriter(FileState(EXPORTERS))


def body(write: NetWriter) -> BodyWriter:
    return BodyWriter(write.child("body", [], []), write, [])


def types(writer: BodyWriter) -> list[str]:
    return [layer.type for layer in writer.child.net.layers]


def test_result_that_is_a_parameter_is_copied(write: NetWriter) -> None:
    writer = body(write)
    _, source = writer.child.parameter(TensorType(F32, (2,)), "x")
    writer.result(source, "y")
    assert types(writer) == ["Identity"]


def test_result_that_reads_at_a_parameter_in_another_shape_is_computed(write: NetWriter) -> None:
    """An Identity of a view copies nothing there."""
    for dtype, kind in ((F32, "ReduceProd"), (np.dtype(np.bool_), "ReduceLogicalOr")):
        writer = body(write)
        _, source = writer.child.parameter(TensorType(dtype, (2,)), "x")
        writer.result(unsqueeze(writer.child, source, 0), "y")
        assert types(writer)[-1] == kind


def test_second_result_of_one_value_is_copied(write: NetWriter) -> None:
    writer = body(write)
    source = writer.child.constant(np.ones(2, np.float32))
    first, second = writer.result(source, "a"), writer.result(source, "b")
    assert first != second
    assert types(writer) == ["Const", "Identity"]


def test_captured_values_become_inputs_when_the_body_is_finished(write: NetWriter) -> None:
    region = Region()
    x = region.add_argument("x", TensorType(F32, (2,)))
    _, write.sources[x] = write.parameter(TensorType(F32, (2,)), "x")
    argument = Region().add_argument("inner", TensorType(F32, (2,)))
    writer = BodyWriter(write.child("body", [argument], [x]), write, [])
    writer.result(writer.child.source(argument), "y")
    finished = writer.finish()
    assert finished.ports == [PortMap(True, 0, finished.net.layers[0].id)]
    assert writer.inputs == [write.sources[x]]


@pytest.mark.parametrize(("shape", "is_changed"), [((), False), ((1,), False), ((1, 1), True), ((UNKNOWN,), True)])
def test_one_element_has_at_most_one_axis(write: NetWriter, shape: tuple, is_changed: bool) -> None:
    _, source = write.parameter(TensorType(F32, shape), "x")
    assert (one_element(source, write) != source) == is_changed


def test_port_of_a_slice_is_canonical_in_both_directions() -> None:
    assert sliced_port(True, 3, 1, 2, False) == PortMap(True, 0, 3, 1, 0, -1, 2, 2)
    assert sliced_port(False, 3, 1, 2, True) == PortMap(False, 0, 3, 1, -1, 0, -2, 2)
