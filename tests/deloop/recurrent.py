"""Recurrent layers written as loops: cells of every kind, in both directions, with rows of their own lengths."""

from __future__ import annotations

import numpy as np

from deloop.cases import TRIPS, YES, Case, integers

CONSTANTS = """one = Constant<value = float {1}> ()
    axis = Constant<value = int64[1] {1}> () quarters = Constant<value = int64[4] {5, 5, 5, 5}> ()
    thirds = Constant<value = int64[3] {5, 5, 5}> ()"""
LSTM = """p = MatMul(v, w) q = MatMul(s, r) z = Add(p, q) a = Add(z, b)
        ai, af, ac, ao = Split<axis = 1>(a, quarters) ei = Sigmoid(ai) ef = Sigmoid(af) ec = Tanh(ac) eo = Sigmoid(ao)
        fc = Mul(ef, m0) ic = Mul(ei, ec) u1 = Add(fc, ic) tc = Tanh(u1) u = Mul(eo, tc)"""
"""Keras' order of gates; `s`, `m0` are h and c, `u`, `u1` what they become."""
ROWS = "float[n, m, 3] x, float[3, 20] w, float[5, 20] r, float[20] b"
GOES_ON = """go0 = Less(i, lengths) go = Unsqueeze(go0, axis)"""
RECURRENT = {
    "keras_lstm": Case(
        f"""main ({ROWS}, float[m, 5] h0, float[m, 5] c0) => (float[m, 5] hn, float[m, 5] cn, float[n, m, 5] y) {{
    {CONSTANTS}
    hn, cn, y = Scan (h0, c0, x) <num_scan_inputs = 1, body = each (float[m, 5] s, float[m, 5] m0, float[m, 3] v)
        => (float[m, 5] u, float[m, 5] u1, float[m, 5] o) {{ {LSTM} o = Identity(u) }}>
}}""",
        tolerance=1e-4,
    ),
    "tf2onnx_lstm_backwards": Case(
        f"""main ({ROWS}, float[m, 5] h0, float[m, 5] c0) => (float[m, 5] hn, float[m, 5] cn, float[n, m, 5] y) {{
    {CONSTANTS}
    hn, cn, y = Scan (h0, c0, x) <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
        body = each (float[m, 5] s, float[m, 5] m0, float[m, 3] v)
        => (float[m, 5] u, float[m, 5] u1, float[m, 5] o) {{ {LSTM} o = Identity(u) }}>
}}""",
        tolerance=1e-4,
    ),
    "bidirectional_lstm": Case(
        f"""main ({ROWS}, float[m, 5] h0, float[m, 5] c0) => (float[n, m, 10] y) {{
    {CONSTANTS}
    h1, c1, forth = Scan (h0, c0, x) <num_scan_inputs = 1,
        body = each (float[m, 5] s, float[m, 5] m0, float[m, 3] v)
        => (float[m, 5] u, float[m, 5] u1, float[m, 5] o) {{ {LSTM} o = Identity(u) }}>
    h2, c2, back = Scan (h0, c0, x) <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
        body = other (float[m, 5] s, float[m, 5] m0, float[m, 3] v)
        => (float[m, 5] u, float[m, 5] u1, float[m, 5] o) {{ {LSTM} o = Identity(u) }}>
    y = Concat<axis = 2>(forth, back)
}}""",
        tolerance=1e-4,
    ),
    "lstm_of_lengths": Case(
        f"""main ({ROWS}, float[m, 5] h0, float[m, 5] c0, int64[m] lengths)
        => (float[m, 5] hn, float[m, 5] cn, float[n, m, 5] y) {{ {TRIPS} {YES} {CONSTANTS}
    zero = Constant<value = float {{0}}> ()
    hn, cn, y = Loop (trips, yes, h0, c0) <body = each (int64 i, bool g, float[m, 5] s, float[m, 5] m0)
        => (bool h, float[m, 5] t, float[m, 5] t1, float[m, 5] o) {{
        h = Identity(g) v = Gather(x, i) {LSTM} {GOES_ON} t = Where(go, u, s) t1 = Where(go, u1, m0)
        o = Where(go, u, zero)
    }}>
}}""",
        draws={"lengths": integers(-1, 9, "m")},
        tolerance=1e-4,
    ),
    "stacked_lstm_in_one_loop": Case(
        f"""main ({ROWS}, float[5, 20] w2, float[m, 5] h0, float[m, 5] c0) => (float[n, m, 5] y) {{
    {CONSTANTS}
    h1, c1, h2, c2, y = Scan (h0, c0, h0, c0, x) <num_scan_inputs = 1,
        body = each (float[m, 5] s, float[m, 5] m0, float[m, 5] s2, float[m, 5] m2, float[m, 3] v)
        => (float[m, 5] u, float[m, 5] u1, float[m, 5] k, float[m, 5] k1, float[m, 5] o) {{ {LSTM}
        p2 = MatMul(u, w2) q2 = MatMul(s2, r) z2 = Add(p2, q2) a2 = Add(z2, b)
        bi, bf, bc, bo = Split<axis = 1>(a2, quarters) di = Sigmoid(bi) df = Sigmoid(bf) dc = Tanh(bc) d = Sigmoid(bo)
        fc2 = Mul(df, m2) ic2 = Mul(di, dc) k1 = Add(fc2, ic2) tc2 = Tanh(k1) k = Mul(d, tc2) o = Identity(k)
    }}>
}}""",
        tolerance=1e-4,
    ),
    "keras_gru_that_resets_after": Case(
        """main (float[n, m, 3] x, float[3, 15] w, float[5, 15] r, float[2, 15] b, float[m, 5] h0)
        => (float[m, 5] hn, float[n, m, 5] y) {
    one = Constant<value = float {1}> () axis = Constant<value = int64[1] {1}> ()
    thirds = Constant<value = int64[3] {5, 5, 5}> () first = Constant<value = int64 {0}> ()
    last = Constant<value = int64 {1}> () bw = Gather(b, first) br = Gather(b, last)
    hn, y = Scan (h0, x) <num_scan_inputs = 1,
        body = each (float[m, 5] s, float[m, 3] v) => (float[m, 5] u, float[m, 5] o) {
        p = MatMul(v, w) a = Add(p, bw) q = MatMul(s, r) c = Add(q, br)
        az, ar, an = Split<axis = 1>(a, thirds) cz, cr, cn = Split<axis = 1>(c, thirds)
        sz = Add(az, cz) z = Sigmoid(sz) sr = Add(ar, cr) e = Sigmoid(sr) far = Mul(e, cn) sn = Add(an, far)
        new = Tanh(sn) old = Mul(z, s) rest = Sub(one, z) part = Mul(rest, new) u = Add(old, part) o = Identity(u)
    }>
}""",
        tolerance=1e-4,
    ),
    "gru_that_resets_before_and_moves_towards_the_new": Case(
        f"""main (float[n, m, 3] x, float[3, 10] w, float[5, 10] r, float[3, 5] wn, float[5, 5] rn, float[m, 5] h0)
        => (float[m, 5] hn) {{ {TRIPS} {YES} pair = Constant<value = int64[2] {{5, 5}}> ()
    hn = Loop (trips, yes, h0) <body = each (int64 i, bool g, float[m, 5] s) => (bool h, float[m, 5] u) {{
        h = Identity(g) v = Gather(x, i) p = MatMul(v, w) q = MatMul(s, r) a = Add(p, q) both = Sigmoid(a)
        e, z = Split<axis = 1>(both, pair) reset = Mul(s, e) far = MatMul(reset, rn) near = MatMul(v, wn)
        sn = Add(near, far) new = Tanh(sn) way = Sub(new, s) part = Mul(z, way) u = Add(s, part)
    }}>
}}""",
        tolerance=1e-4,
    ),
    "gru_of_one_row_and_of_what_is_added": Case(
        """main (float[n, 15] x, float[5, 15] r, float[5] h0) => (float[5] hn, float[n, 5] y) {
    one = Constant<value = float {1}> () thirds = Constant<value = int64[3] {5, 5, 5}> ()
    hn, y = Scan (h0, x) <num_scan_inputs = 1, body = each (float[5] s, float[15] v) => (float[5] u, float[5] o) {
        c = MatMul(s, r) az, ar, an = Split<axis = 0>(v, thirds) cz, cr, cn = Split<axis = 0>(c, thirds)
        sz = Add(az, cz) z = Sigmoid(sz) sr = Add(ar, cr) e = Sigmoid(sr) far = Mul(e, cn) sn = Add(an, far)
        new = Tanh(sn) old = Mul(z, s) rest = Sub(one, z) part = Mul(rest, new) u = Add(old, part) o = Identity(u)
    }>
}""",
        tolerance=1e-4,
    ),
    "simple_rnn_of_lengths": Case(
        f"""main (float[n, m, 3] x, float[3, 5] w, float[5, 5] r, float[m, 5] h0, int32[m] lengths)
        => (float[m, 5] hn, float[n, m, 5] y) {{ {TRIPS} {YES} axis = Constant<value = int64[1] {{1}}> ()
    hn, y = Loop (trips, yes, h0) <body = each (int64 i, bool g, float[m, 5] s)
        => (bool h, float[m, 5] t, float[m, 5] o) {{
        h = Identity(g) v = Gather(x, i) p = MatMul(v, w) q = MatMul(s, r) a = Add(p, q) u = Tanh(a)
        number = Cast<to = 6>(i) over = GreaterOrEqual(number, lengths) ends = Unsqueeze(over, axis)
        t = Where(ends, s, u)
        o = Identity(t)
    }}>
}}""",
        draws={"lengths": integers(0, 9, "m", dtype=np.int32)},
        tolerance=1e-4,
    ),
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
