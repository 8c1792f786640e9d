"""Loops whose iterations do not depend on each other."""

from __future__ import annotations

from deloop.cases import TRIPS, YES, Case, integers, whole

MAPS = {
    "jax_map": Case("""main (float[n, 4] x, float[4] k) => (float[n, 4] y) {
    y = Scan (x) <num_scan_inputs = 1, body = each (float[4] v) => (float[4] w) {
        a = Mul(v, k) b = Tanh(a) w = Add(b, v)
    }>
}"""),
    "softmax_of_each_row": Case("""main (float[n, m] x) => (float[n, m] y) {
    y = Scan (x) <num_scan_inputs = 1, body = each (float[m] v) => (float[m] w) { w = Softmax<axis = -1>(v) }>
}"""),
    "torchscript_layer_norm_of_each_row": Case(f"""main (float[n, 4] x) => (float[n, 4] y) {{ {TRIPS} {YES}
    eps = Constant<value = float {{0.00001}}> ()
    y = Loop (trips, yes) <body = each (int64 i, bool g) => (bool h, float[4] w) {{
        h = Cast<to = 9>(g) v = Gather<axis = 0>(x, i)
        mean = ReduceMean<axes = [-1]>(v) d = Sub(v, mean) s = Mul(d, d) var = ReduceMean<axes = [-1]>(s)
        e = Add(var, eps) r = Sqrt(e) w = Div(d, r)
    }}>
}}"""),
    "weights_are_captured": Case(
        f"""main (float[n, 3] x, float[3, 5] k, float[5] b) => (float[n, 5] y) {{ {TRIPS} {YES}
    y = Loop (trips, yes) <body = each (int64 i, bool g) => (bool h, float[5] w) {{
        h = Identity(g) v = Gather(x, i) row = Unsqueeze(v, first) p = Gemm(row, k, b) w = Squeeze(p, first)
    }}>
}}""",
        tolerance=1e-4,
    ),
    "tf2onnx_map_fn": Case("""main (float[n, 3] x) => (float[n, 3] y) {
    shape = Shape(x) zero = Constant<value = int64 {0}> () one = Constant<value = int64 {1}> ()
    count = Gather(shape, zero) begins = Less(zero, count)
    most = Constant<value = int64 {9223372036854775807}> ()
    last, y = Loop (most, begins, zero) <body = each (int64 i, bool g, int64 k) => (bool h, int64 k1, float[3] w) {
        k1 = Add(k, one) v = Gather(x, k) w = Exp(v) h = Less(k1, count)
    }>
}"""),
    "convolution_of_each_image": Case(
        """main (float[n, 2, 5, 5] x, float[3, 2, 3, 3] k) => (float[n, 3, 3, 3] y) {
    first = Constant<value = int64[1] {0}> ()
    y = Scan (x) <num_scan_inputs = 1, body = each (float[2, 5, 5] v) => (float[3, 3, 3] w) {
        image = Unsqueeze(v, first) c = Conv(image, k) r = Relu(c) w = Squeeze(r, first)
    }>
}""",
        tolerance=1e-4,
    ),
    "branch_by_each_row": Case(f"""main (float[n, 4] x) => (float[n, 4] y) {{ {TRIPS} {YES}
    none = Constant<value = float {{0}}> ()
    y = Loop (trips, yes) <body = each (int64 i, bool g) => (bool h, float[4] w) {{
        h = Identity(g) v = Gather(x, i) s = ReduceSum<keepdims = 0>(v) c = Greater(s, none)
        w = If (c) <
            then_branch = a () => (float[4] p) {{ p = Exp(v) }},
            else_branch = b () => (float[4] q) {{ q = Neg(v) }}>
    }}>
}}"""),
    "sequence_map": Case(
        """main (float[n, 4] x) => (float[n, 4] y) {
    rows = SplitToSequence<axis = 0, keepdims = 1>(x)
    all = SequenceMap (rows) <body = each (float[1, 4] v) => (float[1, 4] w) { w = Sigmoid(v) }>
    y = ConcatFromSequence<axis = 0>(all)
}""",
        lengths=(1, 2, 7),
    ),
    "embedding_of_each_token": Case(
        f"""main (int64[n] x, float[9, 4] table) => (float[n, 4] y) {{ {TRIPS} {YES}
    y = Loop (trips, yes) <body = each (int64 i, bool g) => (bool h, float[4] w) {{
        h = Identity(g) token = Gather(x, i) e = Gather(table, token) w = Neg(e)
    }}>
}}""",
        draws={"x": integers(0, 9, "n")},
    ),
    "skl2onnx_cdist_squared": Case(
        """main (float[n, 3] x, float[m, 3] y) => (float[n, m] d) {
    back = Scan (y) <num_scan_inputs = 1, body = each (float[3] v) => (float[n] e) {
        a = Sub(x, v) e = ReduceSumSquare<axes = [1], keepdims = 0>(a)
    }>
    d = Transpose<perm = [1, 0]>(back)
}""",
        draws={"x": whole("n", 3), "y": whole("m", 3)},
    ),
    "skl2onnx_cdist_euclidean_nested": Case("""main (float[n, 3] x, float[m, 3] y) => (float[n, m] d) {
    d = Scan (x) <num_scan_inputs = 1, body = outer (float[3] u) => (float[m] row) {
        row = Scan (y) <num_scan_inputs = 1, body = inner (float[3] v) => (float e) {
            a = Sub(u, v) s = ReduceSumSquare<keepdims = 0>(a) e = Sqrt(s)
        }>
    }>
}"""),
    "skl2onnx_cdist_manhattan": Case("""main (float[n, 3] x, float[m, 3] y) => (float[n, m] d) {
    back = Scan (y) <num_scan_inputs = 1, body = each (float[3] v) => (float[n] e) {
        a = Sub(x, v) e = ReduceL1<axes = [1], keepdims = 0>(a)
    }>
    d = Transpose<perm = [1, 0]>(back)
}"""),
    "skl2onnx_cdist_minkowski": Case("""main (float[n, 3] x, float[m, 3] y) => (float[n, m] d) {
    p = Constant<value = float {3}> () q = Constant<value = float {0.333333}> ()
    axes = Constant<value = int64[1] {1}> ()
    back = Scan (y) <num_scan_inputs = 1, body = each (float[3] v) => (float[n] e) {
        a = Sub(x, v) b = Abs(a) c = Pow(b, p) s = ReduceSum<keepdims = 0>(c, axes) e = Pow(s, q)
    }>
    d = Transpose<perm = [1, 0]>(back)
}"""),
    "cdist_chebyshev": Case("""main (float[n, 3] x, float[m, 3] y) => (float[m, n] d) {
    d = Scan (y) <num_scan_inputs = 1, body = each (float[3] v) => (float[n] e) {
        a = Sub(x, v) b = Abs(a) e = ReduceMax<axes = [1], keepdims = 0>(b)
    }>
}"""),
    "cdist_cosine": Case(
        """main (float[n, 3] x, float[m, 3] y) => (float[m, n] d) {
    one = Constant<value = float {1}> ()
    norms = ReduceL2<axes = [1], keepdims = 0>(x)
    d = Scan (y) <num_scan_inputs = 1, body = each (float[3] v) => (float[n] e) {
        p = MatMul(x, v) s = ReduceL2<keepdims = 0>(v) f = Mul(norms, s) r = Div(p, f) e = Sub(one, r)
    }>
}""",
        tolerance=1e-4,
    ),
    "backwards": Case("""main (float[n, 4] x) => (float[n, 4] y) {
    y = Scan (x) <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
        body = each (float[4] v) => (float[4] w) { a = Relu(v) w = Mul(a, a) }>
}"""),
    "along_the_second_axis": Case("""main (float[3, n] x) => (float[2, n] y) {
    at = Constant<value = int64[2] {2, 0}> ()
    y = Scan (x) <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
        body = each (float[3] v) => (float[2] w) { a = Gather(v, at) w = Abs(a) }>
}"""),
    "bins_of_each_number": Case(f"""main (float[n] x, float[6] edges) => (int64[n] y) {{ {TRIPS} {YES}
    y = Loop (trips, yes) <body = each (int64 i, bool g) => (bool h, int64 w) {{
        h = Identity(g) v = Gather(x, i) c = LessOrEqual(edges, v) k = Cast<to = 7>(c) w = ReduceSum<keepdims = 0>(k)
    }}>
}}"""),
    "two_best_of_each_row": Case(f"""main (float[n, 5] x) => (float[n, 2] y, int64[n, 2] z) {{ {TRIPS} {YES}
    two = Constant<value = int64[1] {{2}}> ()
    y, z = Loop (trips, yes) <body = each (int64 i, bool g) => (bool h, float[2] best, int64[2] at) {{
        h = Identity(g) v = Gather(x, i) best, at = TopK(v, two)
    }}>
}}"""),
    "torchscript_assigns_rows": Case(f"""main (float[n, 4] x) => (float[n, 4] y) {{ {TRIPS} {YES}
    none = ConstantOfShape(shape)
    y = Loop (trips, yes, none) <body = each (int64 i, bool g, float[n, 4] s) => (bool h, float[n, 4] t) {{
        h = Identity(g) v = Gather(x, i) w = Exp(v)
        at = Unsqueeze(i, first) index = Unsqueeze(at, first) up = Unsqueeze(w, first)
        t = ScatterND(s, index, up)
    }}>
}}"""),
    "jax_at_set": Case(f"""main (float[n, 4] x, float[n, 4] y) => (float[n, 4] z) {{ {TRIPS} {YES}
    two = Constant<value = float {{2}}> ()
    z = Loop (trips, yes, y) <body = each (int64 i, bool g, float[n, 4] s) => (bool h, float[n, 4] t) {{
        h = Identity(g) v = Gather(x, i) w = Mul(v, two)
        at = Unsqueeze(i, first) up = Unsqueeze(w, first) index = Unsqueeze(at, next)
        t = ScatterND(s, index, up)
    }}>
}}"""),
    "jax_at_add_of_integers": Case(
        f"""main (int64[n] x, int64[6] counts) => (int64[6] z) {{ {TRIPS} {YES}
    z = Loop (trips, yes, counts) <body = each (int64 i, bool g, int64[6] s) => (bool h, int64[6] t) {{
        h = Identity(g) v = Gather(x, i) at = Unsqueeze(v, first) index = Unsqueeze(at, next)
        t = ScatterND<reduction = "add">(s, index, next)
    }}>
}}""",
        draws={"x": integers(0, 6, "n")},
    ),
    "boxes_of_each_class": Case("""main (float[3, n] scores) => (float[3, n] kept) {
    limit = Constant<value = float {0.2}> () none = Constant<value = float {0}> ()
    kept = Scan (scores) <num_scan_inputs = 1, body = each (float[n] s) => (float[n] k) {
        c = Greater(s, limit) k = Where(c, s, none)
    }>
}"""),
    "sliding_windows": Case(f"""main (float[n, 2] x) => (float[k, 3, 2] y) {{ {TRIPS} {YES}
    two = Constant<value = int64 {{2}}> () three = Constant<value = int64[1] {{3}}> ()
    zero = Constant<value = int64 {{0}}> () d = Sub(trips, two) count = Max(d, zero)
    y = Loop (count, yes) <body = each (int64 i, bool g) => (bool h, float[3, 2] w) {{
        h = Identity(g) start = Unsqueeze(i, first) end = Add(start, three) w = Slice(x, start, end, first)
    }}>
}}"""),
}
