"""Loops that carry sums, extremes, masks, last values, tensors and sequences that grow."""

from __future__ import annotations

from deloop.cases import TRIPS, YES, Case, integers, whole

ZEROS = "zeros = Constant<value = float[3] {0, 0, 0}> ()"
REDUCTIONS = {
    "cumulative_sum": Case(f"""main (float[n, 3] x) => (float[3] t, float[n, 3] y) {{ {ZEROS}
    t, y = Scan (zeros, x) <num_scan_inputs = 1, body = add (float[3] s, float[3] v) => (float[3] u, float[3] w) {{
        u = Add(s, v) w = Identity(u)
    }}>
}}"""),
    "cumulative_sum_backwards": Case(f"""main (float[n, 3] x) => (float[3] t, float[n, 3] y) {{ {ZEROS}
    t, y = Scan (zeros, x) <num_scan_inputs = 1, scan_input_directions = [1], scan_output_directions = [1],
        body = add (float[3] s, float[3] v) => (float[3] u, float[3] w) {{ u = Add(s, v) w = Identity(s) }}>
}}"""),
    "dynamo_scan": Case(f"""main (float[n, 3] x) => (float[3] t, float[n, 3] y) {{ {ZEROS}
    two = Constant<value = float {{2}}> ()
    t, y = Scan (zeros, x) <num_scan_inputs = 1, body = add (float[3] s, float[3] v) => (float[3] u, float[3] w) {{
        u = Add(s, v) w = Mul(u, two)
    }}>
}}"""),
    "sum_under_a_condition": Case(f"""main (float[n, 3] x) => (float[3] t) {{ {TRIPS} {YES} {ZEROS}
    none = Constant<value = float {{0}}> ()
    t = Loop (trips, yes, zeros) <body = each (int64 i, bool g, float[3] s) => (bool h, float[3] u) {{
        h = Identity(g) v = Gather(x, i) m = ReduceSum<keepdims = 0>(v) c = Greater(m, none)
        u = If (c) <
            then_branch = a () => (float[3] p) {{ p = Add(s, v) }},
            else_branch = b () => (float[3] q) {{ q = Identity(s) }}>
    }}>
}}"""),
    "sum_or_last_row_by_a_flag": Case(f"""main (float[n, 3] x, bool flag) => (float[3] t, float[n, 3] y) {{ {TRIPS}
    {YES} {ZEROS}
    t, y = Loop (trips, yes, zeros) <body = each (int64 i, bool g, float[3] s) => (bool h, float[3] u, float[3] w) {{
        h = Identity(g) v = Gather(x, i)
        u = If (flag) <
            then_branch = a () => (float[3] p) {{ p = Add(s, v) }},
            else_branch = b () => (float[3] q) {{ q = Tanh(v) }}>
        w = Neg(u)
    }}>
}}"""),
    "running_mean": Case(f"""main (float[n, 3] x) => (float[n, 3] y) {{ {TRIPS} {YES} {ZEROS}
    one = Constant<value = int64 {{1}}> ()
    t, y = Loop (trips, yes, zeros) <body = each (int64 i, bool g, float[3] s) => (bool h, float[3] u, float[3] w) {{
        h = Identity(g) v = Gather(x, i) u = Add(s, v) k = Add(i, one) f = Cast<to = 1>(k) w = Div(u, f)
    }}>
}}"""),
    "largest_and_where": Case(f"""main (float[n] x) => (float t, int64 k) {{ {TRIPS} {YES}
    low = Constant<value = float {{-1000}}> () none = Constant<value = int64 {{-1}}> ()
    t, k = Loop (trips, yes, low, none) <body = each (int64 i, bool g, float s, int64 j)
        => (bool h, float u, int64 m) {{
        h = Identity(g) v = Gather(x, i) c = Greater(v, s) u = Where(c, v, s) m = Where(c, i, j)
    }}>
}}"""),
    "last_of_the_smallest_by_branches": Case(
        f"""main (int64[n] x) => (int64 t, int64 k) {{ {TRIPS} {YES}
    high = Constant<value = int64 {{1000}}> () none = Constant<value = int64 {{-1}}> ()
    t, k = Loop (trips, yes, high, none) <body = each (int64 i, bool g, int64 s, int64 j)
        => (bool h, int64 u, int64 m) {{
        h = Identity(g) v = Gather(x, i) c = LessOrEqual(v, s)
        u, m = If (c) <
            then_branch = a () => (int64 p, int64 pi) {{ p = Identity(v) pi = Identity(i) }},
            else_branch = b () => (int64 q, int64 qi) {{ q = Identity(s) qi = Identity(j) }}>
    }}>
}}""",
        draws={"x": integers(0, 4, "n")},
    ),
    "bounds_of_all_rows": Case(f"""main (float[n, 3] x) => (float[3] lo, float[3] hi) {{ {ZEROS}
    lo, hi = Scan (zeros, zeros, x) <num_scan_inputs = 1,
        body = each (float[3] a, float[3] b, float[3] v) => (float[3] c, float[3] d) {{ c = Min(a, v) d = Max(v, b) }}>
}}"""),
    "any_and_all": Case(f"""main (float[n] x) => (bool some, bool every, bool[n] so_far) {{ {TRIPS} {YES}
    no = Constant<value = bool {{0}}> () none = Constant<value = float {{0}}> ()
    some, every, so_far = Loop (trips, yes, no, yes) <body = each (int64 i, bool g, bool a, bool b)
        => (bool h, bool c, bool d, bool e) {{
        h = Identity(g) v = Gather(x, i) p = Greater(v, none) c = Or(a, p) d = And(b, p) e = Identity(c)
    }}>
}}"""),
    "count_of_matches": Case(
        f"""main (int64[n] x, int64 wanted) => (int64 count, int64[n] so_far) {{ {TRIPS} {YES}
    zero = Constant<value = int64 {{0}}> () one = Constant<value = int64 {{1}}> ()
    count, so_far = Loop (trips, yes, zero) <body = each (int64 i, bool g, int64 s) => (bool h, int64 t, int64 w) {{
        h = Identity(g) v = Gather(x, i) c = Equal(v, wanted) m = Add(s, one) t = Where(c, m, s) w = Identity(t)
    }}>
}}""",
        draws={"x": integers(0, 3, "n")},
    ),
    "product_of_integers": Case(
        """main (int64[n] x) => (int64 t) { one = Constant<value = int64 {1}> ()
    t = Scan (one, x) <num_scan_inputs = 1, body = each (int64 s, int64 v) => (int64 u) { u = Mul(s, v) }>
}""",
        draws={"x": integers(1, 4, "n")},
    ),
    "histogram": Case(
        f"""main (int64[n] x) => (int64[5] t) {{ {TRIPS} {YES}
    bins = Constant<value = int64[5] {{0, 1, 2, 3, 4}}> () none = Constant<value = int64[5] {{0, 0, 0, 0, 0}}> ()
    t = Loop (trips, yes, none) <body = each (int64 i, bool g, int64[5] s) => (bool h, int64[5] u) {{
        h = Identity(g) v = Gather(x, i) c = Equal(bins, v) k = Cast<to = 7>(c) u = Add(s, k)
    }}>
}}""",
        draws={"x": integers(0, 5, "n")},
    ),
    "sum_of_products": Case(
        """main (float[n, 3] x, float[n, 2] y) => (float[3, 2] t) {
    none = Constant<value = float[3, 2] {0, 0, 0, 0, 0, 0}> ()
    last = Constant<value = int64[1] {1}> () first = Constant<value = int64[1] {0}> ()
    t = Scan (none, x, y) <num_scan_inputs = 2,
        body = each (float[3, 2] s, float[3] a, float[2] b) => (float[3, 2] u) {
        column = Unsqueeze(a, last) row = Unsqueeze(b, first) p = MatMul(column, row) u = Add(s, p)
    }>
}""",
        draws={"x": whole("n", 3), "y": whole("n", 2)},
    ),
    "running_largest": Case("""main (float[n, 3] x, float[3] low) => (float[3] t, float[n, 3] y) {
    t, y = Scan (low, x) <num_scan_inputs = 1, body = each (float[3] s, float[3] v) => (float[3] u, float[3] w) {
        u = Max(s, v) w = Identity(u)
    }>
}"""),
    "running_smallest_before": Case(f"""main (float[n] x) => (float[n] y) {{ {TRIPS} {YES}
    high = Constant<value = float {{1000}}> ()
    t, y = Loop (trips, yes, high) <body = each (int64 i, bool g, float s) => (bool h, float u, float w) {{
        h = Identity(g) v = Gather(x, i) u = Min(s, v) w = Sub(v, s)
    }}>
}}"""),
    "largest_drop": Case(f"""main (float[n] x) => (float d) {{ {TRIPS} {YES}
    low = Constant<value = float {{-1000}}> () none = Constant<value = float {{0}}> ()
    t, d = Loop (trips, yes, low, none) <body = each (int64 i, bool g, float s, float b)
        => (bool h, float u, float c) {{
        h = Identity(g) v = Gather(x, i) u = Max(s, v) e = Sub(u, v) c = Max(b, e)
    }}>
}}"""),
    "differences_to_the_row_before": Case("""main (float[n, 3] x, float[3] start) => (float[3] t, float[n, 3] y) {
    t, y = Scan (start, x) <num_scan_inputs = 1, body = each (float[3] s, float[3] v) => (float[3] u, float[3] w) {
        w = Sub(v, s) u = Identity(v)
    }>
}"""),
    "last_valid_value": Case(f"""main (float[n] x) => (float[n] y) {{ {TRIPS} {YES}
    none = Constant<value = float {{0}}> ()
    t, y = Loop (trips, yes, none) <body = each (int64 i, bool g, float s) => (bool h, float u, float w) {{
        h = Identity(g) v = Gather(x, i) c = Greater(v, none) u = Where(c, v, s) w = Identity(u)
    }}>
}}"""),
    "torchscript_append_and_stack": Case(
        f"""main (float[n, 3] x) => (float[n, 3] y) {{ {TRIPS} {YES}
    none = SequenceEmpty<dtype = 1>()
    all = Loop (trips, yes, none) <body = each (int64 i, bool g, seq(float[3]) s) => (bool h, seq(float[3]) t) {{
        h = Cast<to = 9>(g) v = Gather<axis = 0>(x, i) w = Sin(v) t = SequenceInsert(s, w)
    }}>
    y = ConcatFromSequence<axis = 0, new_axis = 1>(all)
}}""",
        lengths=(1, 2, 7),
    ),
    "torchscript_append_and_concatenate": Case(
        f"""main (float[n, 3] x) => (float[m, 3] y) {{ {TRIPS} {YES}
    none = SequenceEmpty<dtype = 1>()
    all = Loop (trips, yes, none) <body = each (int64 i, bool g, seq(float[2, 3]) s) => (bool h, seq(float[2, 3]) t) {{
        h = Cast<to = 9>(g) v = Gather<axis = 0>(x, i) a = Unsqueeze(v, first) b = Neg(a) w = Concat<axis = 0>(a, b)
        t = SequenceInsert(s, w)
    }}>
    y = ConcatFromSequence<axis = 0>(all)
}}""",
        lengths=(1, 2, 7),
    ),
    "loop_over_chunks": Case(
        """main (float[n, 3] x) => (float[n, 3] y) {
    chunks = SplitToSequence<axis = 0, keepdims = 1>(x) count = SequenceLength(chunks) none = SequenceEmpty()
    all = Loop (count, , none) <body = each (int64 i, bool g, seq(float[1, 3]) s) => (bool h, seq(float[1, 3]) t) {
        h = Identity(g) v = SequenceAt(chunks, i) w = Exp(v) t = SequenceInsert(s, w)
    }>
    y = ConcatFromSequence<axis = 0>(all)
}""",
        lengths=(1, 2, 7),
    ),
    "concatenation_in_a_loop": Case(f"""main (float[n, 3] x, float[1, 3] start) => (float[m, 3] y) {{ {TRIPS} {YES}
    y = Loop (trips, yes, start) <body = each (int64 i, bool g, float[k, 3] s) => (bool h, float[l, 3] t) {{
        h = Identity(g) v = Gather(x, i) w = Unsqueeze(v, first) t = Concat<axis = 0>(s, w)
    }}>
}}"""),
    "ctc_collapse": Case(
        f"""main (int64[n] x) => (int64[k] y) {{ {TRIPS} {YES}
    blank = Constant<value = int64 {{0}}> () none = Constant<value = int64 {{-1}}> ()
    e = Constant<value = int64[0] {{}}> ()
    last, y = Loop (trips, yes, none, e) <body = each (int64 i, bool g, int64 before, int64[q] all)
        => (bool h, int64 now, int64[r] more) {{
        h = Identity(g) v = Gather(x, i) now = Identity(v) a = Equal(v, before) b = Equal(v, blank) skip = Or(a, b)
        more = If (skip) <
            then_branch = same () => (int64[q2] o) {{ o = Identity(all) }},
            else_branch = other () => (int64[q3] p) {{ w = Unsqueeze(v, first) p = Concat<axis = 0>(all, w) }}>
    }}>
}}""",
        draws={"x": integers(0, 3, "n")},
    ),
    "ctc_greedy_of_scores": Case(f"""main (float[n, 4] x) => (int64[k] y) {{ {TRIPS} {YES}
    blank = Constant<value = int64 {{0}}> () e = Constant<value = int64[0] {{}}> ()
    last, y = Loop (trips, yes, blank, e) <body = each (int64 i, bool g, int64 before, int64[q] all)
        => (bool h, int64 now, int64[r] more) {{
        h = Identity(g) row = Gather(x, i) now = ArgMax<keepdims = 0>(row) a = Equal(now, before) b = Equal(now, blank)
        skip = Or(a, b) keep = Not(skip)
        more = If (keep) <
            then_branch = other () => (int64[q3] p) {{ w = Unsqueeze(now, first) p = Concat<axis = 0>(all, w) }},
            else_branch = same () => (int64[q2] o) {{ o = Identity(all) }}>
    }}>
}}"""),
    "moving_average": Case(
        """main (float[n, 3] x, float[3] start) => (float[3] t, float[n, 3] y) {
    keep = Constant<value = float {0.9}> () take = Constant<value = float {0.1}> ()
    t, y = Scan (start, x) <num_scan_inputs = 1, body = each (float[3] s, float[3] v) => (float[3] u, float[3] w) {
        a = Mul(s, keep) b = Mul(v, take) u = Add(a, b) w = Identity(u)
    }>
}""",
        options={"target": "onnxruntime"},
        tolerance=1e-4,
    ),
    "torchscript_decay": Case(
        f"""main (float[n, 4] x) => (float[4] t) {{ {TRIPS} {YES}
    zeros = Constant<value = float[4] {{0, 0, 0, 0}}> () half = Constant<value = float {{0.5}}> ()
    t = Loop (trips, yes, zeros) <body = each (int64 i, bool g, float[4] s) => (bool h, float[4] u) {{
        h = Cast<to = 9>(g) d = Mul(s, half) v = Gather(x, i) u = Add(d, v)
    }}>
}}""",
        options={"target": "onnxruntime"},
        tolerance=1e-4,
    ),
    "selective_state_space": Case(
        """main (float[n, 4] x, float[n, 4] gate, float[4, 2] b) => (float[n, 4] y) {
    none = Constant<value = float[4, 2] {0, 0, 0, 0, 0, 0, 0, 0}> () last = Constant<value = int64[1] {1}> ()
    t, y = Scan (none, x, gate) <num_scan_inputs = 2,
        body = each (float[4, 2] s, float[4] v, float[4] z) => (float[4, 2] u, float[4] w) {
        a = Sigmoid(z) c = Unsqueeze(a, last) d = Mul(c, s) e = Unsqueeze(v, last) f = Mul(e, b) u = Add(d, f)
        w = ReduceSum<keepdims = 0>(u, last)
    }>
}""",
        options={"target": "onnxruntime"},
        tolerance=1e-4,
    ),
}
