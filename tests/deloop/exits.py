"""Loops that end before their trip count, and copies of bodies under conditions."""

from __future__ import annotations

from deloop.cases import TRIPS, YES, Case, integers

FOREVER = "most = Constant<value = int64 {9223372036854775807}> ()"
NUMBERS = (
    "zero = Constant<value = int64 {0}> () one = Constant<value = int64 {1}> () two = Constant<value = int64 {2}> ()"
)
EXITS = {
    "torchscript_while_with_step": Case(f"""main (float[n] x) => (float[1] t) {{ {TRIPS} {FOREVER} {NUMBERS}
    begins = Less(zero, trips) none = Constant<value = float[1] {{0}}> ()
    t, k = Loop (most, begins, none, zero) <body = each (int64 i, bool g, float[1] s, int64 k)
        => (bool h, float[1] u, int64 k2) {{
        v = Gather<axis = 0>(x, k) f = Cast<to = 1>(k) w = Mul(v, f) u = Add(s, w) k2 = Add(k, two) c = Less(k2, trips)
        h = Cast<to = 9>(c)
    }}>
}}"""),
    "tf2onnx_while_counts_down": Case(f"""main (float[n, 3] x) => (float[3] t, float[n, 3] y) {{ {TRIPS} {NUMBERS}
    none = Constant<value = float[3] {{0, 0, 0}}> () begins = Greater(trips, zero)
    t, k, y = Loop ("", begins, none, trips) <body = each (int64 i, bool g, float[3] s, int64 k)
        => (bool h, float[3] u, int64 k1, float[3] w) {{
        k1 = Sub(k, one) v = Gather(x, k1) u = Add(s, v) w = Identity(u) h = Greater(k1, zero)
    }}>
}}"""),
    "jax_while_below_a_limit": Case(
        f"""main (float[4] x, int64 limit) => (float[4] t, int64 k) {{ {FOREVER} {NUMBERS}
    begins = Less(zero, limit)
    t, k = Loop (most, begins, x, zero) <body = each (int64 i, bool g, float[4] s, int64 k)
        => (bool h, float[4] u, int64 k1) {{
        f = Cast<to = 1>(k) u = Add(s, f) k1 = Add(k, one) h = Less(k1, limit)
    }}>
}}""",
        draws={"limit": integers(-1, 9)},
    ),
    "torchscript_break": Case(
        f"""main (float[n, 4] x) => (float[4] t) {{ {TRIPS} {YES}
    zeros = Constant<value = float[4] {{0, 0, 0, 0}}> () low = Constant<value = float {{-0.5}}> ()
    zero = Constant<value = int64 {{0}}> ()
    t = Loop (trips, yes, zeros) <body = each (int64 i, bool g, float[4] s) => (bool h, float[4] u) {{
        v = Gather(x, i) a = Gather(v, zero) c = Less(a, low)
        h, u = If (c) <
            then_branch = stop () => (bool p, float[4] ps) {{ p = Constant<value_int = 0> () p2 = Cast<to = 9>(p)
                ps = Identity(s) }},
            else_branch = go () => (bool q, float[4] qs) {{ q = Constant<value = bool {{1}}> () qs = Add(s, v) }}>
    }}>
}}""".replace(
            "(bool p, float[4] ps) { p = Constant<value_int = 0> () p2 = Cast<to = 9>(p)",
            "(bool p, float[4] ps) { p = Constant<value = bool {0}> ()",
        )
    ),
    "first_above_a_limit": Case(f"""main (float[n] x, float limit) => (int64 k, float[k2] seen) {{ {TRIPS} {YES}
    none = Constant<value = int64 {{-1}}> ()
    k, seen = Loop (trips, yes, none) <body = each (int64 i, bool g, int64 j) => (bool h, int64 m, float w) {{
        w = Gather(x, i) h = LessOrEqual(w, limit) m = Identity(i)
    }}>
}}"""),
    "running_total_below_a_limit": Case(
        f"""main (int64[n] x, int64 limit) => (int64 t, int64[k] seen) {{ {TRIPS} {YES}
    zero = Constant<value = int64 {{0}}> ()
    t, seen = Loop (trips, yes, zero) <body = each (int64 i, bool g, int64 s) => (bool h, int64 u, int64 w) {{
        v = Gather(x, i) u = Add(s, v) w = Identity(u) h = Less(u, limit)
    }}>
}}""",
        draws={"limit": integers(0, 9)},
    ),
    "greedy_decoder_until_the_end": Case(
        """main (float[9, n] table, float[n, 9] head, int64 start) => (int64[k] tokens) {
    most = Constant<value = int64 {6}> () yes = Constant<value = bool {1}> () stop = Constant<value = int64 {0}> ()
    last, tokens = Loop (most, yes, start) <body = each (int64 i, bool g, int64 token)
        => (bool h, int64 next, int64 w) {
        e = Gather(table, token) a = Tanh(e) logits = MatMul(a, head) next = ArgMax<keepdims = 0>(logits)
        w = Identity(next) same = Equal(next, stop) h = Not(same)
    }>
}""",
        draws={"start": integers(0, 9)},
    ),
    "decoder_of_a_table": Case(
        """main (int64[n] follows, int64 start) => (int64[k] tokens) {
    most = Constant<value = int64 {5}> () yes = Constant<value = bool {1}> () stop = Constant<value = int64 {0}> ()
    last, tokens = Loop (most, yes, start) <body = each (int64 i, bool g, int64 token)
        => (bool h, int64 next, int64 w) {
        next = Gather(follows, token) w = Identity(next) c = Less(stop, next) h = Identity(c)
    }>
}""",
        draws={"start": integers(0, 1), "follows": integers(0, 1, "n")},
        lengths=(1, 2, 7),
    ),
    "binary_search": Case("""main (float[1024] x, float[n] wanted) => (int64[n] at) {
    most = Constant<value = int64 {10}> () yes = Constant<value = bool {1}> () shape = Shape(wanted)
    two = Constant<value = int64 {2}> () lo0 = ConstantOfShape<value = int64[1] {0}>(shape)
    hi0 = ConstantOfShape<value = int64[1] {1023}>(shape)
    at, hi = Loop (most, yes, lo0, hi0) <body = each (int64 i, bool g, int64[n] lo, int64[n] hi)
        => (bool h, int64[n] lo2, int64[n] hi2) {
        h = Identity(g) s = Add(lo, hi) mid = Div(s, two) v = Gather(x, mid) c = Less(v, wanted)
        lo2 = Where(c, mid, lo) hi2 = Where(c, hi, mid)
    }>
}"""),
    "newton_steps": Case("""main (float[n] x) => (float[n] root) {
    most = Constant<value = int64 {5}> () yes = Constant<value = bool {1}> () half = Constant<value = float {0.5}> ()
    one = Constant<value = float {1}> () square = Mul(x, x) start = Add(square, one)
    root = Loop (most, yes, start) <body = each (int64 i, bool g, float[n] r) => (bool h, float[n] q) {
        h = Identity(g) a = Div(start, r) b = Add(r, a) q = Mul(b, half)
    }>
}"""),
    "power_iteration": Case(
        """main (float[n, n] x, float[n] start) => (float[n] v) {
    most = Constant<value = int64 {4}> () yes = Constant<value = bool {1}> () one = Constant<value = float {1}> ()
    v = Loop (most, yes, start) <body = each (int64 i, bool g, float[n] s) => (bool h, float[n] t) {
        h = Identity(g) a = MatMul(x, s) b = ReduceL2<keepdims = 0>(a) c = Add(b, one) t = Div(a, c)
    }>
}""",
        tolerance=1e-4,
        lengths=(1, 2, 7),
    ),
    "beam_search": Case(
        """main (int64[n, 1] start, float[9, 9] logits) => (int64[3, k] tokens, float[3] best) {
    most = Constant<value = int64 {3}> () yes = Constant<value = bool {1}> () nine = Constant<value = int64 {9}> ()
    three = Constant<value = int64[1] {3}> () minus = Constant<value = int64 {-1}> ()
    flat = Constant<value = int64[1] {-1}> () last = Constant<value = int64[1] {1}> ()
    first = Constant<value = int64[1] {0}> () shape = Shape(start) rows = Slice(shape, first, last)
    none = ConstantOfShape(rows)
    tokens, best = Loop (most, yes, start, none) <body = each (int64 i, bool g, int64[p, q] seq, float[p] score)
        => (bool h, int64[p2, q2] more, float[p2] top) {
        h = Identity(g) token = Gather<axis = 1>(seq, minus) row = Gather(logits, token) col = Unsqueeze(score, last)
        a = Add(col, row) all = Reshape(a, flat) top, at = TopK(all, three) from = Div(at, nine) next = Mod(at, nine)
        kept = Gather(seq, from) new = Unsqueeze(next, last) more = Concat<axis = 1>(kept, new)
    }>
}""",
        draws={"start": integers(0, 9, "n", 1)},
        lengths=(1, 2, 7),
    ),
    "branch_of_equal_shapes": Case("""main (float[n, 4] x) => (float[n, 4] y) {
    none = Constant<value = float {0}> () s = ReduceSum<keepdims = 0>(x) c = Greater(s, none)
    y = If (c) <
        then_branch = a () => (float[n, 4] p) { p = Exp(x) },
        else_branch = b () => (float[n, 4] q) { m = Neg(x) q = Tanh(m) }>
}"""),
    "branches_of_two_lengths": Case("""main (float[n, 4] x, bool twice) => (float[k, 4] y) {
    y = If (twice) <
        then_branch = a () => (float[k1, 4] p) { p = Concat<axis = 0>(x, x) },
        else_branch = b () => (float[k2, 4] q) { q = Neg(x) }>
}"""),
    "guarded_gather": Case(
        """main (float[n, 4] x, int64 k) => (float[4] y) {
    shape = Shape<start = 0, end = 1>(x) first = Constant<value = int64[1] {0}> () length = Squeeze(shape, first)
    zeros = Constant<value = float[4] {0, 0, 0, 0}> () c = Less(k, length)
    y = If (c) <
        then_branch = a () => (float[4] p) { p = Gather(x, k) },
        else_branch = b () => (float[4] q) { q = Identity(zeros) }>
}""",
        draws={"k": integers(0, 9)},
    ),
    "guarded_division": Case(
        """main (int64[n] x, int64 k) => (int64[n] y) {
    zero = Constant<value = int64 {0}> () c = Equal(k, zero)
    y = If (c) <
        then_branch = a () => (int64[n] p) { p = Identity(x) },
        else_branch = b () => (int64[n] q) { q = Div(x, k) }>
}""",
        draws={"k": integers(0, 3)},
    ),
    "first_row_if_there_is_one": Case("""main (float[n, 4] x) => (float[4] y) {
    shape = Shape<start = 0, end = 1>(x) first = Constant<value = int64[1] {0}> () length = Squeeze(shape, first)
    zero = Constant<value = int64 {0}> () zeros = Constant<value = float[4] {0, 0, 0, 0}> () c = Less(zero, length)
    y = If (c) <
        then_branch = a () => (float[4] p) { p = Gather(x, zero) },
        else_branch = b () => (float[4] q) { q = Identity(zeros) }>
}"""),
    "branch_in_a_branch": Case(
        """main (float[n, 4] x) => (float[n, 4] y) {
    none = Constant<value = float {0}> () s = ReduceSum<keepdims = 0>(x) c = Greater(s, none)
    l = ReduceMax<keepdims = 0>(x) y = If (c) <
        then_branch = a () => (float[n, 4] p) {
            one = Constant<value = float {1}> () d = Greater(s, one)
            p = If (d) <
                then_branch = aa () => (float[n, 4] pp) { pp = Sub(x, one) },
                else_branch = ab () => (float[n, 4] pq) { pq = Sin(x) }>
        },
        else_branch = b () => (float[n, 4] q) { q = Mul(x, s) }>
}""",
        lengths=(1, 2, 7),
    ),
    "bounded_descent": Case("""main (float[n] x) => (float[n] y) {
    most = Constant<value = int64 {8}> () yes = Constant<value = bool {1}> () one = Constant<value = float {1}> ()
    f = Constant<value = float {0.7}> ()
    y = Loop (most, yes, x) <body = each (int64 i, bool g, float[n] s) => (bool h, float[n] t) {
        t = Mul(s, f) a = Abs(t) b = ReduceSum<keepdims = 0>(a) h = Greater(b, one)
    }>
}"""),
}
