"""The condition under which a loop has an iteration."""

import numpy as np
import pytest
from onnx_text import model
from passes.bits import assert_same_bits
from passes.test_licm import PRODUCT, SIDE, inside, loop, ops_of, optimized, run

import whorl
from whorl.ops.control.flow import If, Loop
from whorl.passes.guard import can_guard

LOOP = f"""
    main (int64 n, float[2, {SIDE}] x, float[{SIDE}, {SIDE}] w) => (float[2, {SIDE}] y) {{
        y = Loop (n, , x) <body = step (int64 i, bool c, float[2, {SIDE}] s) => (bool d, float[2, {SIDE}] t) {{
            {PRODUCT}
        }}>
    }}"""


def scan(length: str) -> whorl.Module:
    return whorl.load(
        model(f"""
        main (float[2, {SIDE}] x, float[{SIDE}, {SIDE}] w, float[{length}, 2] rows) => (float[2, {SIDE}] y) {{
            y = Scan <num_scan_inputs = 1, body = step (float[2, {SIDE}] s, float[2] row)
                => (float[2, {SIDE}] t) {{
                q = MatMul(x, w) k = ReduceSum <keepdims = 0> (row) p = Mul(q, k) t = Add(s, p)
            }}> (x, rows)
        }}""")
    )


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("backend", ["interpreter", "native"])
def test_scan_of_unknown_length_computes_nothing_without_a_row(rows, backend):
    module = optimized(scan("N"))
    assert ops_of(module.main.nodes) == ["Shape", "GreaterOrEqual", "If", "Loop"]
    assert inside(module) == ["ReduceSum", "Mul", "Add"]
    rng = np.random.default_rng(0)
    shapes = {"x": (2, SIDE), "w": (SIDE, SIDE), "rows": (rows, 2)}
    feeds = {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    assert_same_bits(run(scan("N"), feeds, backend), run(module, feeds, backend))


def test_scan_of_known_length_needs_no_guard():
    assert ops_of(optimized(scan("4")).main.nodes) == ["MatMul", "Loop"]


@pytest.mark.parametrize(("trip", "guards"), [("int64[1]", True), ("int64[1, 1]", True), ("int64[K]", False)])
def test_trip_count_of_one_element_guards_whatever_its_rank(trip, guards):
    module = whorl.load(model(LOOP.replace("int64 n", f"{trip} n")))
    (node,) = [each for each in module.main.nodes if isinstance(each.op, Loop)]
    assert can_guard(node) is guards
    assert inside(optimized(module)) == (["Add"] if guards else ["MatMul", "Add"])


NESTED = f"""
    main (int64 n, int64 m, float[2, {SIDE}] x, float[{SIDE}, {SIDE}] w) => (float[2, {SIDE}] y) {{
        y = Loop (n, , x) <body = outer (int64 i, bool c, float[2, {SIDE}] s) => (bool d, float[2, {SIDE}] t) {{
            d = Identity(c)
            t = Loop (m, , s) <body = inner (int64 j, bool e, float[2, {SIDE}] u) => (bool f, float[2, {SIDE}] v) {{
                f = Identity(e) q = MatMul(x, w) v = Add(u, q)
            }}>
        }}>
    }}"""


@pytest.mark.parametrize("counts", [(0, 0), (0, 2), (2, 0), (1, 1), (2, 3)])
@pytest.mark.parametrize("backend", ["interpreter", "native"])
def test_product_leaves_both_of_two_nested_loops(counts, backend):
    module = optimized(whorl.load(model(NESTED)))
    (outer,) = [node for node in module.main.nodes if isinstance(node.op, Loop)]
    (inner,) = [node for node in outer.regions[0].nodes if isinstance(node.op, Loop)]
    assert not [node for node in outer.regions[0].nodes if isinstance(node.op, If)]
    assert "MatMul" not in ops_of(inner.regions[0].nodes)
    rng = np.random.default_rng(0)
    feeds = {"n": np.array(counts[0]), "m": np.array(counts[1])}
    feeds |= {name: rng.standard_normal(s, np.float32) for name, s in (("x", (2, SIDE)), ("w", (SIDE, SIDE)))}
    assert_same_bits(run(whorl.load(model(NESTED)), feeds, backend), run(module, feeds, backend))


def test_guarded_values_keep_the_types_that_the_body_saw():
    plain, hoisted = loop(PRODUCT), optimized(loop(PRODUCT))
    assert [v.type for v in plain.main.results] == [v.type for v in hoisted.main.results]
