"""`whorl deloop`: what it writes, and what it says of loops that stay."""

import re
import shlex

import onnx
import pytest
from onnx_text import ROLLOUT, model


def test_model_without_loops_is_written(whorl, saved, tmp_path):
    out = tmp_path / "flat.onnx"
    report = whorl("deloop", saved(ROLLOUT), out, "--input", "count=3")
    nodes = onnx.load(out).graph.node
    assert report.code == 0 and "Loop" not in {node.op_type for node in nodes}
    assert report.out.startswith(f"wrote {out}: ") and "no loop and no branch" in report.out


STEPS = model("""main (int64 count, float[2] x) => (float[2] y) {
    [steps] y = Loop (count, , x) <body = step (int64 i, bool g, float[2] s) => (bool h, float[2] t) {
        h = Identity(g)
        t = Exp(s)
    }>
}""")


def test_loop_that_remains_is_named_and_nothing_written(whorl, saved, tmp_path):
    out = tmp_path / "flat.onnx"
    report = whorl("deloop", saved(STEPS), out)
    assert report.code == 6 and not out.exists()
    assert report.err == (
        "whorl: control flow remains:\n"
        "  Loop 'steps': the number of its iterations is known only when it runs; "
        "not all iterations at once: carried value 's' has no closed form\n"
        "  fix: try --input count=8, in Python inputs={'count': 8}\n"
    )


LENGTHS = model("""main (float[T, 2] x, int64[1] n) => (float[T, 2] y) {
    shape = Shape<end = 1>(x)
    one = Constant<value = int64[1] {1}> ()
    steps = Sub(shape, one)
    [outer] y = Loop (steps, , x) <body = a (int64 i, bool g, float[T, 2] s) => (bool h, float[T, 2] t) {
        h = Identity(g)
        [inner] t = Loop (n, , s) <body = b (int64 j, bool p, float[T, 2] u) => (bool q, float[T, 2] v) {
            q = Identity(p)
            v = Exp(u)
        }>
    }>
}""")


@pytest.mark.parametrize("proto", [STEPS, LENGTHS], ids=["input", "length and input"])
def test_fix_of_the_error_removes_the_loops(whorl, saved, tmp_path, proto):
    command = "deloop", saved(proto), tmp_path / "flat.onnx"
    flags = re.search(r"fix: try (.*), in Python", whorl(*command).err)
    report = whorl(*command, *shlex.split(flags[1]))
    assert (report.code, report.err) == (0, "")


def test_fix_allows_as_many_iterations_as_there_are(whorl, saved, tmp_path):
    command = "deloop", saved(STEPS), tmp_path / "flat.onnx", "--input", "count=9", "--max-iterations", 4
    report = whorl(*command)
    assert report.err.endswith("  fix: try --max-iterations 9, in Python max_iterations=9\n")
    assert whorl(*command, "--max-iterations", 9).code == 0
