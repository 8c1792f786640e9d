"""What inference says of a value holds in every iteration and branch, however little the file says of its inputs."""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from onnx import ModelProto
from onnx.backend.test.loader import load_model_tests
from type_watch import RELAXATIONS, Watch, relaxed

import whorl
from whorl.conformance.cases import load_cases

pytestmark = pytest.mark.slow


def problems(model: ModelProto, feeds: dict[str, Any], how: str) -> list[str]:
    """What did not hold while the model ran; one that is refused, or fails, may still say wrong things before that."""
    try:
        module = whorl.load(relaxed(model, how))
    except whorl.WhorlError:
        return []
    watch = Watch(module)
    with suppress(whorl.WhorlError):
        watch.run(feeds)
    return watch.problems


@pytest.mark.parametrize("how", RELAXATIONS)
@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.name)
def test_types_hold_in_conformance_case(case, how):
    assert not problems(case.proto, dict(case.inputs), how)
    assert case.control is None or not problems(case.proto, dict(case.control), how)


@cache
def suite() -> list[tuple[str, ModelProto, dict[str, Any]]]:
    """The node tests of the onnx package: name, model, feeds."""
    return list(_suite())


def _suite() -> Iterator[tuple[str, ModelProto, dict[str, Any]]]:
    for test in load_model_tests(kind="node"):
        if test.model is None or not test.data_sets:
            continue
        names = [info.name for info in test.model.graph.input]
        yield test.name, test.model, dict(zip(names, test.data_sets[0][0], strict=False))


@pytest.mark.parametrize("how", RELAXATIONS)
def test_types_hold_in_node_tests_of_onnx(how):
    wrong = {name: actual for name, model, feeds in suite() if (actual := problems(model, feeds, how))}
    assert not wrong
