"""Which function writes nodes of an op."""

from collections.abc import Iterator

import pytest
from formats.openvino.net_text import written

from whorl.formats.openvino.writing.exporter import EXPORTERS, exporter, rewritten
from whorl.ops.elementwise.arithmetic import Abs, Neg
from whorl.ops.elementwise.functions import Exp
from whorl.ops.elementwise.nonlinear import Relu

TEXT = "main(%x: float32[2]) { %y: float32[2] = Relu(%x) return y = %y }"


@pytest.fixture
def free() -> Iterator[None]:
    """Relu and Abs have no exporter for a while."""
    before = {kind: EXPORTERS.pop(kind) for kind in (Relu, Abs)}
    yield
    EXPORTERS.update(before)


def test_op_is_written_by_its_exporter(free: None) -> None:
    @exporter(Relu, Abs)
    def other(op, node, write):
        inputs = [write.source(value) for value in node.inputs]
        return write.layer("Mine", 1, inputs, [node.outputs[0].type], op=op.name)

    assert written(TEXT)[1] == "Mine-1(0) op=Relu"
    assert written(TEXT.replace("Relu", "Abs"))[1] == "Mine-1(0) op=Abs"
    with pytest.raises(TypeError, match="two functions write Relu"):
        exporter(Relu)(other)


def test_op_is_written_as_others_that_have_exporters(free: None) -> None:
    @rewritten(Relu)
    def other(op, build, x):
        return build.add(Neg(), build.add(Exp(), x))

    assert [line.partition("-")[0] for line in written(TEXT)] == ["Parameter", "Exp", "Negative", "Result"]
