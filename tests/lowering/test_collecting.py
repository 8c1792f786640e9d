"""Why a loop has no form in a program: the reason names the loop, which need not be inside another one."""

import pytest
from onnx_text import model

import whorl

COLLECTED = """main (float[3, 4] x, int64 m) => (int64[a, b, c] ys) {
    [only] ys = Loop (m, "") <body = b (int64 i, bool g) => (bool h, int64[r, k] row) {
        h = Identity(g)
        row = NonZero(x)
    }>
}"""
SCANNED = """main (float[n, 2] x, float[m] z, float q) => (float y) {
    [only] y = Scan (q, x, z) <num_scan_inputs = 2, body = b (float s, float[2] a, float c) => (float h) {
        h = Add(s, c)
    }>
}"""


@pytest.mark.parametrize(
    ("text", "lengths", "reason"),
    [
        (COLLECTED, {}, "Loop 'only' collects elements whose lengths only the run knows"),
        (SCANNED, {"n": 3, "m": 4}, "the scanned inputs of Loop 'only' have different lengths"),
        (
            SCANNED,
            {},
            "the scanned inputs of Loop 'only' have different lengths\n  fix: fix lengths: --dim n=N --dim m=N",
        ),
    ],
    ids=["collected", "scanned", "scanned of open lengths"],
)
def test_reason_names_the_loop(tmp_path, text, lengths, reason):
    with pytest.raises(whorl.CompileError) as caught:
        whorl.compile(model(text), tmp_path / "m.o", dims=lengths)
    assert str(caught.value) == f"the model cannot be compiled ahead of time: {reason}"
