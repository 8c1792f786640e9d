"""MDF's functions as callables: the examples of its pages, every kind of body, and the recorded loops and scans."""

import json
from functools import partial

import numpy as np
import onnx
import pytest

import whorl
import whorl.formats.mdf.functions as onnx_ops
from whorl.errors import LoadError
from whorl.formats.mdf.onnx.importer import model_from_onnx

PAIR = np.array([1.0, 2.0])
BODY = """
    body (int64 i, bool keep_in, double b_in) => (bool keep_out, double b_out, double user) {
        a = Constant<value = double {3}> ()
        my_local = Add(a, b_in)
        b_out = Sub(a, b_in)
        keep_out = Greater(my_local, b_out)
        user = Add(b_in, b_in)
    }"""
GRAPH = onnx.parser.parse_graph(BODY)
MODEL = onnx.helper.make_model(GRAPH, opset_imports=[onnx.helper.make_opsetid("", 15)], ir_version=8)
AS_DATA = {
    "nodes": {
        "all": {
            "input_ports": {"b_in": {}},
            "parameters": {
                "a": {"value": 3.0},
                "out": {"function": "onnx::Sub", "args": {"A": "a", "B": "b_in"}},
                "double": {"value": "b_in + b_in"},
                "on": {"value": "a + b_in > out"},
            },
            "output_ports": {"b_out": {"value": "out"}, "user": {"value": "double"}, "keep_out": {"value": "on"}},
        }
    },
    "metadata": {"onnx_inputs": ["i", "keep_in", "b_in"], "onnx_outputs": ["keep_out", "b_out", "user"]},
}


def documented(i, keep_in, b_in):
    return 3.0 + b_in > 3.0 - b_in, 3.0 - b_in, b_in + b_in


