"""Scripts for onnxruntime print the same with whorl in its place."""

import contextlib
import io

import numpy as np
import onnx
import onnxruntime
import pytest
from api.scripts import MODELS, SCRIPTS
from onnx_text import model

import whorl


def printed(script: str, runtime, folder: str) -> str:
    """What a script prints with a runtime as `ort`."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(script, {"ort": runtime, "np": np, "folder": folder, "path": lambda name: f"{folder}/{name}.onnx"})
    return out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models")
    for name, text in MODELS.items():
        onnx.save(model(text), path / f"{name}.onnx")
    return str(path)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_prints_the_same(name, folder):
    expected = printed(SCRIPTS[name], onnxruntime, folder)
    assert expected and printed(SCRIPTS[name], whorl, folder) == expected


def test_there_are_seventeen_scripts():
    assert len(SCRIPTS) == 17
