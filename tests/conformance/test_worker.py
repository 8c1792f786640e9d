"""The worker: whatever an engine does with a question becomes an answer."""

import numpy as np
from conformance import broken_engines

from whorl.conformance.backends import Backend
from whorl.conformance.messages import Question
from whorl.conformance.worker import answer

QUESTION = Question(b"", {}, sessions=2, repeat=3)


def test_outputs_of_every_session_and_run_are_answered():
    reply = answer(Backend(broken_engines.lies), QUESTION)
    assert reply.status == "ran"
    assert reply.runs == ([np.float32(0)],) * 6


def test_exception_is_an_error_with_its_text():
    reply = answer(Backend(broken_engines.refuses), QUESTION)
    assert (reply.status, reply.message) == ("error", "ValueError: not this one")


def test_missing_feature_is_unsupported():
    reply = answer(Backend(broken_engines.lacks), QUESTION)
    assert (reply.status, reply.message) == ("unsupported", "NotImplementedError: no loops here")
