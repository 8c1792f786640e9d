"""`onnx::Loop`, `Scan` and `If` with graphs of the file as bodies."""

import json
from pathlib import Path

import numpy as np
import pytest
from mdf.test_bodies import exported, graph, step, values

TENTH = {
    "divide": step("Div", "x.12", ["x.11"], {"B": 10.0}, A="x.11", B="B"),
    "on": step("Cast", "_13", (), {"to": 9, "input": 1}, input="input"),
}


@pytest.mark.parametrize("body", [graph(TENTH), {"inner": graph(TENTH)}], ids=["plain", "under another id"])
def test_loop_of_an_old_file_runs(body):
    actual = values(exported(body), input=np.ones((2, 3)), count=2)
    np.testing.assert_allclose(actual["out"], np.full((2, 3), 2.0))
    assert actual["x.3"].dtype == np.float64


def test_example_of_the_documentation_runs():
    text = (Path(__file__).parents[4] / "docs" / "mdf.md").read_text(encoding="utf-8")
    examples = [part.split("```")[0] for part in text.split("```json")[1:]]
    node = json.loads("{" + next(example for example in examples if "onnx::Loop" in example) + "}")
    node["parameters"] |= {"start": {"value": 1.0}, "k": {"value": 2.0}}
    actual = values({"m": {"graphs": {"g": graph({"A": node})}}})
    assert (float(actual["last"]), actual["all"].tolist()) == (21.0, [3, 5, 7, 9, 11, 13, 15, 17, 19, 21])


def test_scan_and_if_run():
    cell = graph({"add": step("Add", "s2", ["s", "x"], A="s", B="x")}, metadata={
        "onnx_inputs": ["s", "x"], "onnx_outputs": ["s2", "s2"]})  # fmt: skip
    scan = step("Scan", "last", ["X"], {"body": {"g": cell}, "num_scan_inputs": 1, "s0": 0.0,
                "scan_input_directions": [1]}, initial_state_and_scan_inputs="s0", rows="X")  # fmt: skip
    scan["output_ports"] = {"last": {"value": "do_last[0]"}, "all": {"value": "do_last[1]"}}
    branches = {
        "then_branch": {"t": graph({"n": step("Mul", "t", ["last"], {"B": 2.0}, A="last", B="B")})},
        "else_branch": {"e": graph({"n": {"output_ports": {"e": {"value": "0 - last"}}, "input_ports": {"last": {}}}})},
    }
    choice = step("If", "chosen", ["last", "p"], branches, cond="p")
    data = {"m": {"graphs": {"g": graph({"scan": scan, "choice": choice})}}}
    rows = np.array([1.0, 2, 3])
    assert values(data, X=rows, p=True)["all"].tolist() == [3, 5, 6]
    assert float(values(data, X=rows, p=True)["chosen"]) == 12.0
    assert float(values(data, X=rows, p=False)["chosen"]) == -6.0
