"""Recurrent layers written as loops."""

from __future__ import annotations

from deloop.cases import TRIPS, YES, Case

RECURRENT = {
    "simple_rnn": Case(
        """main (float[n, m, 3] x, float[3, 5] w, float[5, 5] r, float[5] b, float[m, 5] h0) => (float[n, m, 5] y) {
    hn, y = Scan (h0, x) <num_scan_inputs = 1,
        body = each (float[m, 5] s, float[m, 3] v) => (float[m, 5] u, float[m, 5] o) {
        p = MatMul(v, w) q = MatMul(s, r) a = Add(p, q) z = Add(a, b) u = Tanh(z) o = Identity(u)
    }>
}""",
        tolerance=1e-4,
    ),
    "relu_rnn_of_gemms": Case(
        f"""main (float[n, m, 3] x, float[5, 3] w, float[5, 5] r, float[5] bw, float[5] br, float[m, 5] h0)
        => (float[m, 5] hn) {{ {TRIPS} {YES}
    hn = Loop (trips, yes, h0) <body = each (int64 i, bool g, float[m, 5] s) => (bool h, float[m, 5] u) {{
        h = Identity(g) v = Gather(x, i) p = Gemm<transB = 1>(v, w, bw) q = Gemm<transB = 1>(s, r, br)
        z = Add(p, q) u = Relu(z)
    }}>
}}""",
        tolerance=1e-4,
    ),
}
