"""Partial evaluation of one evaluation of a graph, and what it leaves to the interpreter or to the run."""

import time

import pytest
from mdf.models import model, node

from whorl.errors import IterationLimitError, RunError
from whorl.runtime.limits import Limits


def test_unconnected_port_of_too_many_zeros_is_not_compiled():
    actual = model({"N": node({"y": {"value": "x * 2"}}, ("y",), {"x": {"shape": [5000, 5000]}})})
    assert actual.explain() == ("interpreted: node 'N': input port 'x' is not connected and would hold 25000000 zeros")


def test_list_of_unequal_rows_is_no_array():
    actual = model({"N": node({"a": {"function": "[[1], [1, 2]]"}, "y": {"value": "a"}}, ("y",))})
    assert actual.explain() == (
        "interpreted: node 'N': '[[1], [1, 2]]' is no array: its rows have different lengths\n"
        "  fix: give all rows one length"
    )
    with pytest.raises(RunError, match="'y' of node 'N'"):
        actual.simulate()


def test_loop_on_known_values_that_does_not_end_soon_is_left_to_the_run():
    step = {
        "input_ports": {"go": {}, "v": {}},
        "parameters": {"next": {"value": "v + 1"}},
        "output_ports": {"go_on": {"value": "go"}, "sum": {"value": "next"}},
    }
    body = {"nodes": {"step": step}, "edges": {}}
    body["metadata"] = {"onnx_inputs": ["i", "go", "v"], "onnx_outputs": ["go_on", "sum"]}
    parameters = {
        "body": {"value": {"body": body}},
        "loop": {"function": "onnx::Loop", "args": {"M": 10**15, "cond": 1, "v_initial": 0.0}},
    }
    actual = model({"N": node(parameters, ("loop",))}, limits=Limits(max_iterations=50))
    began = time.process_time()
    actual.explain()
    assert time.process_time() - began < 5
    with pytest.raises(IterationLimitError):
        actual.simulate()
