"""How graphs are read: the order of nodes, names, versions, schemas; what is refused, with whole messages."""

import pytest
from onnx_text import model, refusal

# ---- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("main (float x) => (float y) { y = Neg(x) y = Abs(x) }", "Abs 'y': produces 'y', which already has a value"),
        ("main (float x) => (float x) { x = Neg(x) }", "Neg 'x': produces 'x', which already has a value"),
        (
            "main (float x) => (float w) <float w = {1}> { w = Exp(x) }",
            "Exp 'w': produces 'w', which already has a value",
        ),
    ],
)
def test_name_with_two_values(graph, message):
    assert refusal(model(graph)) == f"{message}\n  fix: rename one of them"


def test_input_declared_twice():
    assert refusal(model("main (float x, float x) => (float y) { y = Neg(x) }")) == "input 'x' is declared twice"


def test_body_input_declared_twice():
    source = model("""main (int64 n, float x) => (float y) {
        [l] y = Loop (n, "", x) <body = b (int64 i, bool i, float s) => (bool i, float s) { unused = Neg(s) }>
    }""")
    assert refusal(source) == "Loop 'l': input 'i' of body of Loop 'l' is declared twice"


def test_name_that_is_not_text():
    data = model("main (float x) => (float y) { name_of_a = Neg(x) y = Neg(name_of_a) }").SerializeToString()
    assert refusal(data.replace(b"name_of_a", b"name_\xff\xfe_a")) == (
        "the name b'name_\\xff\\xfe_a' is not UTF-8\n  fix: the file is damaged"
    )


# ---- versions ------------------------------------------------------------------------------------------------------


def test_ir_version_that_is_not_known():
    source = model("main (float x) => (float y) { y = Neg(x) }")
    source.ir_version = 15
    assert refusal(source) == "the model has IR version 15; versions up to 14 are known"


def test_unsupported_ops_are_reported_at_once_with_their_positions():
    source = model(
        """main (bool c, float x) => (float y) {
            [first] a = Mystery(x)
            [gelu] b = Gelu(a)
            [if] d = If (c) <
                then_branch = t () => (float r) { [l] r = Loop ("", c, b) <body = s (int64 i, bool k, float v)
                    => (bool k2, float v2) { k2 = Identity(k) [deep] v2 = CumProd(v, i) }> },
                else_branch = e () => (float r) { r = vendor.Thing(b) }>
            y = local.F(d)
        }
        <domain: "local", opset_import: ["": 13]> F (x) => (y) { y = HardSwish(x) }""",
        opset=13,
        domains=', "vendor": 1, "local": 1',
    )
    assert refusal(source) == (
        "the model uses ops that are not supported:\n"
        "  Mystery 'first': Mystery is not an operator of ai.onnx 13\n"
        "  Gelu 'gelu': Gelu came with version 20; the model imports ai.onnx 13\n"
        "  CumProd 'deep' in body of Loop 'l' in then_branch of If 'if': CumProd came with version 26; "
        "the model imports ai.onnx 13\n"
        "  Thing 'r' in else_branch of If 'if': domain 'vendor' is unknown and the model has no function for it\n"
        "  HardSwish 'y' in function 'F': HardSwish came with version 14; the model imports ai.onnx 13\n"
        "  fix: replace them, or add model-local functions that define them"
    )


# ---- nodes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("y = Neg<axis = 1> (x)", "Neg 'y': has the attribute 'axis', which version 13 does not know"),
        ("y = Concat(x)", "Concat 'y': lacks the attribute 'axis'"),
        ("y = Concat<axis = 1.5> (x)", "Concat 'y': attribute 'axis' is FLOAT, expected INT"),
        ("y = Neg(x, x)", "Neg 'y': has 2 inputs, version 13 takes 1"),
        ("y = Add(x)", "Add 'y': has 1 inputs, version 14 takes 2"),
        ("y = Concat<axis = 0> ()", "Concat 'y': has 0 inputs, version 13 takes at least 1"),
        ("y, z = Neg(x)", "Neg 'y': has 2 outputs, version 13 takes 1"),
        ('y = Add(x, "")', "Add 'y': input 1 (B) is missing\n  fix: give the input a name"),
    ],
)
def test_node_that_its_schema_refuses(node, message):
    assert refusal(model(f"main (float[2] x) => (float[2] y) {{ {node} }}")) == message


def test_declared_output_of_another_type():
    assert refusal(model("main (float[2] x) => (int64[2] y) { y = Neg(x) }")) == (
        "the graph: output 'y' is declared int64[2] but computed as float32[2]\n  fix: correct the declaration"
    )
