"""`whorl to-step`: what it writes and says."""

from onnx_text import model

STEP = model("main (float[2] x, float[2] h) => (float[2] y, float[2] h_next) { y = Add(x, h) h_next = Neg(y) }")


def test_step_of_a_loop_is_the_step(whorl, saved, tmp_path):
    loop, out = tmp_path / "loop.onnx", tmp_path / "step.onnx"
    assert not whorl("to-loop", saved(STEP), loop, "--carry", "h:h_next", "--scan", "x").code
    report = whorl("to-step", loop, out)
    assert (report.code, report.err) == (0, "")
    assert report.out.splitlines() == [
        "input    x: float32[2]",
        "input    h: float32[2]",
        "output   y: float32[2]",
        "output   h_next: float32[2]",
        "state    h becomes h_next",
        f"wrote {out}: 2 nodes, one step, {out.stat().st_size} bytes",
    ]
    again = tmp_path / "again.onnx"
    assert not whorl("to-loop", out, again, "--carry", "h:h_next", "--scan", "x").code
    assert again.read_bytes() == loop.read_bytes()


def test_model_without_a_loop_is_refused(whorl, saved, tmp_path):
    out = tmp_path / "step.onnx"
    report = whorl("to-step", saved(STEP), out)
    assert report.code == 6 and not out.exists()
    assert report.err == "whorl: the model has no loop outside of branches, so there is no step to take out of it\n"
