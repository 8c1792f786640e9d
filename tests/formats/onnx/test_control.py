"""Bodies and branches: their names, types, and what a node with graphs is refused for, with whole messages."""

import numpy as np
import onnx
import pytest
from onnx_text import model, refusal, run

import whorl
from whorl.formats.onnx.saving import to_proto

X = np.array([1, 2], np.float32)
YES, NO = np.array(True), np.array(False)


def test_body_may_hide_an_outer_name():
    source = model("""main (bool c, float[2] x) => (float[2] y) {
        a = Neg(x)
        [if] y = If (c) <
            then_branch = t () => (float[2] r) { before = Abs(a) a = Exp(before) r = Identity(a) },
            else_branch = e () => (float[2] r) <float[2] a = {5, 6}> { r = Identity(a) }>
    }""")
    np.testing.assert_allclose(run(source, c=YES, x=X), [np.exp(X)], rtol=1e-6)
    np.testing.assert_array_equal(run(source, c=NO, x=X), [[5, 6]])


def test_sibling_bodies_may_use_the_same_names():
    source = model("""main (bool c, float x) => (float y) {
        y = If (c) <then_branch = t () => (float r) { a = Neg(x) r = Neg(a) }, else_branch = e () => (float r)
            { a = Abs(x) r = Neg(a) }>
    }""")
    np.testing.assert_array_equal(run(source, c=NO, x=np.float32(-3)), [-3])


def test_body_initializer_among_its_inputs_is_a_constant():
    source = model("""main (int64 n, float x) => (float y) {
        y = Loop (n, "", x) <body = b (int64 i, bool c, float s, float step) => (bool d, float t) <float step = {2}> {
            d = Identity(c) t = Add(s, step)
        }>
    }""")
    np.testing.assert_array_equal(run(source, n=np.int64(3), x=np.float32(1)), [7])


def loop(body: str, inputs: str = '(n, "", x)', heading: str = "int64 n, float x") -> onnx.ModelProto:
    return model(f"main ({heading}) => (float y) {{ [l] y = Loop {inputs} <body = {body}> }}")


def test_body_without_types_takes_the_ones_it_is_passed():
    source = loop("b (int64 i, bool c, float s) => (bool d, float t) { d = Identity(c) t = Add(s, s) }")
    body = source.graph.node[0].attribute[0].g
    for info in (*body.input, *body.output):
        info.ClearField("type")
    np.testing.assert_array_equal(run(source, n=np.int64(3), x=np.float32(1)), [8])


@pytest.mark.parametrize("shape", ["", "[1]", "[1, 1]"])
def test_number_and_condition_of_one_element_have_the_rank_that_the_body_declares(shape):
    body = f"b (int64{shape} i, bool{shape} c, float s) => (bool{shape} d, float t)"
    body += " { d = Identity(c) j = Cast<to = 1> (i) k = ReduceSum<keepdims = 0> (j) t = Add(s, k) }"
    source = loop(body, "(n, c, x)", f"int64{shape} n, bool{shape} c, float x")
    one = np.ones((1,) * shape.count("1"))
    passed = {"n": (4 * one).astype(np.int64), "c": one.astype(np.bool_), "x": np.float32(0)}
    np.testing.assert_array_equal(run(source, **passed), [6])


@pytest.mark.parametrize("shape", ["[1]", "[1, 1]"])
def test_condition_of_if_may_have_one_element_of_any_rank(shape):
    source = model(f"""main (bool{shape} c, float x) => (float y) {{
        y = If (c) <then_branch = t () => (float r) {{ r = Neg(x) }}, else_branch = e () => (float r) {{ r = Abs(x) }}>
    }}""")
    np.testing.assert_array_equal(run(source, c=np.ones((1,) * shape.count("1"), np.bool_), x=np.float32(2)), [-2])


