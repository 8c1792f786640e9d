"""Regions as plain data."""

import numpy as np
from onnx_text import model
from traced_models import NESTED

import whorl
from whorl.api.exploring.graphs import bodies_of


def test_bodies_come_outer_before_inner_with_their_loops() -> None:
    bodies = bodies_of(whorl.load(NESTED))
    names = [(body["kind"], body["path"], body.get("around")) for body in bodies]
    assert names == [
        ("main", "", None),
        ("loop", "outer", 0),
        ("loop", "outer/inner", 1),
        ("branch", "outer/inner/choice/then_branch", 2),
        ("branch", "outer/inner/choice/else_branch", 2),
    ]
    assert (bodies[1]["trip"], bodies[1]["condition"]) == ("value of n", "always true")


def test_arguments_and_results_say_what_a_loop_does_with_them() -> None:
    outer = bodies_of(whorl.load(NESTED))[1]
    assert [each["role"] for each in outer["arguments"]] == ["iteration", "condition", "carried", "carried"]
    assert outer["arguments"][2]["operand"] == 1
    assert [(each["role"], each["to"]) for each in outer["results"]] == [
        ("condition", ""),
        ("carried", "y"),
        ("carried", "z"),
    ]
    assert outer["values"][outer["results"][2]["value"]]["name"] == "longer"


def test_node_refers_to_values_by_index() -> None:
    inner = bodies_of(whorl.load(NESTED))[2]
    greater = next(node for node in inner["nodes"] if node["op"] == "Greater")
    assert [inner["values"][k]["name"] for k in greater["inputs"]] == ["j", "one"]
    assert inner["values"][greater["inputs"][1]]["constant"] == "int64[] <1>"
    assert inner["nodes"][-1]["bodies"] == [3, 4]


def test_captured_constant_has_its_text_inside() -> None:
    module = whorl.load(
        model("""main (int64 n, float x) => (float y) {
        w = Constant<value = float {2.5}> ()
        [steps] y = Loop (n, , x) <body = b (int64 i, bool k, float s) => (bool h, float t) {
            h = Identity(k) t = Mul(s, w) }>
    }""")
    )
    body = bodies_of(module)[1]
    assert [value["constant"] for value in body["values"] if value["name"] == "w"] == ["float32[] <2.5>"]


def test_large_constants_are_cut() -> None:
    ones = ", ".join(["1.5"] * 9)
    module = whorl.load(
        model(f"main (float[9] x) => (float[9] y) {{ c = Constant<value_floats = [{ones}]> () y = Add(x, c) }}")
    )
    (constant,) = [value["constant"] for value in bodies_of(module)[0]["values"] if "constant" in value]
    assert constant == "float32[9] <...>"


def test_attributes_are_texts() -> None:
    (body,) = bodies_of(whorl.load(model("main (float[n] x) => (int64[n] y) { y = Cast<to = 7>(x) }")))
    assert body["nodes"][0]["attributes"] == ["to = int64"]


def test_omitted_operand_is_minus_one() -> None:
    module = whorl.load(model("main (float[3] x) => (float[3] y) { y = Clip(x) }"))
    module.main.nodes[0].inputs += [None]
    assert bodies_of(module)[0]["nodes"][0]["inputs"][-1] == -1
    assert np.shape(bodies_of(module)[0]["values"]) == (2,)


def test_output_that_a_node_leaves_out_has_no_name() -> None:
    module = whorl.load(NESTED)
    for last in (module.main.nodes[-1].outputs, module.main.results, module.output_names):
        last.pop()
    assert [each["to"] for each in bodies_of(module)[1]["results"]] == ["", "y", ""]
