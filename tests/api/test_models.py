"""`whorl.load`, `whorl.save`, `whorl.run` and the lazily loaded names of the package."""

import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx_text import ROLLOUT, model

import whorl

NEST = model("""
main (int64 n) => (int64 y) {
  y = Loop (n, , n) <body = b (int64 i, bool c, int64 s) => (bool c2, int64 s2) {
    c2 = Identity (c)
    s2 = If (c) <then_branch = t () => (int64 a) { a = Identity (s) }, else_branch = e () => (int64 b) { b = Neg (s) }>
  }>
}""")


FEEDS = {"count": np.array(4), "table": np.arange(12, dtype=np.float32)}


def test_run_returns_outputs_by_name(tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(ROLLOUT, path)
    for source in (path, ROLLOUT, ROLLOUT.SerializeToString(), ROLLOUT.graph, whorl.load(path)):
        assert whorl.run(source, FEEDS) == {"total": 6}


def test_module_is_returned_as_it_is():
    module = whorl.load(ROLLOUT)
    assert whorl.load(module) is module


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: whorl.load(5), "no model can be read from int\n  fix: pass a path, bytes or a ModelProto"),
        (lambda: whorl.load(None), "no model can be read from NoneType\n  fix: pass a path, bytes or a ModelProto"),
        (lambda: whorl.load(ROLLOUT, max_depth=0), "max_depth is 0, expected a whole number of 1 or more"),
        (lambda: whorl.load(ROLLOUT, max_depth="9"), "max_depth is '9', expected a whole number of 1 or more"),
        (lambda: whorl.load(ROLLOUT, condition_when_omitted="stop"),
         "condition_when_omitted is 'stop'\n  fix: use 'specification' or 'honour'"),
        (lambda: whorl.load("/"), "cannot read '/': Is a directory"),
    ],
)  # fmt: skip
def test_what_cannot_be_loaded_is_refused(call, text):
    with pytest.raises(whorl.LoadError) as caught:
        call()
    assert str(caught.value) == text


def test_path_without_a_known_ending_is_not_written(tmp_path):
    with pytest.raises(whorl.SaveError) as caught:
        whorl.save(ROLLOUT, tmp_path / "model")
    fix = "end it in .onnx, .onnxtxt, .mlir, .xml, .json, .yaml or .yml"
    assert str(caught.value).endswith(f"model' has no ending whorl can write\n  fix: {fix}")
    assert not list(tmp_path.iterdir())


def test_failed_write_leaves_what_was_there(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"kept")
    with pytest.raises(whorl.SaveError):
        whorl.save(
            model("main (float[1, 1, h, w] x, float[1, 2, 2, 2] at) => (float[n] y) { y = GridSample(x, at) }"),
            path,
            opset=13,
        )
    assert path.read_bytes() == b"kept" and len(list(tmp_path.iterdir())) == 1


def test_every_public_name_is_there_and_listed():
    assert set(whorl.__all__) <= set(dir(whorl))
    assert all(getattr(whorl, name) is not None for name in whorl.__all__)
    with pytest.raises(AttributeError, match="module 'whorl' has no attribute 'Session'"):
        _ = whorl.Session


def test_submodules_are_there_without_importing_them():
    program = "import whorl; print(whorl.backend.supports_device('CPU'), whorl.__version__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"True {whorl.__version__}\n"


def test_options_are_an_object_or_keywords_which_win():
    options = whorl.LoadOptions(max_depth=1)
    with pytest.raises(whorl.LoadError, match="graphs are nested deeper than 1"):
        whorl.load(NEST, options)
    assert isinstance(whorl.load(NEST, options, max_depth=2), whorl.Module)
    with pytest.raises(TypeError, match="depth"):
        whorl.load(NEST, depth=2)  # pyright: ignore[reportCallIssue]
