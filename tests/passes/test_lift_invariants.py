"""Invariants of all loops at once."""

from onnx_text import model
from passes.test_licm import SIDE

import whorl
from whorl.ir.constants import Constant
from whorl.ir.graph import Module
from whorl.ir.verify import verify
from whorl.ops.control.flow import Loop
from whorl.passes.context import Context, PassOptions
from whorl.passes.lift_invariants import lift_invariants

MATRIX = f"float[{SIDE}, {SIDE}]"


def lifted(text: str, **options) -> Module:
    module = whorl.load(model(text))
    lift_invariants(module, Context(module, PassOptions(keep_errors=True, **options)))
    verify(module)
    return module


def ops_of(nodes) -> list[str]:
    return [node.op.name for node in nodes if not isinstance(node.op, Constant)]


def loops(module: Module):
    return [node for node in module.nodes() if isinstance(node.op, Loop)]


def test_product_leaves_three_nested_loops_in_one_walk():
    inner = "e = Identity (c) q = MatMul (w, w) k = ReduceSum <keepdims = 0> (q) t = Add (s, k)"
    for depth in range(3):
        inner = f"""e = Identity (c) t = Loop (m, , s) <body = b{depth} (int64 i, bool c, float s)
            => (bool e, float t) {{ {inner} }}>"""
    module = lifted(f"main (int64 m, bool c, float s, {MATRIX} w) => (bool e, float t) {{ {inner} }}")
    assert ops_of(module.main.nodes) == ["Identity", *["Greater"] * 3, "If", "Loop"], "a guard for each loop"
    assert [ops_of(loop.regions[0].nodes) for loop in loops(module)] == [
        ["Identity", "Loop"],
        ["Identity", "Loop"],
        ["Identity", "Add"],
    ]


def test_node_that_may_fail_remains_also_where_an_iteration_surely_runs_it():
    body = "d = Identity (c) q = Div (a, b) t = Add (s, q)"
    module = lifted(f"""
        main (int64 a, int64 b, int64 x) => (int64 y) {{
            three = Constant <value = int64 {{3}}> ()
            y = Loop (three, , x) <body = step (int64 i, bool c, int64 s) => (bool d, int64 t) {{ {body} }}>
        }}""")
    assert ops_of(module.main.nodes) == ["Loop"]


def test_weight_that_is_carried_unchanged_is_captured():
    module = lifted("""
        main (int64 n, float x, float w) => (float y, float v) {
            y, v = Loop (n, , x, w) <body = step (int64 i, bool c, float s, float u) => (bool d, float t, float u) {
                d = Identity (c) t = Add (s, u)
            }>
        }""")
    (loop,) = loops(module)
    assert loop.op.carried == 1
    assert module.main.results == [loop.outputs[0], module.main.arguments[2]]


def test_state_that_an_identity_hands_on_never_changes():
    module = lifted("""
        main (int64 n, float x, float w) => (float y, float v) {
            y, v = Loop (n, , x, w) <body = step (int64 i, bool c, float s, float u) => (bool d, float t, float o) {
                d = Identity (c) t = Add (s, u) p = Identity (u) o = Cast <to = 1> (p)
            }>
        }""")
    assert loops(module)[0].op.carried == 1


def test_loop_that_would_have_no_results_keeps_its_states():
    module = lifted("""
        main (int64 n, float w) => (float v) {
            v = Loop (n, , w) <body = step (int64 i, bool c, float u) => (bool d, float u) { d = Identity (c) }>
        }""")
    assert loops(module)[0].op.carried == 1


def test_branch_keeps_its_nodes_and_gets_small_constants():
    module = lifted("""
        main (bool c, float x) => (float y) {
            two = Constant <value = float {2}> ()
            y = If (c) <then_branch = t () => (a) { a = Mul (x, two) }, else_branch = e () => (b) { b = Neg (x) }>
        }""")
    (branch,) = [node for node in module.main.nodes if node.regions]
    assert len(branch.inputs) == 2
    assert [node.op.name for node in branch.regions[0].nodes] == ["Constant", "Mul"]


def test_module_without_control_flow_is_left_as_it_is():
    module = whorl.load(model("main (float x) => (float y) { y = Neg (x) }"))
    nodes = module.main.nodes
    lift_invariants(module, Context(module))
    assert module.main.nodes is nodes
