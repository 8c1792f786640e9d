"""What leaves a loop, what remains in it, and that nothing changes where no iteration runs."""

import numpy as np
import pytest
from onnx_text import model
from passes.bits import assert_same_bits
from passes.programs import Case, check

import whorl
from whorl.ir.constants import Constant
from whorl.ir.graph import Module, Node
from whorl.ops.control.flow import If, Loop
from whorl.passes.context import PassOptions
from whorl.passes.hoisted_memory import LIGHT, SMALL
from whorl.passes.pipeline import optimize

SIDE = 160
"""The length of a side of a matrix that is not light."""
assert 4 * SIDE * SIDE > LIGHT
ARGUMENTS = f"int64 n, bool go, float[2, {SIDE}] x, float[{SIDE}, {SIDE}] w, float[2, 3] small, int64[2] whole"


def loop(body: str, start: str = "n, go", result: str = f"float[2, {SIDE}]") -> Module:
    """A loop of one carried value, which begins as x."""
    return whorl.load(
        model(f"""
        main ({ARGUMENTS}) => ({result} y) {{
            true = Constant <value = bool {{1}}> ()
            [walk] y = Loop ({start}, x) <body = step (int64 i, bool c, {result} s) => (bool d, {result} t) {{
                {body}
            }}>
        }}""")
    )


def optimized(module: Module, **options) -> Module:
    optimize(module, PassOptions(verify=True, only=("simplify_control_flow", "dce"), **options))
    return module


def ops_of(nodes) -> list[str]:
    return [node.op.name for node in nodes if not isinstance(node.op, Constant)]


def loop_of(module: Module) -> Node:
    return next(node for node in module.main.nodes if isinstance(node.op, Loop))


def inside(module: Module) -> list[str]:
    """The ops in the body of the loop, but for what hands on its condition."""
    return [name for name in ops_of(loop_of(module).regions[0].nodes) if name != "Identity"]


PRODUCT = "d = Identity(c) q = MatMul(x, w) t = Add(s, q)"


def feeds(n: int = 3, go: bool = True):
    rng = np.random.default_rng(0)
    return {
        "n": np.array(n),
        "go": np.array(go),
        "x": rng.standard_normal((2, SIDE)).astype(np.float32),
        "w": rng.standard_normal((SIDE, SIDE)).astype(np.float32),
        "small": rng.standard_normal((2, 3)).astype(np.float32),
        "whole": np.array([0, 1]),
    }


def test_product_leaves_a_loop_of_unknown_length_under_a_guard():
    module = optimized(loop(PRODUCT))
    assert ops_of(module.main.nodes) == ["Greater", "And", "If", "Loop"]
    guarded = next(node for node in module.main.nodes if isinstance(node.op, If))
    assert guarded.name == "walk.invariants"
    assert ops_of(guarded.regions[0].nodes) == ["MatMul"]
    assert inside(module) == ["Add"]


def test_product_of_a_loop_that_surely_runs_needs_no_guard():
    module = optimized(loop(f"e = Constant <value = bool {{1}}> () {PRODUCT.replace('(c)', '(e)')}", ", true"))
    assert ops_of(module.main.nodes) == ["MatMul", "Loop"]


def test_light_node_is_computed_in_any_case():
    module = optimized(loop("d = Identity(c) q = ReduceSum <keepdims = 0> (small) t = Mul(s, q)"))
    assert ops_of(module.main.nodes) == ["ReduceSum", "Loop"]


def test_light_node_after_a_heavy_one_is_guarded_too():
    module = optimized(loop("d = Identity(c) q = MatMul(x, w) r = ReduceSum <keepdims = 0> (q) t = Mul(s, r)"))
    assert ops_of(module.main.nodes) == ["Greater", "And", "If", "Loop"]
    assert inside(module) == ["Mul"]


@pytest.mark.parametrize(
    "body",
    [
        "h = Div(whole, whole) f = Cast <to = 1> (h) q = ReduceSum <keepdims = 0> (f) d = Identity(c) t = Mul(s, q)",
        "row = Gather <axis = 1> (x, whole) q = ReduceSum <keepdims = 0> (row) d = Identity(c) t = Mul(s, q)",
        "r = RandomNormalLike(x) d = Identity(c) t = Add(s, r)",
    ],
    ids=["division", "index", "random"],
)
def test_node_that_may_fail_or_draws_remains(body):
    assert ops_of(optimized(loop(body)).main.nodes) == ["Loop"]


