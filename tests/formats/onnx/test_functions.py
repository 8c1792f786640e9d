"""Model-local functions: what a call binds, and what is refused, with whole messages."""

import numpy as np
import onnx
import pytest
from onnx_text import model, refusal, run

import whorl

X = np.array([-4, 2], np.float32)
LOCAL = ', "local": 1'


def calling(main: str, *functions: str, opset: int = 21) -> onnx.ModelProto:
    """A model whose graph, from x to y, may call functions `name (inputs) => (outputs) { ... }` of the domain local."""
    texts = [f'<domain: "local", opset_import: ["": {opset}, "local": 1]> {text}' for text in functions]
    return model("\n".join([f"main (float[2] x) => (float[2] y) {{ {main} }}", *texts]), opset, LOCAL)


LEAKY = "F <alpha: float = 0.25> (a) => (b) { b = LeakyRelu<alpha: float = @alpha> (a) }"
CLIP = "F (a, low, high) => (b) { b = Clip(a, low, high) }"


def test_names_of_a_function_are_its_own():
    source = calling(
        "t = Neg(x) [call] u = local.F(t) y = Add(u, t)", "F (t) => (x) { y = Exp(t) [inner] x = Sub(y, t) }"
    )
    np.testing.assert_allclose(run(source, x=X), [np.exp(-X)], rtol=1e-6)


def test_function_is_chosen_by_its_overload():
    source = calling("y = local.F:twice(x)", "F (a) => (b) { b = Neg(a) }")
    other = onnx.FunctionProto()
    other.CopyFrom(source.functions[0])
    other.overload, other.node[0].op_type = "twice", "Add"
    other.node[0].input.append("a")
    source.functions.append(other)
    np.testing.assert_array_equal(run(source, x=X), [X + X])


def test_overload_that_is_missing():
    source = calling("y = local.F:thrice(x)", "F (a) => (b) { b = Neg(a) }")
    assert refusal(source) == (
        "the model uses ops that are not supported:\n"
        "  F 'y': domain 'local' is unknown and the model has no function for it\n"
        "  fix: replace them, or add model-local functions that define them"
    )


def test_function_defined_twice():
    source = calling("y = local.F(x)", LEAKY, LEAKY)
    assert refusal(source) == "function 'F' is defined twice\n  fix: rename one, or give it an overload"


@pytest.mark.parametrize(("call", "slope"), [("local.F<alpha = 0.5>", 0.5), ("local.F", 0.25)])
def test_attribute_is_passed_or_the_default(call, slope):
    np.testing.assert_array_equal(run(calling(f"y = {call}(x)", LEAKY), x=X), [[-4 * slope, 2]])


def test_attribute_without_default_that_is_not_passed_is_the_op_s_own():
    function = "F <alpha> (a) => (b) { b = LeakyRelu<alpha: float = @alpha> (a) }"
    np.testing.assert_allclose(run(calling("y = local.F(x)", function), x=X), [[-0.04, 2]], rtol=1e-6)


def test_attribute_that_the_op_needs_but_no_one_gives():
    function = "F <axis> (a) => (b) { [join] b = Concat<axis: int = @axis> (a) }"
    assert (
        refusal(calling("[call] y = local.F(x)", function))
        == "Concat 'join' in function 'F': lacks the attribute 'axis'"
    )


def test_attribute_reaches_functions_and_graphs_inside():
    outer = """G <slope> (a) => (b) { yes = Constant<value = bool {1}> () b = If (yes) <
        then_branch = t () => (float[2] r) { r = local.F<alpha: float = @slope> (a) },
        else_branch = e () => (float[2] r) { r = Identity(a) }> }"""
    np.testing.assert_array_equal(run(calling("y = local.G<slope = 2.0>(x)", outer, LEAKY), x=X), [[-8, 2]])


def test_attribute_that_the_function_does_not_have():
    assert refusal(calling("y = local.F<beta = 1>(x)", LEAKY)) == "F 'y': attribute 'beta' is not one of function 'F'"


def test_graph_that_the_caller_gives_as_an_attribute():
    source = calling(
        "y = local.F(x)", "F <branch> (a) => (b) { c = Constant<value = bool {1}> () b = If (c) <axis = 1> }"
    )
    choice = source.functions[0].node[1]
    del choice.attribute[:]
    for name in ("then_branch", "else_branch"):
        choice.attribute.append(onnx.AttributeProto(name=name, type=onnx.AttributeProto.GRAPH, ref_attr_name="branch"))
    assert refusal(source) == (
        "If 'b' in function 'F': attribute 'then_branch' is a graph that the caller of the function gives\n"
        "  fix: inline the function"
    )


