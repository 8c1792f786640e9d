"""`whorl deloop`: what it writes, and what it says of loops that stay."""

import onnx
from onnx_text import ROLLOUT


def test_model_without_loops_is_written(whorl, saved, tmp_path):
    out = tmp_path / "flat.onnx"
    told = whorl("deloop", saved(ROLLOUT), out, "--input", "count=3")
    nodes = onnx.load(out).graph.node
    assert told.code == 0 and "Loop" not in {node.op_type for node in nodes}
    assert told.out.startswith(f"wrote {out}: ") and "no loop and no branch" in told.out


def test_loop_that_stays_is_named_and_nothing_written(whorl, saved, tmp_path):
    out = tmp_path / "flat.onnx"
    told = whorl("deloop", saved(ROLLOUT), out)
    assert told.code == 6 and not out.exists()
    assert "Loop 'rollout': the number of its iterations is known only when it runs" in told.err