def test_number_declared_with_two_elements():
    assert refusal(loop("b (int64[2] i, bool c, float s) => (bool c, float s) { u = Neg(s) }")) == (
        "Loop 'l': input 'i' of its body is declared int64[2], expected one element"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "b (int64 i) => (bool d) { d = Identity(i) }",
            "Loop 'l': its body takes 1 inputs, expected the iteration number and the condition first",
        ),
        ("b (int64 i, bool c) => (bool c) { u = Neg(i) }", "body of Loop 'l': takes 2 inputs, expected 3"),
        (
            "b (int64 i, bool c, float s) => (bool c) { u = Neg(s) }",
            "Loop 'l': has 1 carried inputs and 1 outputs, but its body gives 1 values",
        ),
        (
            "b (int64 i, bool c, int64 s) => (bool c, int64 s) { u = Neg(s) }",
            "Loop 'l': input 's' of body of Loop 'l' is declared int64[] but receives float32[]\n"
            "  fix: correct the declaration",
        ),
        (
            "b (int64 i, bool c, float s) => (bool c, float t) { u = Neg(s) }",
            "body of Loop 'l': output 't' is not produced by any node",
        ),
        (
            "b (int64 i, bool c, float s) => (bool c, int64 t) { t = Neg(s) }",
            "body of Loop 'l': output 't' is declared int64[] but computed as float32[]\n"
            "  fix: correct the declaration",
        ),
        (
            "b (int64 i, bool c, float s) => (bool c, float t) { [v] t = Constant() }",
            "Constant 'v' in body of Loop 'l': needs one attribute that says its value, has none",
        ),
        (
            "b (int64 i, bool c, float s) => (bool c, float t) { [add] t = Add(s, i) }",
            "Add 'add' in body of Loop 'l': inputs have different element types: float32, int64\n  fix: insert a Cast",
        ),
    ],
)
def test_loop_whose_body_does_not_fit(body, message):
    assert refusal(loop(body)) == message


@pytest.mark.parametrize(("outputs", "expected"), [('y, ""', 0), ('"", y', 1)])
def test_branches_may_give_more_than_is_used(outputs, expected):
    branch = "() => (float a, float b) <float a = {0}, float b = {1}> { }"
    source = model(f"""main (bool c) => (float y) {{
        {outputs} = If (c) <then_branch = t {branch}, else_branch = e {branch}>
    }}""")
    for proto in (source, to_proto(whorl.load(source))):
        assert run(proto, c=YES) == [expected]


def test_branch_that_gives_less_than_the_outputs():
    source = model("""main (bool c) => (float y) {
        [if] y, z = If (c) <then_branch = t () => (float a) <float a = {0}> { },
                            else_branch = e () => (float b) <float b = {0}> { }>
    }""")
    assert refusal(source) == "If 'if': then_branch gives 1 values, the node has 2 outputs"


def test_scan_takes_no_sequence_as_a_state():
    source = model("""main (float[3, 2] x) => (seq(float[2]) y) {
        empty = SequenceEmpty ()
        [scan] y = Scan <num_scan_inputs = 1, body = b (seq(float[2]) s, float[2] row) => (seq(float[2]) t)
            { t = SequenceInsert(s, row) }> (empty, x)
    }""")
    assert refusal(source) == "Scan 'scan': a state is seq(float32[*]), expected a tensor"


def test_name_of_a_length_in_a_sequence_binds_nothing():
    source = model("""main (seq(float[k]) s, float[k] x) => (float[k] a, float[k] b, int64 same) {
        zero = Constant <value_int = 0> ()
        one = Constant <value_int = 1> ()
        a = SequenceAt(s, zero)
        b = SequenceAt(s, one)
        p = Shape(a)
        q = Shape(b)
        gap = Sub(p, q)
        same = ReduceSum(gap)
    }""")
    a, b, _ = whorl.load(source).main.results
    assert a.type != b.type
    one, two = np.ones(1, np.float32), np.ones(2, np.float32)
    assert run(source, s=[one, two], x=one)[2] == -1
