"""Loops in files: bodies with their inputs and outputs in metadata, and what older exporters left out."""

import pytest

from whorl.errors import LoadError
from whorl.formats.mdf.files import read_mdf, write_mdf
from whorl.formats.mdf.reading import graph_of, model_of
from whorl.formats.mdf.writing import data_of
from whorl.mdf.bodies import Signature, loop_signature, scan_signature
from whorl.mdf.engine.engine import Engine


def step(function, output, /, ports=(), parameters=None, **args):
    """A node as exporters write it: an operator under the node's own name."""
    stored = {key: {"value": value} for key, value in (parameters or {}).items()}
    return {
        "input_ports": {port: {} for port in ports},
        "parameters": {**stored, f"do_{output}": {"function": f"onnx::{function}", "args": args}},
        "output_ports": {output: {"value": f"do_{output}"}},
    }


def edges(nodes):
    """Edges from each output port to the input ports of the same id."""
    senders = {port: name for name, node in nodes.items() for port in node.get("output_ports", {})}
    return {
        f"{senders[port]}_{name}_{port}": {
            "sender": senders[port],
            "receiver": name,
            "sender_port": port,
            "receiver_port": port,
        }
        for name, node in nodes.items()
        for port in node.get("input_ports", {})
        if port in senders
    }


def graph(nodes, **fields):
    return {"nodes": nodes, "edges": edges(nodes), **fields}


def values(data, **passed):
    """The output ports after one evaluation."""
    model = model_of(data)
    engine = Engine(next(iter(model.graphs.values())))
    engine.evaluate(None, passed)
    return {id: part.value for node in engine.nodes.values() for id, part in node.outputs.items()}


def exported(body, **fields):
    """A loop between two nodes; the ids are no names of Python."""
    loop = step(
        "Loop", "x.3", ["count", "y"], {"body": {"graph_body": body}, "cond": True}, M="count", cond="cond", v="y"
    )
    nodes = {
        "/A/Add": step("Add", "y", ["input"], {"B": 1.0}, A="input", B="B"),
        "Loop_6": loop,
        "/C/Mul": step("Mul", "out", ["x.3"], {"B": 100.0}, A="x.3", B="B"),
    }
    return {"m": {"format": "ModECI MDF v0.3", "graphs": {"main": {**graph(nodes), **fields}}}}


def test_metadata_names_inputs_and_outputs_in_order(tmp_path):
    nodes = {
        "swap": step("Identity", "b2", ["a"], input="a"),
        "sum": step("Add", "a2", ["a", "b"], A="a", B="b"),
        "seen": step("Mul", "seen", ["a", "k"], A="a", B="k"),
    }
    metadata = {"onnx_inputs": ["i", "on", "a", "b"], "onnx_outputs": ["on", "a2", "b2", "seen"]}
    node = step("Loop", "r", ["k"], {"body": {"fib": graph(nodes, metadata=metadata)}, "M": 5, "x": 1.0, "y": 0.0},
                M="M", v_initial="x", v2="y")  # fmt: skip
    node["output_ports"] = {id: {"value": f"do_r[{n}]"} for n, id in enumerate(("a", "b", "all"))}
    data = {"m": {"graphs": {"g": graph({"loop": node})}}}
    write_mdf(model_of(data), tmp_path / "m.yaml")
    again = data_of(read_mdf(tmp_path / "m.yaml"))
    assert again == data
    actual = values(again, k=10.0)
    assert (float(actual["a"]), float(actual["b"]), actual["all"].tolist()) == (8.0, 5.0, [10, 10, 20, 30, 50])


def drifting():
    """A body among the nodes, and edges into a loop that is no node: what an exporter of loops wrote."""
    body = {
        "Add_23": step("Add", "_23", ["_16", "drift"], A="_16", B="drift"),
        "One_24": step("Constant", "_24", (), {"value": 1.0}),
        "Add_25": step("Add", "_25", ["_15", "_24"], A="_15", B="_24"),
        "Abs_26": step("Abs", "_26", ["_23"], X="_23"),
        "Less_27": step("Less", "_27", ["_26", "threshold"], A="_26", B="threshold"),
        "Cast_28": step("Cast", "_28", ["_27"], {"to": 9}, input="_27"),
    }
    nodes = {
        "Constant_6": step("Constant", "_6", (), {"value": 9223372036854775807}),
        "Constant_7": step("Constant", "_7", (), {"value": 0.0}),
        "Less_9": step("Less", "_9", ["start", "threshold"], A="start", B="threshold"),
        "Cast_10": step("Cast", "_10", ["_9"], {"to": 9}, input="_9"),
        "LoopSubgraphLoop_11_12": graph(body),
        "Mul_29": step("Mul", "_29", ["_11", "dt"], A="_11", B="dt"),
        "GreaterOrEqual_31": step("GreaterOrEqual", "_31", ["_12", "threshold"], A="_12", B="threshold"),
    }
    own = {key: node for key, node in nodes.items() if "nodes" not in node}
    into = {
        f"into{port}": {"sender": name, "receiver": "Loop_11_12", "sender_port": port, "receiver_port": port}
        for name, port in (("Constant_6", "_6"), ("Constant_7", "_7"), ("Cast_10", "_10"))
    }
    return {"m": {"format": "", "graphs": {"g": {"nodes": nodes, "edges": {**edges(own), **into}}}}}


def test_inputs_and_outputs_are_seen_where_there_is_no_doubt():
    nodes = {
        "out": step("Sub", "b_out", ["b_in"], {"A": 3.0}, A="A", B="b_in"),
        "on": step("Less", "on", ["b_out"], {"B": 9.0}, A="b_out", B="B"),
        "user": step("Add", "user", ["b_in", "iter"], A="b_in", B="iter"),
    }
    actual = loop_signature(graph_of("g", graph(nodes)), 1, (), 2)
    assert actual == Signature(["iter", "", "b_in"], ["on", "b_out", "user"])


@pytest.mark.parametrize(
    ("nodes", "states", "message"),
    [
        ({"n": step("Add", "y", ["a", "b"], A="a", B="b"), "o": step("Less", "on", ["a"], A="a", B="a")}, 2,
         "it reads 'a', 'b', and which are its 2 states is lost"),
        ({"n": step("Add", "y", ["a"], A="a", B="a")}, 1, "none of its outputs is a truth value"),
        ({"n": step("Add", "y", ["_1"], A="_1", B="_1"), "m": step("Mul", "z", ["_1"], A="_1", B="_1"),
          "o": step("Less", "on", ["y"], A="y", B="y")}, 1, "its outputs seem to be 'z', expected 2"),
    ],
)  # fmt: skip
def test_doubts_are_errors_that_name_the_metadata(nodes, states, message):
    with pytest.raises(LoadError, match="onnx_inputs and onnx_outputs, in order") as raised:
        loop_signature(graph_of("g", graph(nodes)), states, (), 2)
    assert message in str(raised.value)


def test_order_of_scanned_inputs_is_not_guessed():
    body = graph_of("g", graph({"n": step("Add", "y", ["x", "s"], A="x", B="s")}))
    with pytest.raises(LoadError, match="it reads 'x', 's', and the order of its 2 inputs is lost"):
        scan_signature(body, 2, ())
