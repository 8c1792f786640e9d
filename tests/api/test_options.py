"""Options of sessions and runs: onnxruntime's names, and what is refused."""

import re

import onnxruntime
import pytest
from onnx_text import ROLLOUT

import whorl
import whorl as ort


def test_every_option_of_onnxruntime_is_one_here():
    for ours, theirs in (
        (ort.SessionOptions(), onnxruntime.SessionOptions()),
        (ort.RunOptions(), onnxruntime.RunOptions()),
    ):
        fields = [n for n in dir(theirs) if not n.startswith("_") and not callable(getattr(theirs, n))]
        assert fields and not [name for name in fields if not hasattr(ours, name)]


@pytest.mark.parametrize("kind", [ort.SessionOptions, ort.RunOptions])
def test_unknown_option_is_refused_with_the_choices(kind):
    options = kind()
    for attempt in (lambda: setattr(options, "max_iteration", 3), lambda: options.max_iteration):
        with pytest.raises(
            AttributeError, match=rf"{kind.__name__} has no option 'max_iteration'; choose from .*max_iterations"
        ):
            attempt()
    assert not hasattr(options, "register_all_custom_ops")


def test_options_do_not_share_values():
    first, second = ort.SessionOptions(), ort.SessionOptions()
    first.max_iterations = 3
    first.add_session_config_entry("session.disable_prepacking", "1")
    assert second.max_iterations is None
    assert first.get_session_config_entry("session.disable_prepacking") == "1"
    with pytest.raises(whorl.RunError, match=r"configuration key 'session.disable_prepacking' was not set"):
        second.get_session_config_entry("session.disable_prepacking")
    assert repr(first) == "SessionOptions(max_iterations=3)"


@pytest.mark.parametrize(
    ("attempt", "text"),
    [
        (lambda: ort.InferenceSession(ROLLOUT, {"max_iterations": 3}), "sess_options is dict"),
        (lambda: ort.InferenceSession(ROLLOUT).run(None, {}, {"terminate": True}), "run_options is dict"),
        (lambda: ort.InferenceSession(ROLLOUT).end_profiling(), "nothing was recorded"),
        (lambda: ort.InferenceSession(ROLLOUT, _with(backend="fast")), "there is no backend 'fast'"),
    ],
)
def test_options_that_cannot_be_retained_are_refused(attempt, text):
    with pytest.raises(whorl.RunError) as caught:
        attempt()
    assert str(caught.value).startswith(text)


def _with(**values):
    options = ort.SessionOptions()
    for name, value in values.items():
        setattr(options, name, value)
    return options


@pytest.mark.parametrize(
    ("attempt", "text"),
    [
        (lambda: ort.SessionOptions().add_session_config_entry("session.x", "1"), "configuration key 'session.x'"),
        (lambda: ort.RunOptions().add_run_config_entry("memory.x", "1"), "configuration key 'memory.x'"),
        (
            lambda: ort.InferenceSession(ROLLOUT, providers=["CUDAExecutionProvider"]),
            "provider 'CUDAExecutionProvider' is not available; 'CPUExecutionProvider' runs the model",
        ),
    ],
)
def test_options_without_effect_are_warned_of(attempt, text):
    with pytest.warns(UserWarning, match=re.escape(text)):
        attempt()
