"""Bodies as models of their own, with what they got in one iteration."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from traced_models import NESTED, X

import whorl
from whorl.formats.onnx.saving import to_proto

FEEDS = {"n": np.array(4), "x": X}


def test_body_gives_what_it_gave_in_the_iteration() -> None:
    extracted = whorl.extract(NESTED, "inner", at=[3, 1], inputs=FEEDS)
    assert [value.name for value in extracted.module.main.arguments] == ["j", "p", "u"]
    session = onnxruntime.InferenceSession(to_proto(extracted.module).SerializeToString())
    for engine in (whorl.InferenceSession(extracted.module), session):
        for ours, expected in zip(engine.run(None, extracted.inputs), extracted.outputs.values(), strict=True):
            np.testing.assert_array_equal(ours, expected)
    trace = whorl.trace(NESTED, FEEDS)
    np.testing.assert_array_equal(extracted.inputs["u"], trace.records("inner/u").at(3, 1))


def test_branch_is_a_model_too() -> None:
    extracted = whorl.extract(NESTED, "then_branch", at=(3, 2), inputs=FEEDS)
    assert list(extracted.inputs) == ["u"]
    np.testing.assert_array_equal(extracted.outputs["w"], -extracted.inputs["u"])


def test_body_without_an_iteration_has_no_values() -> None:
    extracted = whorl.extract(NESTED, "outer")
    assert (extracted.inputs, extracted.outputs) == ({}, {})
    assert extracted.module.output_names == ["h", "t", "longer"]


@pytest.mark.parametrize(
    ("body", "at", "text"),
    [
        ("z", None, "no body or branch is called 'z'\n  fix: choose from outer, outer/inner, "
         "outer/inner/choice/then_branch, outer/inner/choice/else_branch"),
        ("inner", 1, "'outer/inner' lies in 2 loops, and 1 iterations are named\n  fix: name the iteration of each of "
         "outer, outer/inner"),
        ("inner", [1, 3], "'outer/inner' has no iteration 1, 3\n  fix: `whorl trace` shows trip counts and branches"),
    ],
)  # fmt: skip
def test_body_or_iteration_that_is_not_there_is_refused(body: str, at: list[int] | None, text: str) -> None:
    with pytest.raises(whorl.RunError) as caught:
        whorl.extract(NESTED, body, at=at, inputs=FEEDS)
    assert str(caught.value) == text
