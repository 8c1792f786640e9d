"""Small models that nobody wrote, in modeci_mdf and here: the same values, types and order of nodes, bit for bit."""

import random
from typing import Any

import mdf_reference
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from whorl.formats.mdf.execution_engine import EvaluableGraph
from whorl.formats.mdf.reading import model_of
from whorl.mdf.engine.engine import Engine

pytest.importorskip("modeci_mdf")
TIMES = [None, None, 0.1, 0.1, 0.25]
FAILURES = Exception
"""What modeci_mdf raises of models that it cannot evaluate: mostly plain Exception."""


def is_same(actual: Any, expected: Any) -> bool:
    if isinstance(expected, np.generic) and isinstance(actual, np.generic):
        actual, expected = np.array(actual), np.array(expected)
    if type(actual) is not type(expected):
        return False
    if isinstance(expected, np.ndarray):
        alike = actual.dtype == expected.dtype and actual.shape == expected.shape
        return alike and np.array_equal(actual, expected, equal_nan=expected.dtype.kind == "f")
    return bool(actual == expected or (actual != actual and expected != expected))


def joins_edges(data: dict[str, Any]) -> bool:
    nodes = data["m"]["graphs"]["g"]["nodes"].values()
    return any("reduce" in port for node in nodes for port in node["input_ports"].values())


SLOW_DRAWS = [HealthCheck.filter_too_much, HealthCheck.too_slow]


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=SLOW_DRAWS)
@given(seed=st.integers(0, 10**9))
def test_random_model_gives_what_modeci_mdf_gives(seed, tmp_path_factory):
    data = mdf_reference.random_model(random.Random(seed))
    path = mdf_reference.write_model(data, tmp_path_factory.mktemp("model"))
    first = {"i": 3.0} if seed % 3 == 0 and not joins_edges(data) else None
    try:
        expected = mdf_reference.run_reference(path, TIMES, first)
    except FAILURES:
        assume(False)
        return
    engine = Engine(next(iter(model_of(data).graphs.values())), precision="float32")
    assume(not engine.warnings)
    for at, (time, (values, order)) in enumerate(zip(TIMES, expected, strict=True)):
        executed = engine.evaluate(time, first if at == 0 else None)
        assert [sorted(each) for each in executed] == order, at
        for position, value in values.items():
            assert is_same(engine.value(position), value), (at, position, engine.value(position), value)


def test_random_numbers_are_drawn_in_the_same_order(tmp_path):
    parameters = {
        "a": {"value": "numpy.random.normal(0, 1)"},
        "b": {"default_initial_value": 0, "value": "b + numpy.random.uniform() * numpy.random.normal(size=3)"},
        "c": {"default_initial_value": 1.0, "time_derivative": "-c + numpy.random.standard_normal()"},
    }
    conditions = {"c": {"test": "numpy.random.rand() > 0.5", "value": "numpy.random.exponential(2.0)"}}
    first = {
        "parameters": parameters,
        "functions": {"f": {"value": "numpy.random.random_sample() + a"}},
        "output_ports": {"o": {"value": "a + b"}, "p": {"value": "numpy.random.randint(10)"}},
    }
    second = {
        "input_ports": {"i": {}},
        "parameters": {"x": {"default_initial_value": 0, "value": "x + i", "conditions": conditions}},
        "output_ports": {"o": {"value": "x"}},
    }
    edge = {"sender": "A", "sender_port": "o", "receiver": "B", "receiver_port": "i"}
    graphs = {"g": {"nodes": {"A": first, "B": second}, "edges": {"AB": edge}}}
    path = mdf_reference.write_model({"m": {"format": "ModECI MDF v0.4", "graphs": graphs}}, tmp_path)
    np.random.seed(7)
    expected = mdf_reference.run_reference(path, TIMES)
    np.random.seed(7)
    graph = EvaluableGraph(graphs)
    for time, (values, _) in zip(TIMES, expected, strict=True):
        graph.evaluate(time_increment=time)
        for position, value in values.items():
            assert is_same(graph.engine.value(position), value), position
