"""Slices under compat "openvino-cpu": each gives what OpenVINO's CPU plugin gives, or both refuse it."""

import os
from collections import Counter

import numpy as np
import pytest
from formats.openvino.engine import Engine
from formats.openvino.slice_programs import WEIGHTS, slicings

from whorl.errors import WhorlError
from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions
from whorl.runtime.session import Session

pytest.importorskip("openvino", reason="openvino has no wheel for this platform")

SEEDS = range(11, 31 if os.environ.get("WHORL_OPENVINO_ALL") else 12)


@pytest.fixture(scope="module")
def engine():
    actual = Engine(threads=2)
    yield actual
    actual.close()


def plugin(engine, slicing):
    """What each run gives in OpenVINO, None where it is refused."""
    runs = slicing.runs()
    outcomes = engine.run(slicing.xml(), WEIGHTS, runs)
    if isinstance(outcomes, str):
        return [None] * len(runs)
    return [None if isinstance(outcome, str) else outcome for outcome in outcomes]


def imitated(slicing, backend="interpreter"):
    """What each run gives here under the profile, None where it is refused."""
    runs = slicing.runs()
    try:
        module = load_ir(slicing.xml(), IrOptions("openvino-cpu"), WEIGHTS)
    except WhorlError:
        return [None] * len(runs)
    session, names = Session(module, backend=backend), [value.name for value in module.main.arguments]
    return [outcome(session, dict(zip(names, feeds, strict=True))) for feeds in runs]


def outcome(session, feeds):
    try:
        return session.execute(None, feeds)
    except WhorlError:
        return None


def is_undefined(slicing, outputs):
    """Whether outputs of the plugin hold memory that nothing wrote, so that it gives others in every process.

    Where the length is fixed, OpenVINO's core declares shapes by part_size, and the plugin cuts by the stride. The ends
    of a concatenation may say fewer rows than the core declares.
    """
    if slicing.is_open or outputs is None:
        return False
    if any(abs(each["stride"]) != each["part_size"] for each in (slicing.sliced, slicing.combined)):
        return True
    length = outputs[1].shape[slicing.axis]
    start, end = (n + (length + 1) * (n < 0) for n in (slicing.combined["start"], slicing.combined["end"]))
    return slicing.kind == "TensorIterator" and abs(end - start) != length


def same(actual, expected):
    if actual is None or expected is None:
        return actual is expected
    return all(f.dtype == e.dtype and np.array_equal(f, e) for f, e in zip(actual, expected, strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("kind", "count"), [("TensorIterator", 120), ("Loop", 60)])
def test_slicing_gives_what_the_plugin_gives_or_both_refuse_it(engine, kind, count, seed):
    figures = Counter()
    for slicing in slicings(kind, count, seed):
        for actual, expected in zip(imitated(slicing), plugin(engine, slicing), strict=True):
            undefined = is_undefined(slicing, expected)
            assert actual is None if undefined else same(actual, expected), f"{slicing}\n{actual}\n{expected}"
            figures["undefined" if undefined else "refused by both" if actual is None else "equal"] += 1
    assert figures["equal"] > count // 4, figures
    assert figures["refused by both"] > count // 12, figures
