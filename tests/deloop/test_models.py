"""Models as exporters write them lose their loops and branches and give the same, or keep them for the right reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
import pytest

import whorl
from deloop import openvino_refuses
from deloop.cases import Case
from deloop.engines import Run, onnxruntime_run, openvino_run, whorl_run
from deloop.tables import LOOP_FREE, REMAINING, SLOWER
from whorl.api.differences import difference
from whorl.api.synthetic import synthetic_feeds
from whorl.formats.onnx.saving import to_proto
from whorl.ir.graph import Module
from whorl.ir.infer import names_of
from whorl.ops.control.flow import If, Loop

Feeds = Mapping[str, Any]


def test_there_are_as_many_models_as_the_documentation_says():
    assert len(LOOP_FREE) - len(SLOWER) >= 50 and len(REMAINING) >= 15


@pytest.mark.parametrize("name", LOOP_FREE)
def test_model_without_its_loops_gives_the_same(name):
    case = LOOP_FREE[name]
    before = whorl.load(case.model)
    after = whorl.deloop(before, **case.options)
    assert not any(isinstance(node.op, If | Loop) for node in after.nodes())
    assert names_of(after.main.arguments) == names_of(before.main.arguments), "dims stay open"
    proto = to_proto(after)
    engines = {"native": whorl_run(after, "native"), "interpreter": whorl_run(after, "interpreter")}
    engines["onnxruntime"] = onnxruntime_run(proto)
    oracle, theirs = whorl_run(before, "interpreter"), onnxruntime_run(case.model)
    for feeds in feeds_of(case, before):
        expected = oracle(feeds)
        if not (case.has_scan and any(np.size(value) == 0 for value in feeds.values())):
            check(case, expected, theirs, feeds, "onnxruntime with the loop")
        for engine, run in engines.items():
            check(case, expected, run, feeds, engine)


def check(case: Case, expected: list[Any], run: Run, feeds: Feeds, where: str) -> None:
    actual = run(feeds)
    shapes = {key: np.shape(value) for key, value in feeds.items()}
    text = [difference(e, a, case.tolerance, case.tolerance) for e, a in zip(expected, actual, strict=True)]
    assert not any(text), f"{where} at {shapes}: {text}"


def feeds_of(case: Case, module: Module) -> Iterator[Feeds]:
    """Inputs of every length; each is drawn twice."""
    names = sorted(names_of(module.main.arguments))
    chosen = [dict.fromkeys(names, length) for length in case.lengths]
    chosen += [{name: case.lengths[-1] + k for k, name in enumerate(names)}]
    for draw, lengths in enumerate(chosen * 2):
        feeds = synthetic_feeds(module, draw, lengths)
        rng = np.random.default_rng(draw)
        yield feeds | {name: make(rng, lengths) for name, make in case.draws.items()}


def openvino_or_reason(model: onnx.ModelProto) -> Run | str:
    try:
        return openvino_run(model)
    except RuntimeError as error:
        return str(error)


@pytest.mark.parametrize("name", LOOP_FREE)
def test_openvino_gives_the_same_where_it_takes_the_model(name):
    case = LOOP_FREE[name]
    before = whorl.load(case.model)
    run = openvino_or_reason(to_proto(whorl.deloop(before, **case.options)))
    if name in openvino_refuses.MODELS:
        assert isinstance(run, str) and openvino_refuses.MODELS[name] in run
        return
    assert not isinstance(run, str), run
    oracle = whorl_run(before, "interpreter")
    for feeds in feeds_of(case, before):
        if name in openvino_refuses.EMPTY and any(np.size(value) == 0 for value in feeds.values()):
            continue
        check(case, oracle(feeds), run, feeds, "openvino")


@pytest.mark.parametrize("name", SLOWER)
def test_loop_that_onnxruntime_is_faster_with_remains_and_says_so(name):
    case = LOOP_FREE[name]
    with pytest.raises(whorl.DeloopError) as caught:
        whorl.deloop(case.model)
    assert "the model would be slower in onnxruntime without it" in str(caught.value)
    assert str(caught.value).endswith("fix: try --target any, in Python target='any'")


@pytest.mark.parametrize("name", REMAINING)
def test_loop_that_has_to_stay_says_why_and_what_lets_it_go(name):
    case = REMAINING[name]
    with pytest.raises(whorl.DeloopError) as caught:
        whorl.deloop(case.model)
    assert str(caught.value) == f"control flow remains:\n  {case.reason}\n  fix: {case.fix}"


@pytest.mark.parametrize("name", [name for name, case in REMAINING.items() if case.options])
def test_option_that_the_reason_names_lets_the_loop_go(name):
    case = REMAINING[name]
    before = whorl.load(case.model)
    after = whorl.deloop(before, **case.options)
    assert not any(isinstance(node.op, If | Loop) for node in after.nodes())
    run, oracle = onnxruntime_run(to_proto(after)), whorl_run(before, "interpreter")
    inputs = {key: np.array(value) for key, value in case.options.get("inputs", {}).items()}
    feeds = synthetic_feeds(before, 0, case.options.get("dims", {})) | inputs
    taken = {value.name for value in after.main.arguments}
    actual = run({key: value for key, value in feeds.items() if key in taken})
    if "Random" in case.graph:
        assert [np.shape(value) for value in oracle(feeds)] == [np.shape(value) for value in actual]
    else:
        assert not any(difference(e, a, 1e-4, 1e-4) for e, a in zip(oracle(feeds), actual, strict=True))
