"""modeci_mdf itself, for comparison: quiet, and without the texts for debugging that take most of its time."""

import contextlib
import io
import json
import random
import warnings
from pathlib import Path
from typing import Any

import pytest

Values = dict[tuple[str, str, str], Any]
Calls = list[tuple[Values, list[list[str]]]]


def run_reference(path: Path, times: list[float | None], initializer: dict[str, Any] | None = None) -> Calls:
    """After each call the values of all parts, and the consideration sets of the call."""
    engine = pytest.importorskip("modeci_mdf.execution_engine")
    utils, model_utils = pytest.importorskip("modeci_mdf.utils"), pytest.importorskip("modelspec.utils")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in (engine, model_utils):
            patch.setattr(module, "_params_info", lambda *passed, **options: "")
            patch.setattr(module, "_val_info", lambda *passed, **options: "")
        graph = engine.EvaluableGraph(utils.load_mdf(str(path)).graphs[0])
        calls: Calls = []
        for at, time in enumerate(times):
            steps = graph.scheduler.execution_list[None]
            before = len(steps)
            graph.evaluate(time_increment=time, initializer=initializer if at == 0 else None)
            calls.append((values_of(graph), [sorted(node.id for node in step) for step in steps[before:]]))
    return calls


def values_of(graph: Any) -> Values:
    actual: Values = {}
    for node in graph.enodes.values():
        for kind, parts in (
            ("input_ports", node.evaluable_inputs),
            ("parameters", node.evaluable_parameters),
            ("functions", node.evaluable_functions),
            ("output_ports", node.evaluable_outputs),
        ):
            for id, part in parts.items():
                actual[node.node.id, kind, id] = getattr(part, "curr_value", None)
    return actual


def random_model(draw: random.Random) -> dict[str, Any]:
    """The data of a small model: nodes with every kind of part, edges with weights, conditions.

    Edges that are joined carry numbers only: modeci_mdf joins arrays in the memory of one of the senders.
    """
    joins = draw.random() < 0.5
    nodes = {f"n{at}": random_node(draw, joins) for at in range(draw.randint(1, 4))}
    ids, edges = list(nodes), {}
    for at, sender in enumerate(ids):
        for receiver in ids[at + 1 :]:
            is_free = all(edge["receiver"] != receiver for edge in edges.values())
            if draw.random() < 0.5 and (joins or is_free):
                edges[f"{sender}_{receiver}"] = random_edge(draw, sender, receiver, "i")
    reached = [ids[0]] + [id for id in ids[1:] if any(edge["receiver"] == id for edge in edges.values())]
    for receiver in reached[1:]:
        if "back" in nodes[receiver]["input_ports"]:
            edges[f"back_{receiver}"] = random_edge(draw, draw.choice(reached), receiver, "back")
    combined = [sum(edge["receiver"] == id and edge["receiver_port"] == "i" for edge in edges.values()) for id in ids]
    for id, count in zip(ids, combined, strict=True):
        if count > 1:
            nodes[id]["input_ports"]["i"]["reduce"] = draw.choice(["add", "multiply"])
    graph: dict[str, Any] = {"nodes": nodes, "edges": edges}
    if draw.random() < 0.5:
        graph["conditions"] = random_conditions(draw, ids)
    return {"m": {"format": "ModECI MDF v0.4", "graphs": {"g": graph}}}


def random_edge(draw: random.Random, sender: str, receiver: str, port: str) -> dict[str, Any]:
    edge: dict[str, Any] = {"sender": sender, "sender_port": "o", "receiver": receiver, "receiver_port": port}
    if draw.random() < 0.4:
        edge["parameters"] = {"weight": draw.choice([1, 2, 0.5, -1.5, 1.0])}
    return edge


def random_node(draw: random.Random, only_numbers: bool) -> dict[str, Any]:
    ports: dict[str, Any] = {"i": {"shape": []}}
    if draw.random() < 0.3:
        ports["i"]["type"] = draw.choice(["float", "int64"])
    if draw.random() < 0.25:
        ports["back"] = {"default_value": draw.choice([0, 1.5, -2])}
    names, parameters = [*ports], {}
    for at in range(draw.randint(1, 4)):
        id = f"p{at}"
        parameters[id] = random_parameter(draw, id, names, only_numbers)
        names.append(id)
    functions: dict[str, Any] = {}
    for at in range(draw.randint(0, 2)):
        functions[f"f{at}"] = random_function(draw, names)
        names.append(f"f{at}")
    output = random_text(draw, names, 1)
    return {
        "input_ports": ports,
        "parameters": parameters,
        "functions": functions,
        "output_ports": {"o": {"value": f"1.0 * {output}" if only_numbers else output}, "last": {"value": names[-1]}},
    }


