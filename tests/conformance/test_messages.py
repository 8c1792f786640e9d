"""Messages between the runner and its workers."""

import io

import numpy as np
import pytest

from whorl.conformance.messages import Answer, Question, receive, send


def test_message_comes_out_as_it_went_in():
    pipe = io.BytesIO()
    send(pipe, Question(b"model", {"x": np.arange(3)}, repeat=2))
    send(pipe, Answer("ran", runs=([None],)))
    pipe.seek(0)
    question, answer = receive(pipe), receive(pipe)
    assert isinstance(question, Question)
    assert (question.model, question.sessions, question.repeat) == (b"model", 1, 2)
    assert question.inputs["x"].tolist() == [0, 1, 2]
    assert answer == Answer("ran", runs=([None],))


@pytest.mark.parametrize("length", [0, 4, 12])
def test_pipe_that_ends_within_a_message_is_an_end_of_file(length):
    pipe = io.BytesIO()
    send(pipe, "ready")
    with pytest.raises(EOFError):
        receive(io.BytesIO(pipe.getvalue()[:length]))
