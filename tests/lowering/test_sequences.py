"""Programs on sequences as one native program: the interpreter's results, and its errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_text import model

import whorl

APPEND = """v = Loop (n, "", e) <body = b (int64 i, bool go, seq(float) t) => (bool on, seq(float) u) {
    on = Identity(go)
    r = Gather(x, i)
    u = SequenceInsert(t, r)
}>"""
READ = """y = Loop (n, "", zero) <body = b (int64 i, bool go, float[?] h) => (bool on, float[?] next) {
    on = Identity(go)
    part = SequenceAt(s, i)
    sum = ReduceSum <keepdims = 0> (part)
    next = Add(h, sum)
}>"""
ZERO = "zero = Constant <value = float[1] {0.0}> ()"
LONGER = """v = Loop (n, "", e) <body = b (int64 i, bool go, seq(float[]) t) => (bool on, seq(float[]) u) {
    on = Identity(go) one = Constant <value = int64[1] {1}> () z = Constant <value = int64[1] {0}> ()
    m = Add(i, one) r = Slice(x, z, m) u = SequenceInsert(t, r)
}>"""
WIDER = LONGER.replace("Slice(x, z, m)", "Slice(x, z, m, one)")
PROGRAMS = {
    "append_and_stack": f"""(int64 n, float[a, 3] x) => (float[b, c] y) {{
        e = SequenceEmpty () {APPEND} y = ConcatFromSequence <axis = 0, new_axis = 1> (v)
    }}""",
    "append_and_join": f"""(int64 n, float[a, 3] x) => (float[b] y) {{
        e = SequenceEmpty () {APPEND} y = ConcatFromSequence <axis = 0> (v)
    }}""",
    "append_and_join_last_axis": f"""(int64 n, float[a, b, 3] x) => (float[c, d] y) {{
        e = SequenceEmpty () {APPEND} y = ConcatFromSequence <axis = -1> (v)
    }}""",
    "append_and_return": f"""(int64 n, float[a, 3] x) => (seq(float) v) {{
        e = SequenceEmpty () {APPEND}
    }}""",
    "at_and_length": f"""(int64 n, int64 p, float[a, 3] x) => (float[3] y, int64 k) {{
        e = SequenceEmpty () {APPEND} y = SequenceAt(v, p) k = SequenceLength(v)
    }}""",
    "insert": f"""(int64 n, int64 p, float[a, 3] x, float[3] z) => (float[b, c] y) {{
        e = SequenceEmpty () {APPEND} w = SequenceInsert(v, z, p) y = ConcatFromSequence <axis = 1, new_axis = 1> (w)
    }}""",
    "erase": f"""(int64 n, int64 p, float[a, 3] x) => (float[b, c] y, seq(float) rest) {{
        e = SequenceEmpty () {APPEND} w = SequenceErase(v, p) y = ConcatFromSequence <axis = 0> (w)
        rest = SequenceErase(w)
    }}""",
    "in_branches": f"""(int64 n, float[a, 3] x, bool c) => (int64 k, float[?, ?] y) {{
        e = SequenceEmpty () {APPEND}
        w = If (c) <
            then_branch = t () => (seq(float) p) {{ q = Gather(x, n) p = SequenceInsert(v, q) }},
            else_branch = f () => (seq(float) p) {{ p = SequenceErase(v) }}>
        k = SequenceLength(w) y = ConcatFromSequence <axis = 0, new_axis = 1> (w)
    }}""",
    "captured": f"""(int64 n, int64 p, float[a, 3] x) => (float[1] y) {{
        e = SequenceEmpty () {ZERO} {APPEND}
        y = Loop (n, "", zero) <body = b (int64 i, bool go, float[1] h) => (bool on, float[1] next) {{
            on = Identity(go) back = Sub(p, i) r = SequenceAt(v, back)
            sum = ReduceSum <keepdims = 0> (r) next = Add(h, sum)
        }}>
    }}""",
    "empty_is_filled_in_a_branch": """(int64 n, float[a, 3] x) => (int64 k, seq(float) v) {
        e = SequenceEmpty ()
        v = Loop (n, "", e) <body = b (int64 i, bool go, seq(float) t) => (bool on, seq(float) u) {
            on = Identity(go) two = Constant <value = int64 {2}> () odd = Mod(i, two) c = Cast <to = 9> (odd)
            u = If (c) <
                then_branch = t () => (seq(float) p) { r = Gather(x, i) p = SequenceInsert(t, r) },
                else_branch = f () => (seq(float) p) { p = Identity(t) }>
        }>
        k = SequenceLength(v)
    }""",
    "split_one_by_one": f"""(int64 n, float[a, 3] x) => (float[1] y) {{ s = SplitToSequence(x) {ZERO} {READ} }}""",
    "split_drops_the_axis": f"""(int64 n, float[a, 3] x) => (float[1] y) {{
        s = SplitToSequence <keepdims = 0> (x) {ZERO} {READ}
    }}""",
    "split_and_last_part_is_shorter": f"""(int64 n, int64 size, float[a, 3] x) => (float[1] y, int64 k) {{
        s = SplitToSequence(x, size) {ZERO} {READ} k = SequenceLength(s)
    }}""",
    "split_by_lengths": f"""(int64 n, int64[m] sizes, float[a, 3] x) => (float[1] y, float[?, 3] last) {{
        s = SplitToSequence(x, sizes) {ZERO} {READ} back = Constant <value = int64 {{-1}}> () last = SequenceAt(s, back)
    }}""",
    "split_last_axis_read_in_a_branch": """(int64 p, float[3, 6] x, bool c) => (float[3, 2] y) {
        two = Constant <value = int64 {2}> () s = SplitToSequence <axis = -1> (x, two)
        y = If (c) <
            then_branch = t () => (float[3, 2] r) { r = SequenceAt(s, p) },
            else_branch = f () => (float[3, 2] r) { q = SequenceAt(s, p) r = Neg(q) }>
    }""",
    "split_and_return": """(float[a, 6] x) => (seq(float) s, int64 k) {
        two = Constant <value = int64 {2}> () s = SplitToSequence <axis = 1> (x, two) k = SequenceLength(s)
    }""",
    "split_and_stack": """(float[a, 3] x) => (float[3, a] y) {
        s = SplitToSequence <keepdims = 0> (x) y = ConcatFromSequence <axis = 1, new_axis = 1> (s)
    }""",
    "elements_that_differ_are_returned": """(float[a, 3] x, float[a] z) => (seq(float) s, float[a] w) {
        y = Neg(x) w = Neg(z) s = SequenceConstruct(y, w, y)
    }""",
    "constructed": """(int64 p, float[a, 3] x) => (float[a, 3] y) {
        z = Neg(x) s = SequenceConstruct(x, z) y = SequenceAt(s, p)
    }""",
    "longer_and_longer": f"""(int64 n, float[a, 3] x) => (float[b, 3] y, seq(float[]) v, int64 k) {{
        e = SequenceEmpty () {LONGER} y = ConcatFromSequence <axis = 0> (v) k = SequenceLength(v)
    }}""",
    "longer_and_joined_along_the_last_axis": f"""(int64 n, float[a, b] x) => (float[c, d] y) {{
        e = SequenceEmpty () {WIDER} y = ConcatFromSequence <axis = -1> (v)
    }}""",
    "longer_read_in_a_loop": f"""(int64 n, int64 p, float[a, 3] x) => (float[1] y) {{
        e = SequenceEmpty () {ZERO} {LONGER}
        y = Loop (n, "", zero) <body = b (int64 i, bool go, float[1] h) => (bool on, float[1] next) {{
            on = Identity(go) back = Sub(p, i) r = SequenceAt(v, back)
            sum = ReduceSum <keepdims = 0> (r) next = Add(h, sum)
        }}>
    }}""",
    "of_any_length_stacked": """(int64[m] sizes, float[a, 3] x) => (float[?, ?, ?] y) {
        s = SplitToSequence(x, sizes) y = ConcatFromSequence <axis = 1, new_axis = 1> (s)
    }""",
    "parts_mapped": """(int64 size, float[a, 3] x) => (float[b, 3] y, seq(float[]) t) {
        s = SplitToSequence(x, size)
        t = SequenceMap (s) <body = f (float[?, 3] e) => (float[?, 3] o) { o = Mul(e, e) }>
        y = ConcatFromSequence <axis = 0> (t)
    }""",
    "of_any_length_in_branches": f"""(int64 n, int64 p, float[a, 3] x, bool c) => (float[?, 3] y, int64 k) {{
        e = SequenceEmpty () {LONGER}
        w = If (c) <
            then_branch = t () => (seq(float[]) p) {{ p = SequenceInsert(v, x) }},
            else_branch = f () => (seq(float[]) p) {{ z = Neg(x) p = SequenceConstruct(x, z) }}>
        y = SequenceAt(w, p) k = SequenceLength(w)
    }}""",
    "of_any_length_exchanged": """(int64 n, float[a, 3] x, float[b, 3] z) => (float[c, 3] y, float[d, 3] w) {
        e = SequenceEmpty () q = SequenceInsert(e, x) r = SequenceInsert(e, z)
        t, u = Loop (n, "", q, r) <body = b (int64 i, bool go, seq(float[]) s0, seq(float[]) s1)
          => (bool on, seq(float[]) s2, seq(float[]) s3) {
            on = Identity(go) s2 = SequenceInsert(s1, x) s3 = Identity(s0)
        }>
        y = ConcatFromSequence <axis = 0> (t) w = ConcatFromSequence <axis = 0> (u)
    }""",
    "of_any_length_in_loops_in_loops": """(int64 n, float[a, 3] x) => (float[b, 3] y) {
        e = SequenceEmpty ()
        t = Loop (n, "", e) <body = b (int64 j, bool go, seq(float[]) t0) => (bool on, seq(float[]) t1) {
            on = Identity(go) e2 = SequenceEmpty ()
            v = Loop (n, "", e2) <body = c (int64 i, bool go2, seq(float[]) t2) => (bool on2, seq(float[]) u) {
                on2 = Identity(go2) one = Constant <value = int64[1] {1}> () z = Constant <value = int64[1] {0}> ()
                m = Add(i, one) r = Slice(x, z, m) u = SequenceInsert(t2, r)
            }>
            joined = ConcatFromSequence <axis = 0> (v)
            t1 = SequenceInsert(t0, joined)
        }>
        y = ConcatFromSequence <axis = 0> (t)
    }""",
    "of_any_length_and_dropped": """(int64 n, float[a, 3] x) => (float[a, 3] y) {
        e = SequenceEmpty ()
        y = Loop (n, "", x, e) <body = b (int64 i, bool go, float[a, 3] h, seq(float[]) t)
          => (bool on, float[a, 3] next, seq(float[]) u) {
            on = Identity(go) next = Neg(h) one = Constant <value = int64[1] {1}> ()
            z = Constant <value = int64[1] {0}> () m = Add(i, one) r = Slice(x, z, m) u = SequenceInsert(t, r)
        }>
    }""",
    "decided_by_its_own_elements": """(int64 n, int64 first, float[a, 3] x) => (float[b, 3] y, int64[c] rows) {
        e = SequenceEmpty () one = Constant <value = int64[1] {0}> ()
        last, t, rows = Loop (n, "", first, e) <body = b (int64 i, bool go, int64 p, seq(float[]) s)
          => (bool on, int64 q, seq(float[]) u, int64 shown) {
            on = Identity(go) r = Gather(x, p) row = Unsqueeze(r, one) u = SequenceInsert(s, row)
            all = ConcatFromSequence <axis = 0> (u) sums = ReduceSum <keepdims = 0> (all, one)
            best = ArgMin <axis = 0, keepdims = 0> (sums) q = Identity(best) shown = Identity(best)
        }>
        y = ConcatFromSequence <axis = 0> (t)
    }""",
    "twice_as_long_each_time": """(int64 n, float[2] x) => (float[m] y, int64 count) {
        e = SequenceEmpty ()
        last, t = Loop (n, "", x, e) <body = b (int64 i, bool go, float[a] h, seq(float[]) s)
          => (bool on, float[d] next, seq(float[]) u) {
            on = Identity(go) u = SequenceInsert(s, h) next = Concat <axis = 0> (h, h)
        }>
        y = ConcatFromSequence <axis = 0> (t) count = SequenceLength(t)
    }""",
    "input": """(int64 p, seq(float[a, 3]) s) => (float[a, 3] y, int64 k, seq(float[a, 3]) t) {
        y = SequenceAt(s, p) k = SequenceLength(s) t = SequenceInsert(s, y)
    }""",
}
X = np.arange(18, dtype=np.float32).reshape(6, 3)


def _x(rows: int) -> np.ndarray:
    return np.arange(rows * 3, dtype=np.float32).reshape(rows, 3) ** 2


FEEDS: dict[str, list[dict[str, Any]]] = {
    "append_and_stack": [{"n": n, "x": _x(6)} for n in (1, 3, 6)],
    "append_and_join": [{"n": n, "x": _x(6)} for n in (1, 3, 6)],
    "append_and_join_last_axis": [{"n": n, "x": np.stack([_x(m)] * 5)} for n, m in ((1, 1), (3, 2), (5, 4), (2, 0))],
    "append_and_return": [{"n": n, "x": _x(6)} for n in (0, 1, 6)],
    "at_and_length": [{"n": n, "p": p, "x": _x(6)} for n, p in ((1, 0), (5, 4), (5, -5), (5, -1))],
    "insert": [{"n": n, "p": p, "x": _x(6), "z": -X[1]} for n, p in ((0, 0), (1, 0), (4, 4), (4, 2), (4, -1), (4, -4))],
    "erase": [{"n": n, "p": p, "x": _x(6)} for n, p in ((2, 0), (4, 3), (4, 1), (4, -1), (4, -4))],
    "in_branches": [{"n": n, "x": _x(6), "c": c} for n, c in ((2, True), (2, False), (5, True), (5, False), (0, True))],
    "captured": [{"n": n, "p": p, "x": _x(6)} for n, p in ((0, 0), (4, 3), (4, -1))],
    "empty_is_filled_in_a_branch": [{"n": n, "x": _x(6)} for n in (0, 1, 5)],
    "split_one_by_one": [{"n": n, "x": _x(n)} for n in (0, 1, 5)],
    "split_drops_the_axis": [{"n": n, "x": _x(n)} for n in (0, 1, 5)],
    "split_and_last_part_is_shorter": [
        {"n": n, "size": size, "x": _x(rows)} for n, size, rows in ((3, 2, 5), (2, 3, 6), (1, 9, 4), (0, 2, 0))
    ],
    "split_by_lengths": [
        {"n": len(sizes), "sizes": np.array(sizes), "x": _x(sum(sizes))} for sizes in ((1, 0, 3), (2,), (5, 1))
    ],
    "split_last_axis_read_in_a_branch": [
        {"p": p, "x": _x(6).reshape(3, 6), "c": c} for p, c in ((0, True), (2, False), (-3, True))
    ],
    "split_and_return": [{"x": _x(2 * n).reshape(n, 6)} for n in (1, 3, 7)],
    "split_and_stack": [{"x": _x(n)} for n in (1, 3, 7)],
    "elements_that_differ_are_returned": [{"x": _x(n), "z": np.arange(n, dtype=np.float32)} for n in (1, 3, 7)],
    "constructed": [{"p": p, "x": _x(n)} for p, n in ((0, 1), (1, 4), (-1, 4), (-2, 6))],
    "longer_and_longer": [{"n": n, "x": _x(6)} for n in (1, 3, 6, 8)],
    "longer_and_joined_along_the_last_axis": [{"n": n, "x": _x(6).reshape(m, -1)} for n, m in ((1, 1), (4, 3), (7, 2))],
    "longer_read_in_a_loop": [{"n": n, "p": p, "x": _x(6)} for n, p in ((0, 0), (4, 3), (4, -1))],
    "of_any_length_stacked": [
        {"sizes": np.array([m] * n), "x": _x(m * n)} for m, n in ((1, 1), (3, 2), (2, 5), (0, 2))
    ],
    "parts_mapped": [{"size": size, "x": _x(n)} for size, n in ((1, 1), (2, 5), (3, 6), (9, 4))],
    "of_any_length_in_branches": [
        {"n": n, "p": p, "x": _x(6), "c": c} for n, p, c in ((2, 0, True), (2, -1, True), (2, -2, False), (5, 4, True))
    ],
    "of_any_length_exchanged": [{"n": n, "x": _x(2), "z": -_x(3)} for n in (0, 1, 2, 5)],
    "of_any_length_in_loops_in_loops": [{"n": n, "x": _x(6)} for n in (1, 2, 5)],
    "of_any_length_and_dropped": [{"n": n, "x": _x(4)} for n in (0, 1, 4)],
    "decided_by_its_own_elements": [{"n": n, "first": p, "x": -_x(6)} for n, p in ((1, 0), (5, 4), (3, -1))],
    "twice_as_long_each_time": [{"n": n, "x": np.ones(2, np.float32)} for n in (1, 3, 6, 2)],
    "input": [{"p": p, "s": [_x(n) + k for k in range(m)]} for p, n, m in ((0, 1, 1), (3, 2, 4), (-4, 5, 4))],
}
REFUSED: dict[str, list[dict[str, Any]]] = {
    "append_and_stack": [{"n": 0, "x": _x(6)}, {"n": 7, "x": _x(6)}],
    "append_and_join": [{"n": 0, "x": _x(6)}],
    "at_and_length": [{"n": 5, "p": 5, "x": _x(6)}, {"n": 5, "p": -6, "x": _x(6)}, {"n": 0, "p": 0, "x": _x(6)}],
    "insert": [{"n": 4, "p": p, "x": _x(6), "z": X[1]} for p in (5, -5)],
    "erase": [{"n": 4, "p": p, "x": _x(6)} for p in (4, -5)] + [{"n": 1, "p": 0, "x": _x(6)}],
    "captured": [{"n": 4, "p": p, "x": _x(6)} for p in (4, -2)],
    "split_one_by_one": [{"n": 4, "x": _x(3)}],
    "split_and_last_part_is_shorter": [
        {"n": n, "size": size, "x": _x(5)} for n, size in ((4, 2), (1, 0), (1, -1), (1, np.iinfo("q").min))
    ],
    "split_by_lengths": [
        {"n": 1, "sizes": np.array(sizes), "x": _x(4)} for sizes in ((1, 2), (5,), (5, -1), (-1, 5), (2**63 - 1, 5))
    ],
    "split_last_axis_read_in_a_branch": [{"p": 3, "x": _x(6).reshape(3, 6), "c": True}],
    "constructed": [{"p": 2, "x": _x(4)}],
    "longer_and_longer": [{"n": 0, "x": _x(6)}],
    "longer_read_in_a_loop": [{"n": 4, "p": p, "x": _x(6)} for p in (4, -2)],
    "of_any_length_stacked": [{"sizes": np.array(s), "x": _x(sum(s))} for s in ((1, 2), ())],
    "parts_mapped": [{"size": size, "x": _x(5)} for size in (0, -1)],
    "of_any_length_in_branches": [{"n": 2, "p": p, "x": _x(6), "c": c} for p, c in ((3, True), (-4, True), (2, False))],
    "decided_by_its_own_elements": [{"n": 0, "first": 0, "x": _x(6)}, {"n": 2, "first": 6, "x": _x(6)}],
    "input": [{"p": 1, "s": [_x(2)]}],
}


def session(name: str, backend: str) -> whorl.InferenceSession:
    options = whorl.SessionOptions()
    options.backend = backend
    return whorl.InferenceSession(model("main " + PROGRAMS[name]), options)


def arrays(feeds: dict[str, Any]) -> dict[str, Any]:
    return {name: x if isinstance(x, list) else np.asarray(x) for name, x in feeds.items()}


def require_same(value: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert isinstance(value, list) and len(value) == len(expected)
        for x, y in zip(value, expected, strict=True):
            require_same(x, y)
        return
    assert value.dtype == expected.dtype and value.shape == expected.shape
    np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("name", PROGRAMS)
def test_native_results_equal_interpreted_ones(name: str) -> None:
    native, oracle = session(name, "native"), session(name, "interpreter")
    for feeds in map(arrays, FEEDS[name] * 2):
        for value, expected in zip(native.run(None, feeds), oracle.run(None, feeds), strict=True):
            require_same(value, expected)
    assert [(v.how, v.calls) for v in native.explain()] == [("native", [])]


@pytest.mark.parametrize("name", REFUSED)
def test_native_errors_equal_interpreted_ones(name: str) -> None:
    for feeds in map(arrays, REFUSED[name]):
        native, oracle = session(name, "native"), session(name, "interpreter")
        with pytest.raises(whorl.WhorlError) as expected:
            oracle.run(None, feeds)
        with pytest.raises(whorl.WhorlError) as error:
            native.run(None, feeds)
        assert str(error.value) == str(expected.value)


def test_sequence_of_tensors_that_differ_runs_by_the_interpreter() -> None:
    text = "main (int64 p, seq(float[]) s) => (float[?, 3] y) { y = SequenceAt(s, p) }"
    native = whorl.InferenceSession(model(text))
    for p in (0, 1, 0):
        feeds = {"p": np.int64(p), "s": [_x(2), _x(3)]}
        require_same(native.run(None, feeds)[0], feeds["s"][p])
    require_same(native.run(None, {"p": np.int64(1), "s": [_x(2), -_x(2)]})[0], -_x(2))