BODIES = {
    "graph": GRAPH,
    "model": MODEL,
    "bytes": MODEL.SerializeToString(),
    "module": whorl.load(GRAPH),
    "region": whorl.load(GRAPH).main,
    "mdf data": AS_DATA,
    "mdf graph": model_from_onnx(MODEL).graphs["body"],
    "mdf model": model_from_onnx(MODEL),
    "function": documented,
}
INPUTS = {
    "python numbers": (10, True, 6.0),
    "arrays of no axis": (np.array(10), np.array(True), np.array(6.0)),
    "numpy numbers": (np.int64(10), np.bool_(True), np.float64(6)),
    "one element": (np.array([10]), np.array([True]), 6.0),
    "small integers": (np.int32(10), 1, 6.0),
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("inputs", INPUTS)
def test_example_of_the_loop_page(body, inputs):
    b, values = onnx_ops.loop(*INPUTS[inputs], body=BODIES[body])
    assert (b.dtype, b, values.dtype, values.tolist()) == (np.float64, 6.0, np.float64, [12.0, -6.0])


@pytest.mark.parametrize("body", ["graph", "mdf data", "function"])
@pytest.mark.parametrize("omitted", ["", None])
def test_omitted_inputs(body, omitted):
    forever = onnx_ops.loop(omitted, True, 6.0, body=BODIES[body])
    counted = onnx_ops.loop(3, omitted, 6.0, body=BODIES[body])
    assert (len(forever[1]), len(counted[1])) == (2, 3)


def test_bodies_may_be_files(tmp_path):
    onnx.save(MODEL, tmp_path / "body.onnx")
    (tmp_path / "body.json").write_text(json.dumps({"m": {"graphs": {"body": AS_DATA}}}))
    for name in ("body.onnx", "body.json"):
        for call in (onnx_ops.loop, whorl.loop):
            assert call(10, True, 6.0, body=tmp_path / name)[1].tolist() == [12.0, -6.0]


@pytest.mark.parametrize("call", [onnx_ops.loop, whorl.loop])
def test_states_may_be_none_or_many(call):
    (count,) = (np.atleast_1d(call(4, True, body=lambda i, go_on: (go_on, i))),)
    assert np.ravel(count).tolist() == [0, 1, 2, 3]
    a, b, c, seen = call(3, True, 1, 2.0, PAIR, body=lambda i, go_on, a, b, c: (go_on, a + 1, b * 2, c + a, c))
    assert (int(a), float(b), c.tolist(), seen.tolist()) == (4, 16.0, [7, 8], [[1, 2], [2, 3], [4, 5]])


CAPTURING = onnx.parser.parse_graph("""
    body (int64 i, bool k, double b) => (bool k2, double b2) { b2 = Sub(a, b) k2 = Identity(k) }""")


def test_bodies_read_values_around_them_by_name():
    assert onnx_ops.loop(3, True, 6.0, body=CAPTURING, a=1.0) == -5.0
    assert whorl.loop(3, True, 6.0, body=CAPTURING, captured={"a": 1.0}) == [-5.0]
    data = {**AS_DATA, "nodes": {"all": {**AS_DATA["nodes"]["all"], "input_ports": {"b_in": {}, "a": {}}}}}
    data["nodes"]["all"]["parameters"] = {k: v for k, v in data["nodes"]["all"]["parameters"].items() if k != "a"}
    assert onnx_ops.loop(10, True, 6.0, body=data, a=3.0)[1].tolist() == [12.0, -6.0]
    with pytest.raises(LoadError, match=r"the body reads 'a', which it does not make\n  fix: pass its value: a=array"):
        onnx_ops.loop(3, True, 6.0, body=CAPTURING)


RNN = onnx.parser.parse_graph("""
    cell (double[1, 2] H, double[1, 3] X) => (double[1, 2] Ht, double[1, 2] Y)
    <double[3, 2] W = {1, 0, 0, 1, 1, 1}, double[2, 2] R = {0.5, 0, 0, 0.5}> {
        a = MatMul(X, W) b = MatMul(H, R) c = Add(a, b) Ht = Tanh(c) Y = Identity(Ht)
    }""")


def test_example_of_the_scan_page():
    W, R, X, H = np.array([[1.0, 0], [0, 1], [1, 1]]), np.eye(2) / 2, np.arange(12.0).reshape(4, 1, 3) / 10, [[0.0, 0]]
    expected, states = np.array(H), []
    for row in X:
        expected = np.tanh(row @ W + expected @ R)
        states.append(expected)
    for body in (RNN, lambda H, X: (np.tanh(X @ W + H @ R),) * 2):
        last, all_of_them = onnx_ops.scan(np.array(H), X, body=body, num_scan_inputs=1)
        np.testing.assert_allclose(last, expected, rtol=1e-15)
        np.testing.assert_allclose(all_of_them, states, rtol=1e-15)


def test_branches():
    double, square = (onnx.parser.parse_graph(f"g () => (double y) {{ y = {op}(x, x) }}") for op in ("Add", "Mul"))
    for call in (onnx_ops.if_, getattr(onnx_ops, "if"), partial(whorl.if_)):
        named = {"captured": {"x": 5.0}} if isinstance(call, partial) else {"x": 5.0}
        assert np.ravel(call(True, then_branch=double, else_branch=square, **named)) == [10.0]
        assert np.ravel(call(np.array([False]), then_branch=double, else_branch=square, **named)) == [25.0]
    assert [*map(float, onnx_ops.if_(0, then_branch=lambda: 1, else_branch=lambda: (2, 3.5)))] == [2, 3.5]


def test_sequences_and_optionals():
    three = onnx_ops.sequenceinsert(onnx_ops.sequenceconstruct(PAIR, PAIR + 1), PAIR + 2)
    assert [each.tolist() for each in three] == [[1, 2], [2, 3], [3, 4]]
    assert onnx_ops.sequenceat(three, -1).tolist() == [3, 4]
    assert int(onnx_ops.sequencelength(onnx_ops.sequenceerase(three, 0))) == 2
    assert onnx_ops.sequenceinsert(onnx_ops.sequenceempty(), PAIR)[0].dtype == np.float64
    assert onnx_ops.concatfromsequence(three, axis=0).tolist() == [1, 2, 2, 3, 3, 4]
    assert [each.tolist() for each in onnx_ops.splittosequence(np.arange(4.0), np.array([1, 3]))] == [[0], [1, 2, 3]]
    assert onnx_ops.optionalgetelement(onnx_ops.optional(PAIR)).tolist() == [1, 2]
    assert (bool(onnx_ops.optionalhaselement(PAIR)), bool(onnx_ops.optionalhaselement(None))) == (True, False)


def test_other_operators_take_inputs_then_attributes():
    assert onnx_ops.add(PAIR, 1).tolist() == [2, 3]
    assert onnx_ops.add(PAIR.astype(np.float32), 0.1).dtype == np.float32
    assert onnx_ops.add(B=PAIR, A=1.0).tolist() == [2, 3]
    assert onnx_ops.concat(PAIR, PAIR, axis=0).tolist() == [1, 2, 1, 2]
    assert onnx_ops.transpose(np.ones((2, 3)), [1, 0]).shape == (3, 2)
    assert (
        onnx_ops.and_(True, np.array([False])).tolist() == getattr(onnx_ops, "and")(True, [False]).tolist() == [False]
    )
    assert {"add", "loop", "if_", "and_", "sequenceat"} <= set(dir(onnx_ops))
    with pytest.raises(AttributeError, match="there is no function 'nope'"):
        onnx_ops.nope  # noqa: B018
    with pytest.raises(LoadError, match="add has no argument 'C'"):
        onnx_ops.add(PAIR, PAIR, C=1)


CONTROL = {"Loop": 2, "Scan": 0}


def recorded(corpus, name):
    folder = corpus / "mdf_loop" / name
    if not folder.is_dir():
        pytest.skip(f"the corpus has no mdf_loop/{name}")
    stored = folder / "expected.npz"
    return (
        onnx.load(folder / "model.onnx"),
        np.load(folder / "inputs.npz"),
        np.load(stored) if stored.exists() else None,
    )


CASES = [
    "doc_M_cond", "doc_M_const_node", "doc_M_only", "doc_M_zero", "doc_cond_false_first", "doc_cond_only",
    "fib_two_states", "fn_2000_steps", "growing_state", "if_in_loop", "iter_three_scans", "nested_loop",
    "outer_scope_a", "repo_abc", "scan_axis1", "scan_axis_negative", "scan_bidirectional", "scan_cumsum",
    "scan_length_zero", "scan_map", "scan_reverse_in", "scan_reverse_out", "scan_rnn_seed", "scan_zip_fold",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["graph", "mdf"])
@pytest.mark.parametrize("name", CASES)
def test_recorded_loops_as_callables(corpus, name, kind):
    model, inputs, expected = recorded(corpus, name)
    values = dict(inputs)
    results: dict[str, np.ndarray] = {}
    for node in model.graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        passed = [{**values, **results}[each] if each else "" for each in node.input]
        if node.op_type in CONTROL:
            around = {key: value for key, value in {**values, **results}.items() if key not in node.input}
            body = attributes.pop("body")
            attributes["body"] = body if kind == "graph" else converted(model, node.name)
            actual = getattr(onnx_ops, node.op_type.lower())(*passed, **attributes, **around)
        elif node.op_type == "Constant":
            actual = onnx.numpy_helper.to_array(attributes["value"])
        else:
            actual = getattr(onnx_ops, node.op_type.lower())(*passed, **attributes)
        results |= dict(zip(node.output, actual if isinstance(actual, list) else [actual], strict=True))
    for info in model.graph.output:
        if expected is None:
            assert results[info.name].shape[:1] in ((0,), (2,))
        elif name == "doc_M_only":
            assert results["users"].shape in ((10,), ())
        else:
            assert results[info.name].shape == expected[info.name].shape
            np.testing.assert_allclose(results[info.name], expected[info.name], rtol=1e-6)


def converted(model, name):
    """The body of a node as an MDF graph."""
    nodes = model_from_onnx(model).graphs[model.graph.name].nodes
    (body,) = nodes[name].parameters["body"].value.values()
    return body


def test_sequences_may_be_states():
    data = {
        "nodes": {
            "grow": {
                "input_ports": {"s": {}, "i": {}},
                "parameters": {
                    "r": {"function": "onnx::SequenceInsert", "args": {"input_sequence": "s", "tensor": "i"}}
                },
                "output_ports": {"s2": {"value": "r"}},
            }
        },
        "metadata": {"onnx_inputs": ["i", "on", "s"], "onnx_outputs": ["on", "s2"]},
    }
    actual = onnx_ops.loop(3, True, [], body=data)
    assert [int(each) for each in actual] == [0, 1, 2]
    (again,) = whorl.loop(3, True, [], body=data)
    assert [int(each) for each in again] == [0, 1, 2]


def test_endless_loops_end_by_a_limit():
    for body in (BODIES["mdf data"], GRAPH, documented):
        with pytest.raises(whorl.IterationLimitError):
            onnx_ops.loop("", "", 6.0, body=body, max_iterations=50)
