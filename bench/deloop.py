"""How much faster is onnxruntime without the loops that `whorl deloop` removes?

Loops as exporters write them, over lengths that the file leaves open: long ones, and short ones of the same models;
and nearest neighbours among scikit-learn's digits. Each engine has what `deloop` makes for it, told which lengths to
expect: where it keeps the loop, so does this. With and without its loop, a model gives the same bits in each engine, or
near ones for recurrent cells, which is checked first (the rows of distances are whole numbers); then each engine runs
both in turns, on one thread. Seconds are CPU of the process; what looks slower without its loop is measured again, for
longer. Target: no model is slower than with its loop by more than the times vary.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from measuring import US, cpu, in_turns, machine, repeated, use_one_thread

use_one_thread()

import numpy as np
import onnxruntime
from onnx import parser
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import whorl
from whorl.formats.onnx.saving import to_proto

ROUNDS, PEER, TOLERANCE, NOISE = 7, "onnxruntime", 1e-5, 1.05
WARM_RUNS, WARM_SECONDS = 1000, 0.2
HEADER = '<ir_version: 8, opset_import: ["" : 17]>'
RNG = np.random.default_rng(0)
Feeds = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Answer:
    """Milliseconds with the loop and without, in both engines; `remains`: those that the loop is kept for."""

    what: str
    peer_loop: float
    peer: float
    whorl_loop: float
    whorl: float
    remains: Sequence[str]

    @property
    def is_slower(self) -> bool:
        """Whether an engine for which a loop is removed takes longer without it."""
        times = {PEER: (self.peer_loop, self.peer), US: (self.whorl_loop, self.whorl)}
        return any(name not in self.remains and own > NOISE * loop for name, (loop, own) in times.items())

    def __str__(self) -> str:
        peer = f"{PEER} {self.peer_loop:8.3f} {self.peer:8.3f} {self.peer_loop / self.peer:7.1f}x"
        own = f"whorl {self.whorl_loop:8.3f} {self.whorl:8.3f} {self.whorl_loop / self.whorl:5.1f}x"
        remains = f"   stays for {', '.join(self.remains)}" if self.remains else ""
        return f"  {self.what:<66} {peer}   {own}{remains}{'   SLOWER' if self.is_slower else ''}"


def rows(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


TRIPS = """
    shape = Shape(x) first = Constant<value = int64[1] {0}> () next = Constant<value = int64[1] {1}> ()
    length = Slice(shape, first, next) trips = Squeeze(length, first)"""
PROGRAMS: Mapping[str, tuple[str, Feeds]] = {
    "softmax of each of 10,000 rows": (
        """main (float[n, 64] x) => (float[n, 64] y) {
    y = Scan (x) <num_scan_inputs = 1, body = each (float[64] v) => (float[64] w) { w = Softmax<axis = -1>(v) }>
}""",
        {"x": rows(10_000, 64)},
    ),
    "softmax of each of 10,000 rows, by TorchScript": (
        f"""main (float[n, 64] x) => (float[n, 64] y) {{ {TRIPS}
    y = Loop (trips, "") <body = each (int64 i, bool g) => (bool h, float[64] w) {{
        h = Identity(g) v = Gather(x, i) w = Softmax<axis = -1>(v)
    }}>
}}""",
        {"x": rows(10_000, 64)},
    ),
    "three elementwise ops on each of 10,000 rows": (
        """main (float[n, 16] x, float[16] k) => (float[n, 16] y) {
    y = Scan (x) <num_scan_inputs = 1, body = each (float[16] v) => (float[16] w) {
        a = Mul(v, k) b = Tanh(a) w = Add(b, v)
    }>
}""",
        {"x": rows(10_000, 16), "k": rows(16)},
    ),
    "sums so far of 10,000 rows": (
        f"""main (float[n, 8] x) => (float[8] t, float[n, 8] y) {{ {TRIPS}
    zeros = Constant<value = float[8] {{0, 0, 0, 0, 0, 0, 0, 0}}> ()
    t, y = Loop (trips, , zeros) <body = each (int64 i, bool g, float[8] s) => (bool h, float[8] u, float[8] w) {{
        h = Identity(g) v = Gather(x, i) u = Add(s, v) w = Identity(u)
    }}>
}}""",
        {"x": rows(10_000, 8)},
    ),
    "the largest of 10,000 numbers and where it is": (
        f"""main (float[n] x) => (float t, int64 k) {{ {TRIPS}
    low = Constant<value = float {{-1000.0}}> () none = Constant<value = int64 {{-1}}> ()
    t, k = Loop (trips, , low, none) <body = each (int64 i, bool g, float s, int64 j) => (bool h, float u, int64 m) {{
        h = Identity(g) v = Gather(x, i) c = Greater(v, s) u = Where(c, v, s) m = Where(c, i, j)
    }}>
}}""",
        {"x": rows(10_000)},
    ),
    "2,000 chunks in a sequence": (
        """main (float[n, 64] x) => (float[n, 64] y) {
    chunks = SplitToSequence<axis = 0, keepdims = 1>(x) count = SequenceLength(chunks) none = SequenceEmpty()
    all = Loop (count, , none) <body = each (int64 i, bool g, seq(float[1, 64]) s)
        => (bool h, seq(float[1, 64]) t) {
        h = Identity(g) v = SequenceAt(chunks, i) w = Exp(v) t = SequenceInsert(s, w)
    }>
    y = ConcatFromSequence<axis = 0>(all)
}""",
        {"x": rows(2000, 64)},
    ),
    "5,000 labels without repetitions and blanks": (
        f"""main (int64[n] x) => (int64[k] y) {{ {TRIPS}
    blank = Constant<value = int64 {{0}}> () none = Constant<value = int64 {{-1}}> ()
    e = Constant<value = int64[0] {{}}> ()
    last, y = Loop (trips, , none, e) <body = each (int64 i, bool g, int64 before, int64[q] all)
        => (bool h, int64 now, int64[r] more) {{
        h = Identity(g) v = Gather(x, i) now = Identity(v) a = Equal(v, before) b = Equal(v, blank) skip = Or(a, b)
        more = If (skip) <
            then_branch = same () => (int64[q2] o) {{ o = Identity(all) }},
            else_branch = other () => (int64[q3] p) {{ w = Unsqueeze(v, first) p = Concat<axis = 0>(all, w) }}>
    }}>
}}""",
        {"x": RNG.integers(0, 4, 5000)},
    ),
    "distances of 100 rows from 1,797": (
        """main (float[n, 64] x, float[m, 64] y) => (float[m, n] d) {
    d = Scan (y) <num_scan_inputs = 1, body = each (float[64] v) => (float[n] e) {
        a = Sub(x, v) e = ReduceSumSquare<axes = [1], keepdims = 0>(a)
    }>
}""",
        {"x": np.round(rows(100, 64) * 4), "y": np.round(rows(1797, 64) * 4)},
    ),
}

RUNNING_MAX = f"""main (float[n, 8] x) => (float[n, 8] y) {{ {TRIPS}
    width = Constant<value = int64[1] {{8}}> () low = ConstantOfShape(width)
    t, y = Loop (trips, , low) <body = each (int64 i, bool g, float[8] s) => (bool h, float[8] u, float[8] w) {{
        h = Identity(g) v = Gather(x, i) u = Max(s, v) w = Identity(u)
    }}>
}}"""
WIDE = RUNNING_MAX.replace("8]", "512]").replace("{8}", "{512}")
DECAY = RUNNING_MAX.replace("float[n, 8] x)", "float[n, 8] x, float[8] k)").replace("Max(s, v)", "Add(f, v)")
DECAY = DECAY.replace("u = Add", "f = Mul(s, k) u = Add")
GRU = """main (float[n, 1, 32] x, float[32, 192] w, float[64, 192] r, float[192] b) => (float[n, 1, 64] y) {
    one = Constant<value = float {1}> () parts = Constant<value = int64[3] {64, 64, 64}> ()
    shape = Constant<value = int64[2] {1, 64}> () zeros = ConstantOfShape(shape)
    hn, y = Scan (zeros, x) <num_scan_inputs = 1,
        body = each (float[1, 64] s, float[1, 32] v) => (float[1, 64] u, float[1, 64] o) {
        p = MatMul(v, w) a = Add(p, b) c = MatMul(s, r)
        az, ar, an = Split<axis = 1>(a, parts) cz, cr, cn = Split<axis = 1>(c, parts)
        sz = Add(az, cz) z = Sigmoid(sz) sr = Add(ar, cr) e = Sigmoid(sr) far = Mul(e, cn) sn = Add(an, far)
        new = Tanh(sn) old = Mul(z, s) rest = Sub(one, z) part = Mul(rest, new) u = Add(old, part) o = Identity(u)
    }>
}"""
WEIGHTS = {"w": rows(32, 192) / 8, "r": rows(64, 192) / 8, "b": rows(192)}


def short(count: int) -> Iterator[tuple[str, str, Feeds]]:
    """The models again with a few rows."""
    for what, (text, feeds) in PROGRAMS.items():
        yield f"{count} rows: {what}", text, {**feeds, "x": feeds["x"][:count]}


def digits(count: int) -> tuple[str, bytes, Feeds]:
    """The five nearest of 1,797 digits, by skl2onnx."""
    images, labels = load_digits(return_X_y=True)
    points: np.ndarray = np.asarray(images, np.float32)
    kind: Any = [("x", FloatTensorType([None, points.shape[1]]))]
    model: Any = to_onnx(KNeighborsClassifier().fit(points, labels), initial_types=kind, options={"zipmap": False})
    return f"nearest digits of {count}", model.SerializeToString(), {"x": points[:count]}


def programs() -> Iterator[tuple[str, str | bytes, Feeds]]:
    """What is measured, by name."""
    yield from (digits(count) for count in (1, 100))
    for what, (text, feeds) in PROGRAMS.items():
        yield what, text, feeds
    for count in (1, 5, 10, 10_000):
        yield f"the largest so far of {count} rows", RUNNING_MAX, {"x": rows(count, 8)}
        yield f"a decaying sum of {count} rows", DECAY, {"x": rows(count, 8), "k": rows(8) / 4}
    yield "the largest so far of 1,000 rows of 512", WIDE, {"x": rows(1000, 512)}
    for count in (1, 10, 200):
        yield f"a GRU of 64 over {count} steps", GRU, {"x": rows(count, 1, 32)} | WEIGHTS
    yield from short(10)


def lengths_of(module: whorl.Module, feeds: Feeds) -> dict[str, int]:
    """What open dims are in a run."""
    shapes: list[tuple[Any, ...]] = [(x.type, feeds[x.name]) for x in module.main.arguments]
    pairs = [pair for type, array in shapes for pair in zip(type.shape, array.shape, strict=True)]
    return {str(dim): length for dim, length in pairs if not isinstance(dim, int)}


def run_by(model: bytes) -> dict[str, Callable[[Feeds], Sequence[Any]]]:
    """A model in both engines, on one thread each."""
    theirs, ours = onnxruntime.SessionOptions(), whorl.SessionOptions()
    theirs.intra_op_num_threads = ours.intra_op_num_threads = 1
    peer = onnxruntime.InferenceSession(model, theirs, providers=["CPUExecutionProvider"])
    session = whorl.InferenceSession(model, ours)
    return {
        PEER: lambda feeds: peer.run(None, dict(feeds)),
        US: lambda feeds: session.run(None, dict(feeds)),
    }


def measure() -> Iterator[Answer]:
    for what, text, feeds in programs():
        print("measuring", what, file=sys.stderr)
        source = text if isinstance(text, bytes) else parser.parse_model(HEADER + text).SerializeToString()
        module = whorl.load(source)
        assert isinstance(module, whorl.Module)
        expected_lengths = lengths_of(module, feeds)
        before, after, remains = run_by(source), dict[str, Callable[[Feeds], Sequence[Any]]](), list[str]()
        for name in before:
            module = whorl.deloop(source, target=name, expected=expected_lengths, partial=True)
            after[name] = run_by(to_proto(module).SerializeToString())[name]
            remains += [name] if any(node.regions for node in module.nodes()) else []
        expected = before[PEER](feeds)
        for name in before:
            for a, b, c in zip(before[name](feeds), after[name](feeds), expected, strict=True):
                near = TOLERANCE if text is GRU else 0
                np.testing.assert_allclose(b, a, near, near, err_msg=f"{what}, {name}")
                np.testing.assert_allclose(a, c, TOLERANCE, TOLERANCE, err_msg=f"{what}, {name}")
        works = {(name, is_loop): run[name] for is_loop, run in ((True, before), (False, after)) for name in run}
        for run in works.values():
            warm_up(partial(run, feeds))
        candidates = {str(key): repeated(partial(cpu, partial(run, feeds))) for key, run in works.items()}
        answer = time_in_turns(what, candidates, remains, ROUNDS)
        yield time_in_turns(what, candidates, remains, 3 * ROUNDS) if answer.is_slower else answer


def warm_up(run: Callable[[], object]) -> None:
    """Run until short runs have come to their fastest form."""
    end = time.perf_counter() + WARM_SECONDS
    for _ in range(WARM_RUNS):
        if time.perf_counter() > end:
            return
        run()


def time_in_turns(
    what: str, candidates: Mapping[str, Callable[[], float]], remains: Sequence[str], rounds: int
) -> Answer:
    """What a model takes in both engines, by the medians of so many rounds."""
    seconds = in_turns(candidates, rounds)
    keys = [(name, is_loop) for name in (PEER, US) for is_loop in (True, False)]
    peer_loop, peer, whorl_loop, own = (1000 * seconds[str(key)] for key in keys)
    return Answer(what, peer_loop, peer, whorl_loop, own, remains)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    as_json, answers = options.parse_args().json, list(measure())
    if as_json:
        print(json.dumps({"machine": machine(), "answers": [asdict(each) for each in answers]}, indent=1))
    else:
        print("milliseconds with the loop and without", machine(), sep="\n")
        print("\n".join(map(str, answers)))
    return int(any(each.is_slower for each in answers))


if __name__ == "__main__":
    sys.exit(main())
