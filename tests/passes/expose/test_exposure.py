"""The edit: what is collected, what is logged, and that a model's own outputs stay."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from traced_models import NESTED, X

import whorl
from whorl.formats.onnx.saving import to_proto
from whorl.ir.verify import verify
from whorl.passes.expose.adding import retype
from whorl.passes.expose.exposure import Exposed, expose
from whorl.passes.expose.reading import read_records
from whorl.passes.expose.scopes import choose, scopes_of
from whorl.passes.expose.windows import Span, Window, only

FEEDS = {"n": np.array(4), "x": X}


def exposed_of(pattern: str, window: Window | None = None) -> tuple[whorl.Module, list[Exposed]]:
    module = whorl.load(NESTED)
    exposed = expose(module, choose(scopes_of(module), [pattern]), window)
    retype(module)
    verify(module)
    return module, exposed


@pytest.mark.parametrize(("pattern", "stacked"), [("outer/t", 1), ("inner/u", 1), ("longer", 0), ("else_branch/d", 0)])
def test_values_of_one_shape_are_collected_up_to_where_lengths_differ(pattern: str, stacked: int) -> None:
    _, (exposed,) = exposed_of(pattern)
    assert exposed.stacked == stacked
    assert bool(exposed.parts) == (pattern != "outer/t")


@pytest.mark.parametrize("window", [None, {"outer": (Span(1, None, 2),)}, only({"outer": 3, "outer/inner": 1})])
def test_onnxruntime_takes_the_edited_model(window: Window | None) -> None:
    module, exposed = exposed_of("*", window)
    ours = dict(zip(module.output_names, whorl.InferenceSession(module).run(None, FEEDS), strict=True))
    session = onnxruntime.InferenceSession(to_proto(module).SerializeToString())
    theirs = dict(zip(module.output_names, session.run(None, FEEDS), strict=True))
    for name, value in ours.items():
        np.testing.assert_array_equal(theirs[name], value)
    records = {each.path: read_records(each, ours) for each in exposed}
    if window == only({"outer": 3, "outer/inner": 1}):
        assert records["outer/inner/u"].iterations.tolist() == [[3, 1]]


def test_own_outputs_stay() -> None:
    module, _ = exposed_of("*")
    plain, edited = whorl.InferenceSession(NESTED), whorl.InferenceSession(module)
    for ours, expected in zip(edited.run(["y", "z"], FEEDS), plain.run(None, FEEDS), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_what_a_body_is_passed_is_collected_as_a_value_of_its_own() -> None:
    """Engines confuse an output of a body that is what it was passed, or that is another output."""
    module, _ = exposed_of("outer/?")
    (loop,) = (node for node in module.main.nodes if node.regions)
    body = loop.regions[0]
    collected = body.results[1 + loop.op.carried :]  # type: ignore[attr-defined]
    assert not {*collected} & {*body.arguments}
    assert len({*body.results}) == len(body.results)
