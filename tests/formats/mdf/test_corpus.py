"""Recorded traces of modeci_mdf: the engine gives the same values, of the same types, in the same order of nodes."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from whorl.formats.mdf.reading import model_of
from whorl.mdf.engine.engine import Engine

KINDS = {"out": "output_ports", "par": "parameters", "fun": "functions"}
LEFT_TO_CHANCE = {
    "sem_reduce_overwrite": "two edges lead into one overwriting port: the recording engine took either, by address",
}
LAST_BITS = {
    "PyNN_HH": "numpy.exp of the recording machine rounds one value differently, and the model diverges",
    "IAFs": "sums of a matrix product in another order",
    "RNNs": "sums of a matrix product in another order",
}
"""Held to a relative error of 1e-9 only."""


def cases() -> list[Path]:
    named = os.environ.get("WHORL_CORPUS")
    folder = Path(named) if named else Path(__file__).parents[3].parent / "shared" / "corpus"
    return sorted(path.parent for path in (folder / "mdf").glob("*/order.json"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        actual = cases() or [pytest.param(None, marks=pytest.mark.skip(reason="no corpus here; WHORL_CORPUS names it"))]
        metafunc.parametrize("case", actual, ids=[getattr(path, "name", "none") for path in actual])


def decoded(value: object) -> object:
    """A recorded value: a number, None, or an object with type and contents."""
    match value:
        case {"t": "ndarray", "v": items, "dtype": dtype}:
            return np.array(items, dtype)
        case {"t": "ndarray", "v": items}:
            return np.array(items)
        case {"v": plain}:
            return plain
    return value


def kind_of(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"ndarray[{value.dtype}{list(value.shape)}]"
    return type(value).__name__


def trace(case: Path) -> tuple[list[dict], list[list[list[str]]]]:
    """The values after each call, and the consideration sets of each."""
    model = model_of(json.loads((case / "model.json").read_text()))
    engine = Engine(next(iter(model.graphs.values())), precision="float32")
    values, orders = [], []
    for entry in json.loads((case / "meta.json").read_text())["calls"]:
        first = {name: decoded(value) for name, value in (entry.get("init") or {}).items()}
        for _ in range(entry["n"]):
            orders.append([sorted(each) for each in engine.evaluate(entry.get("dt"), first or None)])
            values.append({position: part.value for position, part in engine.parts()})
    return values, orders


def test_trace_is_reproduced(case):
    values, orders = trace(case)
    expected_orders = json.loads((case / "order.json").read_text())
    assert orders[: len(expected_orders)] == expected_orders
    if case.name in LEFT_TO_CHANCE:
        return
    kinds = json.loads((case / "meta.json").read_text())["kinds"]
    if (case / "expected.npz").exists():
        for key, expected in np.load(case / "expected.npz").items():
            node, kind, id = key.split("|")
            actual = [each[node, KINDS[kind], id] for each in values]
            assert {kind_of(value) for value in actual} == set(kinds[key]), key
            compare(np.array(actual, expected.dtype), expected, case.name)
    if (case / "expected_other.json").exists():
        for key, expected in json.loads((case / "expected_other.json").read_text()).items():
            node, kind, id = key.split("|")
            for each, required in zip(values, map(decoded, expected), strict=True):
                np.testing.assert_array_equal(each[node, KINDS[kind], id], required, err_msg=key)


def compare(actual: np.ndarray, expected: np.ndarray, name: str) -> None:
    if name in LAST_BITS:
        np.testing.assert_allclose(actual, expected, rtol=1e-9)
    else:
        np.testing.assert_array_equal(actual, expected)
