"""Graphs with a few fields replaced by what does not belong there: they run, or are refused with an error of whorl."""

import copy
import random
from typing import Any

import mdf_reference
from hypothesis import given, settings
from hypothesis import strategies as st

from whorl.errors import WhorlError
from whorl.formats.mdf.reading import model_of
from whorl.mdf.engine.engine import Engine
from whorl.mdf.schedule.conditions import READERS

JUNK: list[Any] = [
    None, 0, -1, 2.5, 1e308, float("nan"), float("inf"), 10**40, True, "", "x", "p0", "n0", "i", "5 ms", "-1 ms", [],
    [1, 2], ["a"], [[1, 2], [3]], {}, {"type": "Always"}, {"type": "Not", "kwargs": {"condition": {"type": "Never"}}},
    "numpy.exp(1000)", "1/0", "x[0]", "[i]", "(1,)", "i.T", "{}", "'s'", "numpy.zeros(3)", "p0 @ p0", "p0 ** 99999",
]  # fmt: skip
ARGUMENTS = [
    "n", "dependency", "dependencies", "condition", "repeat", "start", "end", "unit", "t", "time_scale", "parameter",
    "threshold", "comparator", "indices", "node", "nodes", "owner_senders",
]  # fmt: skip
TYPES = [*READERS, "BeforeNode", "WithNode", "AfterNodes", "AddEdgeTo"]


def entries(data: Any) -> list[tuple[Any, Any]]:
    """Every place in nested data: what holds it, and its key."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [entry for key, value in pairs for entry in ((data, key), *entries(value))]


def spoiled_condition(draw: random.Random) -> dict[str, Any]:
    arguments = {draw.choice(ARGUMENTS): draw.choice(JUNK) for _ in range(draw.randint(0, 4))}
    return {"type": draw.choice(TYPES), "kwargs": copy.deepcopy(arguments)}


@settings(max_examples=400, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**9))
def test_spoiled_graph_runs_or_is_refused(seed):
    draw = random.Random(seed)
    data = mdf_reference.random_model(draw)
    graph = data["m"]["graphs"]["g"]
    if draw.random() < 0.5:
        scale = draw.choice(["environment_state_update", "environment_sequence", "PASS", "x"])
        graph["conditions"] = {
            "node_specific": {"n0": spoiled_condition(draw)},
            "termination": {scale: spoiled_condition(draw)},
        }
    for _ in range(draw.randint(0, 2)):
        holder, key = draw.choice(entries(graph))
        holder[key] = copy.deepcopy(draw.choice(JUNK))
    try:
        engine = Engine(next(iter(model_of(data).graphs.values())), max_passes=100)
        for time in (None, 0.1, 0.1):
            engine.evaluate(time)
        engine.schedule.period(50)
        engine.restore(engine.save())
    except WhorlError as error:
        assert error.message