@pytest.mark.parametrize("trips", [0, 1, 2, 5, -1])
@pytest.mark.parametrize("go", [True, False])
@pytest.mark.parametrize("backend", ["interpreter", "native"])
def test_hoisting_keeps_every_bit_for_any_number_of_iterations(trips, go, backend):
    results = [run(module, feeds(trips, go), backend) for module in (loop(PRODUCT), optimized(loop(PRODUCT)))]
    assert_same_bits(*results)


def run(module: Module, values, backend: str):
    options = whorl.SessionOptions()
    options.backend = backend
    return whorl.InferenceSession(module, options).run(None, values)


def test_results_together_stay_below_the_bytes_that_the_options_allow():
    body = "d = Identity(c) q = MatMul(w, w) p = MatMul(x, w) r = MatMul(x, q) u = Add(p, r) t = Add(s, u)"
    assert inside(optimized(loop(body))) == ["Add"]
    both = "d = Identity(c) q = MatMul(w, w) v = MatMul(s, q) p = MatMul(x, w) t = Add(v, p)"
    assert inside(optimized(loop(both))) == ["MatMul", "Add"]
    assert inside(optimized(loop(both), hoisted_bytes=4 * 2 * SIDE)) == ["MatMul", "MatMul", "Add"]
    assert inside(optimized(loop(both), hoisted_bytes=0)) == ["MatMul", "MatMul", "MatMul", "Add"]


def test_value_that_is_much_larger_than_what_it_is_made_of_remains():
    wide = f"shape = Constant <value = int64[2] {{{SMALL}, 1}}> () d = Identity(c) wide = Expand(small, shape)"
    spread = wide.replace("small", "one") + " sum = Add(wide, k) p = ReduceMax <keepdims = 0> (sum) t = Mul(s, p)"
    first = "one = ReduceSum <keepdims = 1> (small)"
    changing = f"{first} k = ReduceSum <keepdims = 0> (s) {spread}"
    assert inside(optimized(loop(changing))) == ["ReduceSum", "Expand", "Add", "ReduceMax", "Mul"]
    fixed = f"{first} k = ReduceSum <keepdims = 0> (x) {spread}"
    assert inside(optimized(loop(fixed))) == ["Mul"]


CASES = {
    "what_is_the_same_each_time_moves_out": Case(
        """main(%x: float32[2], %y: float32[2], %m: int64[]) {
  %r: float32[2] = Loop(%m, _, %x, %y) {carried = 1}
  body(%i: int64[], %g: bool[], %s: float32[2], %k: float32[2]) {
    %e: float32[2] = Exp(%k)
    %t: float32[2] = Add(%s, %e)
    return %g, %t
  }
  return r = %r
}""",
        """main(%x: float32[2], %y: float32[2], %m: int64[]) {
  %e: float32[2] = Exp(%y)
  %r: float32[2] = Loop(%m, _, %x, %e) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: float32[2], %e: float32[2]) {
    %t: float32[2] = Add(%s, %e)
    return %g, %t
  }
  return r = %r
}""",
    ),
    "what_may_fail_stays_in_a_loop_that_may_not_run": Case(
        """main(%x: int32[2], %y: int32[2], %m: int64[]) {
  %r: int32[2] = Loop(%m, _, %x, %y) {carried = 1}
  body(%i: int64[], %g: bool[], %s: int32[2], %k: int32[2]) {
    %e: int32[2] = Div(%k, %k)
    %t: int32[2] = Add(%s, %e)
    return %g, %t
  }
  return r = %r
}""",
        """main(%x: int32[2], %y: int32[2], %m: int64[]) {
  %r: int32[2] = Loop(%m, _, %x, %y) {carried = 1}
  body(%i: int64[], %g: bool[] {True}, %s: int32[2], %k: int32[2]) {
    %e: int32[2] = Div(%k, %k)
    %t: int32[2] = Add(%s, %e)
    return %g, %t
  }
  return r = %r
}""",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_program_becomes_what_it_must(case: Case) -> None:
    check(case)
