"""Models whose loop or branch has to stay: the reason, and the option that lets it go."""

from __future__ import annotations

from deloop.cases import TRIPS, YES, Case

FOREVER = "most = Constant<value = int64 {9223372036854775807}> ()"
LOGISTIC = "a = Sub(one, s) b = Mul(s, a) u = Mul(b, rate)"
CONSTANTS = "one = Constant<value = float {1}> () rate = Constant<value = float {3.7}> ()"
REMAINING = {
    "torchscript_while_over_a_tensor": Case(
        f"""main (float[n, 4] x) => (float[n, 4] y) {{ {FOREVER}
    limit = Constant<value = float {{0.5}}> () f = Constant<value = float {{0.8}}> ()
    a0 = Abs(x) m0 = ReduceMax<keepdims = 0>(a0) begins = Greater(m0, limit)
    y = Loop (most, begins, x) <body = each (int64 i, bool g, float[n, 4] s) => (bool h, float[n, 4] u) {{
        u = Mul(s, f) a = Abs(u) m = ReduceMax<keepdims = 0>(a) h = Greater(m, limit)
    }}>
}}""",
        reason=(
            "Loop 'y': the number of its iterations is known only when it runs; not all iterations at once: "
            "its body may end it: nothing else bounds it"
        ),
        fix=("try --bound y=64, in Python bounds={'y': 64}"),
        options={"bounds": {"y": 64}},
    ),
    "jax_while_of_a_tolerance": Case(
        f"""main (float x) => (float y) {{ {CONSTANTS}
    tiny = Constant<value = float {{0.001}}> () yes = Constant<value = bool {{1}}> ()
    y = Loop ("", yes, x) <body = each (int64 i, bool g, float s) => (bool h, float u) {{
        u = Cos(s) d = Sub(u, s) a = Abs(d) h = Greater(a, tiny)
    }}>
}}""",
        reason=(
            "Loop 'y': the number of its iterations is known only when it runs; not all iterations at once: "
            "its body may end it: nothing else bounds it"
        ),
        fix=("try --bound y=64, in Python bounds={'y': 64}"),
        options={"bounds": {"y": 64}},
    ),
    "collatz": Case(
        """main (int64 x) => (int64 steps) {
    one = Constant<value = int64 {1}> () two = Constant<value = int64 {2}> () three = Constant<value = int64 {3}> ()
    zero = Constant<value = int64 {0}> () begins = Greater(x, one)
    last, steps = Loop ("", begins, x, zero) <body = each (int64 i, bool g, int64 s, int64 k)
        => (bool h, int64 t, int64 k1) {
        half = Div(s, two) m = Mul(s, three) up = Add(m, one) r = Mod(s, two) odd = Equal(r, one)
        t = Where(odd, up, half) k1 = Add(k, one) h = Greater(t, one)
    }>
}""",
        reason=(
            "Loop 'last': the number of its iterations is known only when it runs; not all iterations at "
            "once: its body may end it: nothing else bounds it"
        ),
        fix=("try --bound last=64, in Python bounds={'last': 64}"),
        options={"bounds": {"last": 64}},
    ),
    "logistic_map_over_an_open_length": Case(
        f"""main (float[n] x, float start) => (float t, float[n] y) {{ {CONSTANTS}
    t, y = Scan (start, x) <num_scan_inputs = 1, body = each (float s, float v) => (float w, float o) {{
        {LOGISTIC} w = Add(u, v) o = Identity(w)
    }}>
}}""",
        reason=(
            "Loop 't': the number of its iterations is known only when it runs; not all iterations at once: "
            "carried value 's' has no closed form"
        ),
        fix=("try --dim n=8, in Python dims={'n': 8}"),
        options={"dims": {"n": 8}},
    ),
    "logistic_map_of_a_count": Case(
        f"""main (float start, int64 count) => (float t) {{ {CONSTANTS} {YES}
    t = Loop (count, yes, start) <body = each (int64 i, bool g, float s) => (bool h, float u) {{
        h = Identity(g) {LOGISTIC}
    }}>
}}""",
        reason=(
            "Loop 't': the number of its iterations is known only when it runs; not all iterations at once: "
            "carried value 's' has no closed form"
        ),
        fix=("try --input count=8, in Python inputs={'count': 8}"),
        options={"inputs": {"count": 8}},
    ),
    "logistic_map_of_a_thousand": Case(
        f"""main (float start) => (float t) {{ {CONSTANTS} {YES}
    count = Constant<value = int64 {{1000}}> ()
    t = Loop (count, yes, start) <body = each (int64 i, bool g, float s) => (bool h, float u) {{
        h = Identity(g) {LOGISTIC}
    }}>
}}""",
        reason=(
            "Loop 't': it may run 1000 times, more than 256; not all iterations at once: carried value 's' "
            "has no closed form"
        ),
        fix=("try --max-iterations 1000, in Python max_iterations=1000"),
        options={"max_iterations": 1000},
    ),
    "viterbi": Case(
        """main (float[n, 5] x, float[5, 5] moves, float[5] start) => (float[5] best, int64[n, 5] origins) {
    last = Constant<value = int64[1] {1}> ()
    best, origins = Scan (start, x) <num_scan_inputs = 1,
        body = each (float[5] s, float[5] v) => (float[5] t, int64[5] from) {
        column = Unsqueeze(s, last) a = Add(column, moves) m = ReduceMax<axes = [0], keepdims = 0>(a)
        from = ArgMax<axis = 0, keepdims = 0>(a) t = Add(m, v)
    }>
}""",
        reason=(
            "Loop 'best': the number of its iterations is known only when it runs; not all iterations at "
            "once: carried value 's' has no closed form"
        ),
        fix=("try --dim n=8, in Python dims={'n': 8}"),
        options={"dims": {"n": 8}},
    ),
    "attention_to_a_growing_cache": Case(
        f"""main (float[n, 4] x, float[1, 4] start) => (float[k, 4] y) {{ {TRIPS} {YES}
    y = Loop (trips, yes, start) <body = each (int64 i, bool g, float[p, 4] cache) => (bool h, float[q, 4] more) {{
        h = Identity(g) v = Gather(x, i) scores = MatMul(cache, v) weights = Softmax<axis = 0>(scores)
        new = MatMul(weights, cache) row = Unsqueeze(new, first) more = Concat<axis = 0>(cache, row)
    }}>
}}""",
        reason=(
            "Loop 'y': the number of its iterations is known only when it runs; not all iterations at once: "
            "carried value 'cache' has no closed form"
        ),
        fix=("try --dim n=8, in Python dims={'n': 8}"),
        options={"dims": {"n": 8}},
    ),
    "noise_of_each_row": Case(
        """main (float[n, 4] x) => (float[n, 4] y) {
    y = Scan (x) <num_scan_inputs = 1, body = each (float[4] v) => (float[4] w) {
        r = RandomNormalLike(v) w = Add(v, r)
    }>
}""",
        reason=(
            "Loop 'y': the number of its iterations is known only when it runs; not all iterations at once: "
            "RandomNormalLike 'r' is random, and would draw for all rows at once"
        ),
        fix=("try --dim n=8, in Python dims={'n': 8}"),
        options={"dims": {"n": 8}},
    ),
    "seeded_noise_of_three_copies": Case(
        f"""main (float[4] x) => (float[4] y) {{ {YES}
    count = Constant<value = int64 {{3}}> ()
    y = Loop (count, yes, x) <body = each (int64 i, bool g, float[4] s) => (bool h, float[4] t) {{
        h = Identity(g) r = RandomNormalLike<seed = 1.0>(s) t = Add(s, r)
    }}>
}}""",
        reason=(
            "Loop 'y': RandomNormalLike 'r' draws from a seed, and copies of it would all draw the same; not"
            " all iterations at once: carried value 's' has no closed form"
        ),
        fix=("no option removes it: change the model, or choose a runtime with control flow"),
    ),
    "dropout_in_a_branch": Case(
        """main (float[4] x, bool training) => (float[4] y) {
    y = If (training) <
        then_branch = a () => (float[4] p) { r = RandomUniformLike(x) p = Mul(x, r) },
        else_branch = b () => (float[4] q) { q = Identity(x) }>
}""",
        reason=("If 'y': RandomUniformLike 'r' is random, and would draw where it did not"),
        fix=("try --input training=True, in Python inputs={'training': True}"),
    ),
    "sums_of_the_rows_so_far": Case(
        f"""main (float[n, 4] x) => (float[n, 4] y) {{ {TRIPS} {YES}
    y = Loop (trips, yes) <body = each (int64 i, bool g) => (bool h, float[4] w) {{
        h = Identity(g) a = Unsqueeze(i, first) end = Add(a, next) s = Slice(x, first, end, first)
        w = ReduceSum<keepdims = 0>(s, first)
    }}>
}}""",
        reason=(
            "Loop 'y': the number of its iterations is known only when it runs; not all iterations at once: "
            "Slice 's': rows are slices of different lengths"
        ),
        fix=("try --dim n=8, in Python dims={'n': 8}"),
        options={"dims": {"n": 8}},
    ),
    "parts_of_different_lengths": Case(
        """main (float[n, 4] x) => (float[1, 4] t) {
    two = Constant<value = int64 {2}> () parts = SplitToSequence<axis = 0>(x, two) count = SequenceLength(parts)
    none = Constant<value = float[1, 4] {0, 0, 0, 0}> () yes = Constant<value = bool {1}> ()
    axes = Constant<value = int64[1] {0}> ()
    t = Loop (count, yes, none) <body = each (int64 i, bool g, float[1, 4] s) => (bool h, float[1, 4] u) {
        h = Identity(g) v = SequenceAt(parts, i) w = ReduceSum<keepdims = 1>(v, axes) u = Add(s, w)
    }>
}""",
        reason=(
            "Loop 't': the number of its iterations is known only when it runs; not all iterations at once: "
            "SequenceAt 'v': the tensors of the sequence may differ in shape"
        ),
        fix=("try --dim n=8, in Python dims={'n': 8}"),
        options={"dims": {"n": 8}},
    ),
    "branches_of_two_ranks": Case(
        """main (float[n, 4] x, bool sums) => (float y) {
    first = Constant<value = int64[1] {0}> ()
    r = If (sums) <
        then_branch = a () => (float[4] p) { p = ReduceSum<keepdims = 0>(x, first) },
        else_branch = b () => (float[n, 4] q) { q = Neg(x) }>
    y = ReduceSum<keepdims = 0>(r)
}""",
        reason=("If 'r': output 0 is float32[4] or float32[n, 4]"),
        fix=("try --input sums=True, in Python inputs={'sums': True}"),
    ),
    "scanned_inputs_that_may_differ": Case(
        """main (float[n] x, float[m] y) => (float[n] z) {
    z = Scan (x, y) <num_scan_inputs = 2, body = each (float v, float w) => (float u) { u = Mul(v, w) }>
}""",
        reason=(
            "Loop 'z': the number of its iterations is known only when it runs; not all iterations at once: "
            "its scanned inputs may differ in length"
        ),
        fix=("try --dim n=8 --dim m=8, in Python dims={'n': 8, 'm': 8}"),
        options={"dims": {"n": 8, "m": 8}},
    ),
    "triangle_of_products": Case(
        f"""main (float[n] x) => (float t) {{ {TRIPS} {YES}
    none = Constant<value = float {{0}}> () one = Constant<value = int64 {{1}}> ()
    t = Loop (trips, yes, none) <body = outer (int64 i, bool g, float s) => (bool h, float u) {{
        h = Identity(g) v = Gather(x, i) count = Add(i, one)
        u = Loop (count, yes, s) <body = inner (int64 j, bool ig, float is) => (bool ih, float iu) {{
            ih = Identity(ig) w = Gather(x, j) p = Mul(v, w) q = Tanh(is) iu = Add(q, p)
        }}>
    }}>
}}""",
        reason=(
            "Loop 'u' in body of Loop: the number of its iterations is known only when it runs; not all "
            "iterations at once: carried value 'is' has no closed form\n"
            "  Loop 't': what is inside remains; not all iterations at once: carried value 's' has no closed"
            " form"
        ),
        fix=("try --dim n=8, in Python dims={'n': 8}"),
        options={"dims": {"n": 8}},
    ),
}
