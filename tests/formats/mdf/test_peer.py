"""Small models that nobody wrote, in modeci_mdf and here: the same values, types and order of nodes, bit for bit."""

import random
from typing import Any

import mdf_reference
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from whorl.formats.mdf.engine import Engine
from whorl.formats.mdf.reading import model_of

pytest.importorskip("modeci_mdf")
TIMES = [None, None, 0.1, 0.1, 0.25]
FAILURES = Exception
"""What modeci_mdf raises of models that it cannot evaluate: mostly plain Exception."""


def is_same(found: Any, expected: Any) -> bool:
    if isinstance(expected, np.generic) and isinstance(found, np.generic):
        found, expected = np.array(found), np.array(expected)
    if type(found) is not type(expected):
        return False
    if isinstance(expected, np.ndarray):
        alike = found.dtype == expected.dtype and found.shape == expected.shape
        return alike and np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")
    return bool(found == expected or (found != found and expected != expected))


def joins_edges(data: dict[str, Any]) -> bool:
    nodes = data["m"]["graphs"]["g"]["nodes"].values()
    return any("reduce" in port for node in nodes for port in node["input_ports"].values())


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much])
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
        for place, value in values.items():
            assert is_same(engine.value(place), value), (at, place, engine.value(place), value)
