"""`whorl.describe`: inputs, outputs, ops and the tree of control flow."""

import pytest
from onnx_text import ROLLOUT

import whorl


def test_description_of_a_model():
    described = whorl.describe(whorl.load(ROLLOUT))
    assert described["inputs"] == {"count": "int64[]", "table": "float32[12]"}
    assert described["outputs"] == {"total": "float32[]"} and described["defaults"] == []
    (loop,) = described["control_flow"]
    assert loop["trip_count"] == "value of count" and loop["captured"] == [{"name": "table", "type": "float32[12]"}]


def test_description_takes_what_load_takes(tmp_path):
    whorl.save(ROLLOUT, tmp_path / "rollout.onnx")
    whorl.save(ROLLOUT, tmp_path / "rollout.mlir")
    for source in (tmp_path / "rollout.onnx", str(tmp_path / "rollout.mlir"), ROLLOUT, ROLLOUT.SerializeToString()):
        assert whorl.describe(source)["control_flow"][0]["captured"][0]["type"] == "float32[12]"
    with pytest.raises(whorl.LoadError, match="no model can be read from int"):
        whorl.describe(3)
