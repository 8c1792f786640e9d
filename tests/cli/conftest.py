"""The command line called in this process."""

import json
from dataclasses import dataclass

import onnx
import pytest

from whorl.cli import main


@dataclass(frozen=True)
class Output:
    """What a command returned and printed."""

    code: int
    out: str
    err: str

    @property
    def document(self):
        return json.loads(self.out, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))


@pytest.fixture
def whorl(capsys):
    """Call the command line with arguments of any kind; nothing of it may leave as an exception."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        report = capsys.readouterr()
        assert isinstance(code, int) and "Traceback" not in report.err
        return Output(code, report.out, report.err)

    return call


@pytest.fixture
def saved(tmp_path):
    """Write a model to a file and return its path."""

    def save(proto, name="model.onnx"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        onnx.save(proto, path)
        return path

    return save
