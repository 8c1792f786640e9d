"""What the values of a loop's body depend on."""

from onnx_text import model

import whorl
from whorl.api.exploring.dependence import (
    BATCHED,
    CARRIED,
    INVARIANT,
    is_varying,
    of_arguments,
    of_values,
    visible_names,
)

LOOP = whorl.load(
    model("""main (int64 n, float[3] x, float[4, 3] rows, float[3] w, float[3] g) => (float[3] y, float[k] z) {
    c = Constant<value = bool {1}> ()
    [steps] y, z = Loop (n, c, x, g) <body = b (int64 i, bool k, float[3] s, float[q] grown)
        => (bool h, float[3] t, float[r] longer) {
        h = Identity(k) fixed = Exp(w) row = Gather(rows, i) scaled = Mul(row, fixed) t = Add(s, scaled)
        drawn = RandomNormalLike(w) longer = Concat<axis = 0>(grown, drawn)
    }>
}""")
)
(LOOP_NODE,) = (node for node in LOOP.main.nodes if node.regions)


def test_values_of_a_body_are_invariant_batched_or_carried() -> None:
    (body,) = LOOP_NODE.regions
    depends = of_values(body, of_arguments(LOOP_NODE, {}))
    by_name = {value.name: how for value, how in depends.items()}
    assert [by_name[name] for name in ("h", "fixed", "w")] == [INVARIANT] * 3
    assert [by_name[name] for name in ("i", "row", "scaled")] == [BATCHED] * 3
    assert [by_name[name] for name in ("s", "t", "longer", "grown")] == [CARRIED] * 4


def test_random_draws_follow_one_another() -> None:
    (body,) = LOOP_NODE.regions
    depends = of_values(body, of_arguments(LOOP_NODE, {}))
    assert {value.name: how for value, how in depends.items()}["drawn"] == CARRIED


def test_shape_varies_where_its_lengths_are_not_known_outside() -> None:
    visible = visible_names(LOOP_NODE, set())
    values = [value for node in LOOP_NODE.regions[0].nodes for value in node.outputs]
    assert [value.name for value in values if is_varying(value, visible)] == ["longer"]


def test_branch_depends_on_what_it_captures() -> None:
    module = whorl.load(
        model("""main (bool c, float x) => (float y) {
        y = If (c) <then_branch = t () => (float a) { a = Neg(x) }, else_branch = e () => (float b) { b = Exp(x) }>
    }""")
    )
    (node,) = module.main.nodes
    operands = dict.fromkeys(module.main.arguments, BATCHED)
    assert set(of_arguments(node, operands).values()) == {BATCHED}
    assert visible_names(node, {"n"}) == {"n"}
