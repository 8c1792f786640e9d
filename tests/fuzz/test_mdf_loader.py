"""Damaged MDF files: each is refused with a whorl error or evaluated, whatever stands in its fields and bytes."""

import copy
import json

import pytest
from formats.mdf.test_files import FULL
from hypothesis import given, settings
from hypothesis import strategies as st
from mdf.test_bodies import drifting, exported, graph

from whorl.errors import WhorlError
from whorl.formats.mdf.files import read_mdf
from whorl.formats.mdf.reading import model_of
from whorl.formats.mdf.writing import data_of
from whorl.mdf.engine.engine import Engine
from whorl.runtime.limits import Limits

MODELS = [FULL, drifting(), exported(graph({}))]
VALUES = [
    None, True, 0, -1, 3, 10**30, float("inf"), float("nan"), "", "x", "__import__('os')", "1 / 0", "[1", "A",
    "numpy.zeros(10 ** 12)", "linear", "onnx::Loop", "onnx::Nope", "(1,)", "(-1,)", "x" * 30_000, [], {}, [1, 2],
    [[1], [1, 2]], ["a"], [None], {"a": 1}, {"nodes": {}}, {"type": "Always"}, {"id": "A"}, {"linear": {"slope": 1}},
    {"npz": "W"},
]  # fmt: skip
FIELDS = ["nodes", "value", "args", "function", "x", "body", "conditions", "metadata"]


def paths(data, path=()):
    """The places of a document, but for its root."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from paths(value, (*path, key))


POSITIONS = [list(paths(model)) for model in MODELS]


@st.composite
def damaged(draw):
    number = draw(st.integers(0, len(MODELS) - 1))
    model = copy.deepcopy(MODELS[number])
    for _ in range(draw(st.integers(1, 2))):
        path, holder = draw(st.sampled_from(POSITIONS[number])), model
        try:
            for key in path[:-1]:
                holder = holder[key]
            old = holder[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue
        if not isinstance(holder, dict | list):
            continue
        how = draw(st.integers(0, 9))
        if how < 7:
            holder[path[-1]] = copy.deepcopy(draw(st.sampled_from(VALUES)))
        else:
            del holder[path[-1]]
            if how > 8 and isinstance(holder, dict):
                holder[draw(st.sampled_from(FIELDS))] = old
    return model


@settings(deadline=None, max_examples=300)
@given(damaged())
def test_damaged_documents_are_refused_or_evaluated(data):
    try:
        model = model_of(data)
        data_of(model)
        engine = Engine(next(iter(model.graphs.values())), max_passes=50, limits=Limits(max_iterations=100))
        engine.evaluate()
        engine.evaluate(0.1)
    except WhorlError as error:
        assert str(error)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_damaged_bytes_are_refused_or_read(tmp_path_factory, data):
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")
    ending = data.draw(st.sampled_from([".json", ".yaml", ".bson", ".xml"]))
    text = {".yaml": yaml.safe_dump(FULL), ".xml": '<Model id="m"><Graph id="g"><Node id="A"/></Graph></Model>'}
    content = bytearray(text.get(ending, json.dumps(FULL)).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=3))
        content = content or bytearray(b"x")
    path = tmp_path_factory.mktemp("mdf") / f"m{ending}"
    path.write_bytes(bytes(content))
    try:
        read_mdf(path)
    except WhorlError as error:
        assert str(error)
