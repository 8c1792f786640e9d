"""The classes of messages are those of the onnx package, whichever is imported first."""

import os
import subprocess
import sys

import pytest

MESSAGES = """
from whorl.formats.onnx import protos
"""
PACKAGE = """
import onnx
"""
COMPARE = """
for name in protos.__all__:
    assert getattr(protos, name) is getattr(onnx, name) is getattr(onnx.onnx_ml_pb2, name), name
assert protos.TensorProto.DataType is onnx.TensorProto.DataType
import pickle
node = pickle.loads(pickle.dumps(protos.NodeProto(op_type="Add")))
assert type(node) is onnx.NodeProto and type(node).__module__ == "onnx.onnx_ml_pb2"
graph = onnx.helper.make_graph([node], "g", [], [])
assert isinstance(graph, protos.GraphProto) and isinstance(protos.ModelProto(graph=graph), onnx.ModelProto)
"""
ALONE = """
import sys
assert not [name for name in sys.modules if name.partition(".")[0] == "onnx"]
"""


@pytest.mark.parametrize("implementation", ["upb", "python"])
@pytest.mark.parametrize("program", [MESSAGES + ALONE + PACKAGE + COMPARE, PACKAGE + MESSAGES + COMPARE])
def test_classes_are_the_ones_of_the_package(program: str, implementation: str) -> None:
    environment = os.environ | {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": implementation}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


def test_models_cross_from_the_package_to_a_session_and_back() -> None:
    program = """
import whorl
model = whorl.InferenceSession
import onnx
text = '<ir_version: 10, opset_import: ["" : 21]> main (float x) => (float y) { y = Neg (x) }'
proto = onnx.parser.parse_model(text)
print(model(proto).run(None, {"x": 2.0})[0])
"""
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout == "-2.0\n"
