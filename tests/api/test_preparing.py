"""What a session makes of the model that it has read: other programs, and the same outputs, errors and limits."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_text import model
from passes.test_licm import SIDE

import whorl
from whorl.api.preparing import prepare
from whorl.conformance import load_cases
from whorl.ir.constants import Constant
from whorl.passes.push_constants import _SMALL_MATRIX

LEVELS = ["ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL"]
BACKENDS = ["interpreter", "native"]
F32 = np.float32
MATRIX = f"float[{SIDE}, {SIDE}]"


def session(source: Any, level: str = "ORT_ENABLE_ALL", backend: str = "native", **others: Any):
    options = whorl.SessionOptions()
    options.graph_optimization_level = whorl.GraphOptimizationLevel[level]
    options.backend = backend
    for name, value in others.items():
        setattr(options, name, value)
    return whorl.InferenceSession(source, options)


def outcome(source: Any, feeds: Mapping[str, Any], level: str, backend: str, **others: Any) -> Any:
    """What can be seen of a run: the outputs by type, shape and bits, or the text of the error."""
    try:
        made = session(source, level, backend, **others)
        outputs = [(each.name, each.shape, each.type) for each in made.get_outputs()]
        return outputs, [bits(value) for value in made.run(None, dict(feeds))]
    except whorl.WhorlError as error:
        return str(error)


def bits(value: Any) -> Any:
    if isinstance(value, list):
        return [bits(item) for item in value]
    if not isinstance(value, np.ndarray):
        return value
    return str(value.dtype), value.shape, value.tolist() if value.dtype == object else value.tobytes()


# ---- models, and what they are fed ---------------------------------------------------------------------------------


def loop(body: str, start: str = "n, go, x", carried: str = "float[2] s", arguments: str = "") -> onnx.ModelProto:
    state, _, name = carried.rpartition(" ")
    return model(f"""
        main (int64 n, bool go, float[2] x, int64[2] k{arguments}) => ({state} y, float[M, 2] rows) {{
            [walk] y, rows = Loop ({start}) <body = step (int64 i, bool c, {state} {name})
                => (bool d, {state} t, float[2] row) {{ {body} }}>
        }}""")


MODELS: dict[str, onnx.ModelProto] = {
    "invariant": loop("d = Identity (c) q = Exp (x) t = Add (s, q) row = Identity (t)"),
    "invariant_that_is_collected": loop("d = Identity (c) row = Exp (x) t = Add (s, row)"),
    "invariant_that_is_the_next_state": loop("d = Identity (c) t = Exp (x) row = Add (s, t)"),
    "invariant_that_may_fail": loop("d = Identity (c) q = Gather (x, k) t = Add (s, q) row = Identity (t)"),
    "invariant_division": loop(
        "d = Identity (c) q = Div (k, k) f = Cast <to = 1> (q) t = Add (s, f) row = Identity (t)"
    ),
    "failure_at_the_second_iteration": loop("""
        d = Identity (c) q = Exp (x) zero = Constant <value = int64[1] {0}> () j = Add (i, zero) p = Gather (q, j)
        t = Add (s, p) row = Identity (q)"""),
    "condition_that_ends_the_loop": loop("""
        two = Constant <value = int64 {2}> () d = Less (i, two) q = Exp (x) t = Add (s, q) row = Mul (q, s)"""),
    "state_that_never_changes": model("""
        main (int64 n, bool go, float[2] x, int64[2] k) => (float[2] y, float[2] z) {
            y, z = Loop (n, go, x, x) <body = step (int64 i, bool c, float[2] s, float[2] w)
                => (bool d, float[2] t, float[2] w) { d = Identity (c) q = Sin (w) t = Add (s, q) }>
        }"""),
    "inner_loop_of_unknown_length": model(f"""
        main (int64 n, bool go, float[2] x, int64[2] k, {MATRIX} w, float[2, {SIDE}] v) => (float[2, {SIDE}] y) {{
            y = Loop (n, go, v) <body = outer (int64 i, bool c, float[2, {SIDE}] s) => (bool d, float[2, {SIDE}] t) {{
                d = Identity (c)
                t = Loop (i, , s) <body = inner (int64 j, bool e, float[2, {SIDE}] u)
                    => (bool f, float[2, {SIDE}] o) {{
                    f = Identity (e) p = MatMul (v, w) r = MatMul (s, w) a = Add (p, r) o = Add (u, a)
                }}>
            }}>
        }}"""),
    "sequence": model("""
        main (int64 n, bool go, float[2] x, int64[2] k) => (seq(float[2]) y, float[2] last) {
            empty = SequenceEmpty <dtype = 1> ()
            y = Loop (n, go, empty) <body = step (int64 i, bool c, seq(float[2]) s) => (bool d, seq(float[2]) t) {
                d = Identity (c) q = Exp (x) t = SequenceInsert (s, q)
            }>
            at = Constant <value = int64 {-1}> ()
            last = SequenceAt (y, at)
        }"""),
    "branch_in_a_loop": loop("""
        one = Constant <value = int64 {1}> () first = Less (i, one)
        q = If (first) <
            then_branch = a () => (p) { e = Exp (x) p = Add (e, s) },
            else_branch = b () => (o) { z = Gather (x, k) o = Add (z, s) }>
        d = Identity (c) t = Identity (q) row = Neg (q)"""),
    "output_that_is_captured": model("""
        main (int64 n, bool go, float[2] x, int64[2] k) => (float[2] q, float[2] y) {
            q = Exp (x)
            y = Loop (n, go, q) <body = step (int64 i, bool c, float[2] s) => (bool d, float[2] t) {
                d = Identity (c) e = Neg (q) t = Add (s, e)
            }>
        }"""),
    "weights_of_a_body": model("""
        main (int64 n, bool go, float[2] x, int64[2] k) => (float[2] y) {
            w = Constant <value = float[2, 2] {0.5, 0.25, -1.5, 3}> ()
            y = Loop (n, go, x) <body = step (int64 i, bool c, float[2] s) => (bool d, float[2] t) {
                d = Identity (c) u = Transpose (w) p = MatMul (s, u) t = Tanh (p)
            }>
        }"""),
}
RUNS = [(0, True, [0, 1]), (3, False, [5, 0]), (1, True, [0, 5]), (4, True, [1, 0])]
"""Trip counts, conditions at the start, and indices of two elements."""
WIDE = {"w": (SIDE, SIDE), "v": (2, SIDE)}


def feeds_of(proto: onnx.ModelProto, trips: int, go: bool, indices: list[int]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    values = {"n": np.array(trips), "go": np.array(go), "x": np.array([0.5, -2], F32), "k": np.array(indices)}
    values |= {name: rng.standard_normal(shape, F32) for name, shape in WIDE.items()}
    return {value.name: values[value.name] for value in proto.graph.input}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_levels_give_the_same_outputs_and_errors(name, backend):
    for trips, go, indices in [
        (0, True, [0, 1]),
        (3, False, [5, 0]),
        (1, True, [0, 5]),
        (4, True, [1, 0]),
        (2, True, [0, 0]),
    ]:
        feeds = feeds_of(MODELS[name], trips, go, indices)
        plain, *others = [outcome(MODELS[name], feeds, level, backend) for level in LEVELS]
        assert all(other == plain for other in others), (trips, go, indices)


@pytest.mark.parametrize("name", ["inner_loop_of_unknown_length", "invariant", "sequence"])
def test_levels_keep_the_limit_on_iterations(name):
    feeds = feeds_of(MODELS[name], 4, True, [0, 1])
    for most in (2, 10):
        plain, best = (
            outcome(MODELS[name], feeds, level, "native", max_iterations=most) for level in (LEVELS[0], LEVELS[-1])
        )
        assert plain == best


RANDOM = "random_"
"""How cases begin whose outputs no two runs share."""


@pytest.mark.parametrize("backend", [BACKENDS[0], pytest.param(BACKENDS[1], marks=pytest.mark.slow)])
def test_levels_agree_on_the_conformance_suite(backend):
    for case in load_cases():
        if case.data.startswith(b"<") or case.name.startswith(RANDOM):
            continue
        plain, best = (outcome(case.data, case.inputs, level, backend) for level in (LEVELS[0], LEVELS[-1]))
        assert plain == best, case.name


# ---- levels --------------------------------------------------------------------------------------------------------

LAYERS = model(f"""
    main (int64 n, float[2, {SIDE}] x, {MATRIX} w) => (float[2, {SIDE}] y) {{
        two = Constant <value = float {{2}}> ()
        four = Mul (two, two)
        y = Loop (n, , x) <body = step (int64 i, bool c, float[2, {SIDE}] s) => (bool d, float[2, {SIDE}] t) {{
            d = Identity (c) p = MatMul (x, w) q = Mul (p, four) t = Add (s, q)
        }}>
    }}""")


def ops_of(module: whorl.Module) -> list[str]:
    """The ops of all regions, outer before inner."""
    return [node.op.name for node in module.nodes() if not isinstance(node.op, Constant)]


@pytest.mark.parametrize(
    ("level", "ops"),
    [
        ("ORT_DISABLE_ALL", ["Mul", "Loop", "Identity", "MatMul", "Mul", "Add"]),
        ("ORT_ENABLE_BASIC", ["Loop", "Identity", "MatMul", "Mul", "Add"]),
        ("ORT_ENABLE_EXTENDED", ["Greater", "If", "MatMul", "Mul", "Expand", "Loop", "Identity", "Add"]),
        ("ORT_ENABLE_ALL", ["Greater", "If", "MatMul", "Mul", "Expand", "Loop", "Identity", "Add"]),
    ],
)
def test_level_says_what_a_session_optimises(tmp_path, level, ops):
    path = str(tmp_path / "made.onnx")
    made = session(LAYERS, level, optimized_model_filepath=path)
    assert ops_of(made.module) == ops
    onnx.checker.check_model(path, full_check=True)
    assert sorted(ops_of(whorl.load(path))) == sorted(ops)


def test_default_level_is_all():
    assert ops_of(whorl.InferenceSession(LAYERS).module) == ops_of(session(LAYERS).module)


def test_module_of_the_caller_is_not_changed():
    module = whorl.load(LAYERS)
    before = ops_of(module)
    session(module)
    assert ops_of(module) == before


def test_nothing_is_hoisted_where_memory_is_limited():
    assert ops_of(session(LAYERS, max_memory=1 << 30).module)[0] == "Loop"


def test_model_that_is_written_has_a_weight_once(tmp_path):
    side = _SMALL_MATRIX + 1
    weight = onnx.numpy_helper.from_array(np.ones((side, side), F32), "w")
    body = "d = Identity (c) p = MatMul (s, w) t = Tanh (p)"
    state = f"float[1, {side}]"
    proto = model(f"""
        main (int64 n, {state} x) => ({state} y, {state} z) {{
            y = Loop (n, , x) <body = a (int64 i, bool c, {state} s) => (bool d, {state} t) {{ {body} }}>
            z = Loop (n, , x) <body = b (int64 i, bool c, {state} s) => (bool d, {state} t) {{ {body} }}>
        }}""")
    proto.graph.initializer.append(weight)
    path = tmp_path / "made.onnx"
    made = session(proto, optimized_model_filepath=str(path))
    inside = [loop.regions[0].nodes for loop in made.module.main.nodes if loop.regions]
    assert [sum(node.op.name == "Constant" for node in nodes) for nodes in inside] == [1, 1]
    assert path.stat().st_size < 2 * 4 * side * side


def test_prepared_session_can_be_pickled():
    feeds = {"n": np.array(3), "x": np.ones((2, SIDE), F32), "w": np.ones((SIDE, SIDE), F32)}
    made = session(LAYERS)
    again = pickle.loads(pickle.dumps(made))
    assert ops_of(again.module) == ops_of(made.module)
    np.testing.assert_array_equal(again.run(None, feeds), made.run(None, feeds))


def test_trace_names_what_was_hoisted(tmp_path):
    made = session(LAYERS, backend="interpreter", enable_profiling=True, profile_file_prefix=str(tmp_path / "trace"))
    made.run(None, {"n": np.array(1), "x": np.ones((2, SIDE), F32), "w": np.ones((SIDE, SIDE), F32)})
    text = Path(made.end_profiling()).read_text(encoding="utf-8")
    assert "y.invariants_kernel_time" in text
    assert '"y_kernel_time"' in text


def test_prepare_returns_the_very_module_unless_it_is_shared():
    module = whorl.load(LAYERS)
    assert prepare(module, 0, is_shared=True) is module
    assert prepare(module, 99, is_shared=True) is not module
    assert prepare(module, 99) is module