def random_parameter(draw: random.Random, id: str, names: list[str], only_numbers: bool) -> dict[str, Any]:
    number = draw.choice([0, 1, -3, 2.0, 0.25, "1", "2.5", "1.0", *([] if only_numbers else [[1.0, 2.0], [3, 4]])])
    match draw.randrange(5) if draw.random() < 0.9 else 5:
        case 5:
            return random_call(draw, names)
        case 0:
            parameter: dict[str, Any] = {"value": number}
        case 1:
            parameter = {"value": random_text(draw, names, 2)}
        case 2:
            parameter = {"default_initial_value": number, "value": random_text(draw, [*names, id, id], 2)}
        case 3:
            parameter = {"value": f"{id} * 0.5 + {random_text(draw, names, 1)}"}
        case _:
            parameter = {"default_initial_value": number, "time_derivative": random_text(draw, [*names, id, id], 1)}
    if draw.random() < 0.3:
        test = f"{draw.choice([*names, id])} {draw.choice(['<', '>', '>=', '=='])} {draw.choice([0, 1, 2.5])}"
        parameter["conditions"] = {"c": {"test": test, "value": draw.choice([0, 1.5, id, random_text(draw, names, 1)])}}
    return parameter


def random_call(draw: random.Random, names: list[str]) -> dict[str, Any]:
    """A parameter that a function computes."""
    if draw.random() < 0.7:
        arguments = {"variable0": draw.choice(names), "slope": draw.choice([2, 0.5, *names]), "intercept": 1}
        return {"function": "linear", "args": arguments}
    unary = draw.random() < 0.5
    name = draw.choice(["Relu", "Abs", "Neg", "Exp", "Tanh"] if unary else ["Add", "Mul", "Sub", "Max"])
    inputs = ["X"] if unary else ["A", "B"]
    return {"function": f"onnx::{name}", "args": {input: draw.choice(names) for input in inputs}}


def random_function(draw: random.Random, names: list[str]) -> dict[str, Any]:
    name = draw.choice(["linear", "logistic", "exponential", "sin", "tanh", "Relu", None])
    if name is None:
        return {"value": random_text(draw, names, 2)}
    variable = draw.choice(names)
    if name == "Relu":
        return {"function": name, "args": {"A": variable}}
    arguments = {"linear": "slope intercept", "logistic": "gain bias offset", "exponential": "scale rate bias offset"}
    passed: dict[str, Any] = {"variable0": variable}
    for argument in arguments.get(name, "scale").split():
        passed[argument] = draw.choice([1, 0.5, -1, "0.1", random_text(draw, names, 0)])
    return {"function": name, "args": passed}


def random_text(draw: random.Random, names: list[str], depth: int) -> str:
    """An expression whose values stay small for some calls."""
    if depth == 0 or draw.random() < 0.2:
        return str(draw.choice([*names, *names, 1, 2, 0.5, 1.0, -1]))
    left, right = (random_text(draw, names, depth - 1) for _ in range(2))
    match draw.randrange(8):
        case 0 | 1:
            return f"({left} + {right})"
        case 2:
            return f"({left} - {right})"
        case 3:
            return f"({left} * {draw.choice([0.5, 2, right])})"
        case 4:
            return f"{left} / 4"
        case 5:
            return f"numpy.{draw.choice(['tanh', 'cos', 'exp', 'maximum', 'abs'])}({left})".replace(
                f"numpy.maximum({left})", f"numpy.maximum({left}, {right})"
            )
        case 6:
            return f"-{left}"
        case _:
            return f"({left} > {right})"


def random_conditions(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    specific = {id: random_condition(draw, ids) for id in ids if draw.random() < 0.5}
    passes = {"type": "AfterNPasses", "kwargs": {"n": draw.randint(1, 4)}}
    ends = {"type": "Any", "kwargs": {"dependencies": [passes, {"type": "AllHaveRun", "kwargs": {}}]}}
    return {"node_specific": specific, "termination": {"environment_state_update": draw.choice([passes, ends])}}


def random_condition(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    kind = draw.choice(
        ["Always", "EveryNPasses", "AtPass", "EveryNCalls", "AfterNCalls", "Not", "AfterNEnvironmentStateUpdates",
         "Threshold"]
    )  # fmt: skip
    match kind:
        case "Always":
            arguments: dict[str, Any] = {}
        case "Not":
            arguments = {"condition": {"type": "AtPass", "kwargs": {"n": 1}}}
        case "Threshold":
            arguments = {"dependency": draw.choice(ids), "parameter": "o", "threshold": 1, "comparator": "<"}
        case "EveryNCalls" | "AfterNCalls":
            arguments = {"dependency": draw.choice(ids), "n": draw.randint(1, 2)}
        case _:
            arguments = {"n": draw.randint(1, 2)}
    return {"type": kind, "kwargs": arguments}


def write_model(data: dict[str, Any], folder: Path) -> Path:
    path = folder / "model.json"
    path.write_text(json.dumps(data))
    return path