@pytest.mark.parametrize(
    ("call", "expected"),
    [("local.F(x)", [-4, 2]), ('local.F(x, "", one)', [-4, 1]), ("local.F(x, one)", [1, 2])],
)
def test_inputs_may_be_left_out(call, expected):
    source = calling(f"one = Constant<value = float {{1}}> () y = {call}", CLIP)
    np.testing.assert_array_equal(run(source, x=X), [expected])


def test_input_left_out_is_missing_in_a_graph_inside_too():
    function = """F (a, low) => (b) { yes = Constant<value = bool {1}> () b = If (yes) <
        then_branch = t () => (float[2] r) { r = Clip(a, low) }, else_branch = e () => (float[2] r) { r = Neg(a) }> }"""
    np.testing.assert_array_equal(run(calling("y = local.F(x)", function), x=X), [X])
    np.testing.assert_array_equal(
        run(calling("one = Constant<value = float {1}> () y = local.F(x, one)", function), x=X), [[1, 2]]
    )


def test_input_left_out_that_an_op_needs():
    assert refusal(calling("y = local.F(x)", "F (a, b) => (c) { [add] c = Add(a, b) }")) == (
        "Add 'add' in function 'F': input 1 (B) is missing\n  fix: give the input a name"
    )


def test_too_many_inputs():
    assert refusal(calling("y = local.F(x, x)", LEAKY)) == "F 'y': passes 2 inputs to function 'F', which takes 1"


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (["F (a) => (b) { [again] b = local.F(a) }"], "F 'again' in function 'F': function 'F' calls itself"),
        (
            ["F (a) => (b) { [there] b = local.G(a) }", "G (a) => (b) { [back] b = local.F(a) }"],
            "F 'back' in function 'G' in function 'F': function 'F' calls itself",
        ),
    ],
)
def test_recursion(functions, message):
    assert refusal(calling("y = local.F(x)", *functions)) == f"{message}\n  fix: use a Loop"


def chain(length: int) -> onnx.ModelProto:
    steps = [f"F{k} (a) => (b) {{ b = local.F{k + 1}(a) }}" for k in range(length - 1)]
    return calling("y = local.F0(x)", *steps, f"F{length - 1} (a) => (b) {{ b = Neg(a) }}")


def test_calls_as_deep_as_the_limit():
    np.testing.assert_array_equal(run(chain(64), x=X), [-X])


def test_calls_deeper_than_the_limit():
    assert refusal(chain(4), max_depth=3) == (
        "F3 'b' in function 'F2' in function 'F1' in function 'F0': functions call each other deeper than 3\n"
        "  fix: raise max_depth if the file is trusted"
    )


def test_function_has_opset_versions_of_its_own():
    source = calling("y = local.F(x)", "F (a) => (b) { m = ReduceSum<axes = [0], keepdims = 0> (a) b = Add(a, m) }")
    source.functions[0].opset_import[0].version = 11
    np.testing.assert_array_equal(run(source, x=X), [[-6, 0]])


def test_function_of_an_opset_that_is_not_known():
    source = calling("y = local.F(x)", LEAKY)
    source.functions[0].opset_import[0].version = 29
    assert refusal(source) == (
        "function 'F': the model uses version 29 of domain 'ai.onnx'; versions 1 to 28 are known\n"
        "  fix: convert the model with onnx.version_converter"
    )


def test_output_that_the_function_does_not_produce():
    assert refusal(calling("y = local.F(x)", "F (a) => (b) { c = Neg(a) }")) == (
        "F 'y': function 'F' does not produce its output 'b'"
    )


def test_output_that_the_function_does_not_have():
    assert refusal(calling("y, z = local.F(x)", LEAKY)) == "F 'y': has no output 1"


def test_output_of_a_function_may_be_its_input():
    np.testing.assert_array_equal(run(calling("y = local.F(x)", "F (a) => (a) { b = Neg(a) }"), x=X), [X])


def test_function_replaces_an_operator():
    source = calling("y = Neg(x)", "F (a) => (b) { b = Abs(a) }")
    source.functions[0].domain, source.functions[0].name = "", "Neg"
    np.testing.assert_array_equal(run(source, x=X), [np.abs(X)])


def test_error_in_a_function_is_located():
    source = calling("[call] y = local.F(x)", "F (a) => (b) { i = Cast<to = 7> (a) [add] b = Add(a, i) }")
    assert refusal(source) == (
        "Add 'add' in function 'F': inputs have different element types: float32, int64\n  fix: insert a Cast"
    )


def test_missing_name_in_a_function_is_located():
    assert refusal(calling("w = Neg(x) y = local.F(x)", "F (a) => (b) { b = Add(a, w) }")) == (
        "Add 'b' in function 'F': reads 'w', which nothing produces\n  fix: add the missing input or node"
    )


def test_function_that_no_node_calls_may_hold_anything():
    source = calling("y = Neg(x)", "F (a) => (b) { b = vendor.Mystery(a) }")
    assert [node.op.name for node in whorl.load(source).main.nodes] == ["Neg"]
