"""How a process starts: one that loads a model, runs it once and prints its figures."""

import json
import pickle

import numpy as np
import pytest
from onnx_text import model

from whorl.cli.starting import main
from whorl.conformance.messages import Question
from whorl.errors import RunError

SOURCE = model("main (float[2] x) => (float[2] y) { y = Neg(x) }").SerializeToString()


def requested_of(inputs: dict, path) -> str:
    path.write_bytes(pickle.dumps(Question(SOURCE, inputs)))
    return str(path)


def test_figures_of_a_first_run_are_one_document(tmp_path, capsys):
    main("whorl", requested_of({"x": np.ones(2, np.float32)}, tmp_path / "q"))
    figures = json.loads(capsys.readouterr().out)
    assert {"import", "load", "first_run"} <= figures.keys() <= {"import", "load", "first_run", "memory"}
    assert all(number >= 0 for number in figures.values())


def test_failure_of_the_run_is_not_hidden(tmp_path, capsys):
    with pytest.raises(RunError):
        main("whorl", requested_of({"x": np.ones(3, np.float32)}, tmp_path / "q"))
    assert capsys.readouterr().out == ""
