"""Operators that a user registers: read, checked, optimised, run and written as others are."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx_text import model

import whorl
from whorl.ir.definitions import DEFINITIONS

PAGE = Path(__file__).parents[2] / "docs" / "custom-ops.md"
X = np.array([1, 2, 4], np.float32)
DOMAIN = ', "my.ops": 3'


@pytest.fixture(autouse=True)
def registered():
    """Nothing is registered before and after a test."""
    DEFINITIONS.clear()
    yield DEFINITIONS
    DEFINITIONS.clear()


class Shift(OpRun):
    op_domain = "my.ops"

    def _run(self, x, by=1.0):
        return (x + np.float32(by),)


class Twice:
    op_domain = "my.ops"

    @staticmethod
    def infer(x):
        return x

    def _run(self, x):
        return x + x


def graph(nodes, opset=21):
    return model(f"main (float[n] x) => (float[n] y) {{ {nodes} }}", opset, DOMAIN)


def run(source, backend="native"):
    options = whorl.SessionOptions()
    options.backend = backend
    return whorl.InferenceSession(source, options).run(None, {"x": X})[0]


@pytest.mark.parametrize("backend", ["native", "interpreter"])
def test_function_is_the_meaning(backend):
    whorl.register_op("my.ops", "Half", run=lambda x: x / 2, infer=lambda x: x)
    source = graph("z = my.ops.Half(x) y = Neg(z)")
    np.testing.assert_array_equal(run(source, backend), -X / 2)
    assert whorl.check(source) == []


def test_class_of_the_reference_is_the_meaning():
    whorl.register_op(Shift)
    source = graph("z = my.ops.Shift<by = 2.5>(x) y = Neg(z)")
    (expected,) = ReferenceEvaluator(source, new_ops=[Shift]).run(None, {"x": X})
    np.testing.assert_array_equal(run(source), expected)


def test_class_without_a_base_is_the_meaning():
    whorl.register_op(Twice)
    module = whorl.load(graph("y = my.ops.Twice(x)"))
    assert str(module.main.results[0].type) == "float32[n]"
    np.testing.assert_array_equal(run(module), 2 * X)


def test_operator_in_a_loop():
    whorl.register_op(Twice)
    text = """
        count = Constant<value = int64 {3}> ()
        on = Constant<value = bool {1}> ()
        y = Loop (count, on, x) <body = step (int64 i, bool go, float[n] s) => (bool more, float[n] t) {
            more = Identity(go)
            t = my.ops.Twice(s)
        }>"""
    np.testing.assert_array_equal(run(graph(text)), 8 * X)
    np.testing.assert_array_equal(run(whorl.deloop(graph(text))), 8 * X)


def test_pure_operator_of_constants_is_folded_and_an_impure_one_is_not():
    calls = []
    source = graph("c = Constant<value = float {3}> () d = my.ops.Note(c) y = Add(x, d)")
    for is_pure, count in ((True, 0), (False, 1)):
        whorl.register_op("my.ops", "Note", run=lambda x: calls.append(x) or x, infer=lambda x: x, pure=is_pure)
        module = whorl.optimize(source)
        assert sum(node.op.name.endswith("CustomOp") for node in module.nodes()) == count
        np.testing.assert_array_equal(run(module), X + 3)


def test_operator_is_written_as_it_was_read(tmp_path):
    whorl.register_op("my.ops", "Pair", run=lambda x, *_, **__: (x, x), infer=lambda x, *_, **__: (x, x))
    source = graph('a, b = my.ops.Pair<by = 2.5, kind = "up", axes = [1, 2]>(x, , x) y = Add(a, b)')
    whorl.save(source, tmp_path / "written.onnx")
    written = onnx.load(tmp_path / "written.onnx")
    attributes = [{a.name: a for a in each.graph.node[0].attribute} for each in (written, source)]
    assert attributes[0] == attributes[1]
    assert written.graph.node[0].input == ["x", "", "x"]
    assert {entry.domain: entry.version for entry in written.opset_import} == {"": 21, "my.ops": 3}


def test_lower_is_the_native_form():
    def run_never(x):
        raise AssertionError("the native form serves")

    def lower(k, inputs, outputs):
        return k.elementwise(lambda k, x: k.apply("neg", x), inputs.present(), outputs[0])

    whorl.register_op("my.ops", "Minus", run=run_never, infer=lambda x: x, lower=lower)
    source = model("main (float[3] x) => (float[3] y) { z = Add(x, x) y = my.ops.Minus(z) }", 21, DOMAIN)
    np.testing.assert_array_equal(run(source), -2 * X)


def test_second_definition_replaces_the_first():
    source = graph("y = my.ops.Some(x)")
    for factor in (2, 3):
        whorl.register_op("my.ops", "Some", run=lambda x, factor=factor: x * np.float32(factor))
        np.testing.assert_array_equal(run(source), factor * X)


def test_function_of_the_model_comes_first():
    whorl.register_op("my.ops", "Twice", run=lambda x: 1 / 0)
    text = """<ir_version: 10, opset_import: ["": 21, "my.ops": 1]>
        main (float[n] x) => (float[n] y) { y = my.ops.Twice(x) }
        <domain: "my.ops", opset_import: ["": 21]> Twice (a) => (b) { b = Add(a, a) }"""
    np.testing.assert_array_equal(run(onnx.parser.parse_model(text)), 2 * X)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (
            lambda x: x.astype(np.float64),
            "CustomOp 'y' in the graph: output 0 of my.ops.Odd is float64, its type says float32\n"
            "  fix: register it with an infer that gives this type",
        ),
        (lambda x: (), "CustomOp 'y' in the graph: my.ops.Odd gave 0 of 1 outputs"),
    ],
)
def test_result_that_is_not_of_its_type_is_an_error(result, message):
    whorl.register_op("my.ops", "Odd", run=result)
    with pytest.raises(whorl.RunError) as caught:
        run(graph("y = my.ops.Odd(x)"), "interpreter")
    assert str(caught.value) == message.replace(" in the graph", "")


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        (("my.ops", "A"), {}, "A has no run\n  fix: pass a function of arrays as run"),
        (
            ("", "Relu"),
            {"run": abs},
            "Relu is an operator of ai.onnx already\n  fix: choose a domain of your own",
        ),
        ((int,), {}, "class int has no _run\n  fix: define _run(self, *arrays, **attributes)"),
    ],
)
def test_definition_that_cannot_be_is_refused(arguments, keywords, message):
    with pytest.raises(whorl.RunError) as caught:
        whorl.register_op(*arguments, **keywords)
    assert str(caught.value) == message


def test_graph_as_an_attribute_is_refused():
    whorl.register_op("my.ops", "Map", run=lambda x: x)
    source = graph("y = my.ops.Map<body = inner (float a) => (float b) { b = Neg(a) }>(x)")
    with pytest.raises(whorl.UnsupportedError) as caught:
        whorl.load(source)
    assert str(caught.value) == "Map 'y': attribute 'body' is a graph\n  fix: a registered operator takes none"


def test_types_that_nothing_says_are_refused():
    whorl.register_op("my.ops", "New", run=lambda: X)
    with pytest.raises(whorl.LoadError) as caught:
        whorl.load(graph("z = my.ops.New() y = Add(x, z)"))
    assert str(caught.value) == (
        "CustomOp 'my.ops.new': my.ops.New has no tensor among its inputs\n  fix: register it with infer"
    ).replace("my.ops.new", "z")


def test_page_shows_what_works():
    names: dict = {}
    for block in PAGE.read_text(encoding="utf-8").split("```python")[1:]:
        exec(block.partition("```")[0], names)
    np.testing.assert_array_equal(names["y"], np.array([0, -1, -2], np.float32))
    assert ("my.ops", "InvAlpha") in DEFINITIONS
