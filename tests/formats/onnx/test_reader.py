"""How graphs are read: names, order, initializers, versions, nested graphs; what is refused, with whole messages."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_text import model, refusal, run

import whorl

X = np.array([1, 2], np.float32)
ONES = numpy_helper.from_array(np.ones(2, np.float32), "w")
TWOS = numpy_helper.from_array(np.full(2, 2, np.float32), "w")
YES, NO = np.array(True), np.array(False)


def node_names(source) -> list[str]:
    return [node.name for node in whorl.load(source).region.nodes]


# ---- order ---------------------------------------------------------------------------------------------------------


def test_nodes_out_of_order_are_read_when_their_inputs_are_there():
    source = model("main (float[2] x) => (float[2] y) { [c] y = Neg(b) [b] b = Abs(a) [a] a = Neg(x) [d] d = Exp(x) }")
    assert node_names(source) == ["a", "b", "c", "d"] or sorted(node_names(source)) == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(run(source, x=X), [[-1, -2]])


def test_nodes_in_order_keep_it():
    assert node_names(model("main (float x) => (float y) { [b] b = Neg(x) [a] a = Abs(x) [y] y = Add(a, b) }")) == [
        "b",
        "a",
        "y",
    ]


def test_long_chain_backwards_is_read():
    nodes = [helper.make_node("Neg", [f"v{k}"], [f"v{k + 1}"]) for k in reversed(range(2000))]
    source = model("main (float[2] v0) => (float[2] v2000) { a = Neg(v0) }")
    del source.graph.node[:]
    source.graph.node.extend(nodes)
    np.testing.assert_array_equal(run(source, v0=X), [X])


def test_body_reads_a_name_that_the_outer_graph_gives_later():
    source = model("""main (bool c, float[2] x) => (float[2] y) {
        y = If (c) <then_branch = a () => (float[2] r) { r = Neg(later) }, else_branch = b () => (float[2] r)
            { r = Abs(later) }>
        later = Exp(x)
    }""")
    np.testing.assert_array_equal(run(source, c=YES, x=X), [-np.exp(X)])


def test_cycle_is_named():
    source = model(
        "main (float x) => (float y) { [n] n = Neg(z) [a] a = Add(x, b) [b] b = Neg(a) z = Abs(a) y = Abs(n) }"
    )
    assert refusal(source) == "the graph: nodes form a cycle: Add 'a' reads Neg 'b' reads Add 'a'"


def test_cycle_inside_a_body_is_placed():
    source = model("""main (int64 n, float x) => (float y) {
        [l] y = Loop (n, "", x) <body = b (int64 i, bool c, float s) => (bool d, float t) {
            d = Identity(c) t = Neg(t)
        }>
    }""")
    assert refusal(source) == "body of Loop 'l': nodes form a cycle: Neg 't' reads Neg 't'"


def test_missing_input_is_named():
    assert refusal(model("main (float x) => (float y) { a = Neg(y) [add] y = Add(x, nowhere) }")) == (
        "Add 'add': reads 'nowhere', which nothing produces\n  fix: add the missing input or node"
    )


def test_missing_input_of_a_nested_graph_is_missed_by_the_node_around_it():
    source = model("""main (bool c, float x) => (float y) {
        y = If (c) <then_branch = a () => (float r) { r = Neg(nowhere) }, else_branch = b () => (float r) { r = Abs(x) }>
    }""")
    assert refusal(source) == ("If 'y': reads 'nowhere', which nothing produces\n  fix: add the missing input or node")


def test_output_that_nothing_produces():
    assert refusal(model("main (float x) => (float y, float z) { y = Neg(x) }")) == (
        "the graph: output 'z' is not produced by any node"
    )


# ---- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("main (float x) => (float y) { y = Neg(x) y = Abs(x) }", "Abs 'y': produces 'y', which already has a value"),
        ("main (float x) => (float x) { x = Neg(x) }", "Neg 'x': produces 'x', which already has a value"),
        (
            "main (float x) => (float w) <float w = {1}> { w = Neg(x) }",
            "Neg 'w': produces 'w', which already has a value",
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


def test_initializer_may_be_repeated_but_not_changed():
    source = model("main () => (float[2] y) { y = Neg(w) }")
    source.graph.initializer.extend([ONES, ONES])
    np.testing.assert_array_equal(run(source), [[-1, -1]])
    source.graph.initializer.append(TWOS)
    assert refusal(source) == "initializer 'w' is given twice, with different values\n  fix: rename one of them"


def test_body_may_hide_an_outer_name():
    source = model("""main (bool c, float[2] x) => (float[2] y) {
        a = Neg(x)
        [if] y = If (c) <
            then_branch = t () => (float[2] r) { before = Abs(a) a = Exp(before) r = Identity(a) },
            else_branch = e () => (float[2] r) <float[2] a = {5, 6}> { r = Identity(a) }>
    }""")
    np.testing.assert_array_equal(run(source, c=YES, x=X), [np.exp(X)])
    np.testing.assert_array_equal(run(source, c=NO, x=X), [[5, 6]])


def test_sibling_bodies_may_use_the_same_names():
    source = model("""main (bool c, float x) => (float y) {
        y = If (c) <then_branch = t () => (float r) { a = Neg(x) r = Neg(a) }, else_branch = e () => (float r)
            { a = Abs(x) r = Neg(a) }>
    }""")
    np.testing.assert_array_equal(run(source, c=NO, x=np.float32(-3)), [-3])


def test_name_that_is_not_text():
    data = model("main (float x) => (float y) { name_of_a = Neg(x) y = Neg(name_of_a) }").SerializeToString()
    assert refusal(data.replace(b"name_of_a", b"name\xff\xfe_a")) == (
        "the name b'name\\xff\\xfe_a' is not UTF-8\n  fix: the file is damaged"
    )


# ---- initializers --------------------------------------------------------------------------------------------------


def with_initializer(ir_version: int, tensor: TensorProto = TWOS, declared: str = "float[2] w") -> onnx.ModelProto:
    source = model(f"main (float[2] x, {declared}) => (float[2] y) {{ y = Add(x, w) }}")
    source.ir_version = ir_version
    source.graph.initializer.append(tensor)
    return source


def test_initializers_that_are_inputs_are_constants_in_ir_version_3():
    module = whorl.load(with_initializer(3))
    assert ([argument.name for argument in module.region.arguments], module.defaults) == (["x"], {})
    np.testing.assert_array_equal(run(with_initializer(3), x=X), [[3, 4]])


def test_initializers_that_are_inputs_are_defaults_from_ir_version_4():
    np.testing.assert_array_equal(run(with_initializer(4), x=X), [[3, 4]])
    np.testing.assert_array_equal(run(with_initializer(4), x=X, w=X), [[2, 4]])


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("float[3] w", "input 'w' is declared float32[3], its default is float32[2]"),
        ("float w", "input 'w' is declared float32[], its default is float32[2]"),
        ("double[2] w", "input 'w' is declared float64[2], its default is float32[2]"),
        ("seq(float[2]) w", "input 'w' is declared sequence<float32[2]>, its default is float32[2]"),
    ],
)
def test_default_must_be_what_the_input_takes(declared, message):
    assert refusal(with_initializer(10, declared=declared)) == f"{message}\n  fix: correct the declaration"


@pytest.mark.parametrize("declared", ["float[N] w", "float[] w"])
def test_default_of_an_input_with_open_dims(declared):
    np.testing.assert_array_equal(run(with_initializer(10, declared=declared), x=X), [[3, 4]])


def test_body_initializer_among_its_inputs_is_a_constant():
    source = model("""main (int64 n, float x) => (float y) {
        y = Loop (n, "", x) <body = b (int64 i, bool c, float s, float step) => (bool d, float t) <float step = {2}> {
            d = Identity(c) t = Add(s, step)
        }>
    }""")
    np.testing.assert_array_equal(run(source, n=np.int64(3), x=np.float32(1)), [7])


def sparse_model(values, indices, shape) -> onnx.ModelProto:
    dtype = TensorProto.STRING if values.dtype == object else TensorProto.FLOAT
    info = helper.make_tensor_value_info("y", dtype, None)
    tensor = helper.make_sparse_tensor(
        numpy_helper.from_array(values, "w"), numpy_helper.from_array(np.array(indices, np.int64), "at"), shape
    )
    node = helper.make_node("Identity", ["w"], ["y"])
    graph = helper.make_graph([node], "main", [], [info], sparse_initializer=[tensor])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize("indices", [[1, 5], [[0, 1], [1, 2]]])
def test_sparse_initializer_is_written_out(indices):
    np.testing.assert_array_equal(run(sparse_model(X, indices, [2, 3])), [[[0, 1, 0], [0, 0, 2]]])


def test_sparse_initializer_of_strings_has_empty_ones_elsewhere():
    assert run(sparse_model(np.array(["a"], object), [1], [3]))[0].tolist() == ["", "a", ""]


@pytest.mark.parametrize(
    ("values", "indices", "message"),
    [
        (X, [0], "sparse initializer 'w' has 2 values and 1 indices"),
        (X, [0, 6], "sparse initializer 'w' has an index outside its shape [2, 3]"),
        (X, [-1, 0], "sparse initializer 'w' has an index outside its shape [2, 3]"),
        (X, [[0, 0], [1, 3]], "sparse initializer 'w' has an index outside its shape [2, 3]"),
        (X, [[0], [1]], "sparse initializer 'w' has indices of shape [2, 1] for a tensor of rank 2"),
        (X, [[[0, 1]]], "sparse initializer 'w' has indices int64[1, 1, 2], expected int64[n] or int64[n, rank]"),
    ],
)
def test_sparse_initializer_that_contradicts_itself(values, indices, message):
    assert refusal(sparse_model(values, indices, [2, 3])) == message


def test_sparse_initializer_beyond_the_memory():
    message = refusal(sparse_model(X, [0, 1], [1 << 20, 1 << 20]))
    assert message.startswith("sparse initializer 'w' is too large to be written out: Unable to allocate 4.00 TiB")


# ---- versions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, -1, 29])
def test_opset_that_is_not_known(version):
    assert refusal(model("main (float x) => (float y) { y = Neg(x) }", version)) == (
        f"the model uses version {version} of domain 'ai.onnx'; versions 1 to 28 are known\n"
        "  fix: convert the model with onnx.version_converter"
    )


def test_no_opset_is_version_1():
    source = model("main (float x) => (float y) { y = Neg(x) }")
    del source.opset_import[:]
    assert whorl.load(source).metadata["opsets"] == {"": 1}


def test_ir_version_that_is_not_known():
    source = model("main (float x) => (float y) { y = Neg(x) }")
    source.ir_version = 15
    assert refusal(source) == "the model has IR version 15; versions up to 14 are known"


def test_ir_version_1_has_attributes_without_a_kind():
    source = model("main (float[2] x) => (float[4] y) { y = Concat<axis = 0> (x, x) }", 1)
    source.ir_version = 1
    source.graph.node[0].attribute[0].ClearField("type")
    np.testing.assert_array_equal(run(source, x=X), [[1, 2, 1, 2]])


def test_unsupported_ops_are_reported_at_once_with_their_places():
    source = model(
        """main (bool c, float x) => (float y) {
            [first] a = Mystery(x)
            [gelu] b = Gelu(a)
            [if] d = If (c) <then_branch = t () => (float r) { [l] r = Loop ("", c, b) <body = s (int64 i, bool k, float v)
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


# ---- nested graphs -------------------------------------------------------------------------------------------------


def loop(body: str, inputs: str = '(n, "", x)', heading: str = "int64 n, float x") -> onnx.ModelProto:
    return model(f"main ({heading}) => (float y) {{ [l] y = Loop {inputs} <body = {body}> }}")


def test_body_without_types_takes_those_it_is_given():
    source = loop("b (int64 i, bool c, float s) => (bool d, float t) { d = Identity(c) t = Add(s, s) }")
    body = source.graph.node[0].attribute[0].g
    for info in (*body.input, *body.output):
        info.ClearField("type")
    np.testing.assert_array_equal(run(source, n=np.int64(3), x=np.float32(1)), [8])


@pytest.mark.parametrize("shape", ["", "[1]", "[1, 1]"])
def test_number_and_condition_of_one_element_have_the_rank_that_the_body_declares(shape):
    body = f"b (int64{shape} i, bool{shape} c, float s) => (bool{shape} d, float t) {{ d = Identity(c) j = Cast<to = 1> (i) "
    body += "k = ReduceSum<keepdims = 0> (j) t = Add(s, k) }"
    source = loop(body, "(n, c, x)", f"int64{shape} n, bool{shape} c, float x")
    one = np.ones((1,) * shape.count("1"))
    given = {"n": (4 * one).astype(np.int64), "c": one.astype(np.bool_), "x": np.float32(0)}
    np.testing.assert_array_equal(run(source, **given), [6])


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
            "body of Loop 'l': output 't' is declared int64[] but computed as float32[]\n  fix: correct the declaration",
        ),
        (
            "b (int64 i, bool c, float s) => (bool c, float t) { [add] t = Add(s, i) }",
            "Add 'add' in body of Loop 'l': operands have types float32[], int64[]\n  fix: insert Cast",
        ),
    ],
)
def test_loop_whose_body_does_not_fit(body, message):
    assert refusal(loop(body)) == message
