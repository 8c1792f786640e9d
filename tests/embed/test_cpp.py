"""A C++ program with onnxruntime's shared library runs an embedded model."""

import subprocess
from pathlib import Path

import onnxruntime
import pytest
from compilers import CPP
from onnx_text import model

import whorl

CAPI = Path(onnxruntime.__file__).parent / "capi"
LIBRARIES = sorted(CAPI.glob("libonnxruntime.so.*"))
TEXT = """main (float[k] x, int64 n) => (float[m] y) {
    flat = Constant<value = int64[1] {-1}> ()
    last, rows = Loop (n, "", x) <body = step (int64 i, bool go, float[k] h) => (bool on, float[k] a, float row) {
        on = Identity(go)
        a = Add(h, x)
        [read] row = Gather(a, i)
    }>
    y = Reshape(rows, flat)
}"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    if not CPP or not LIBRARIES:
        pytest.skip("there is no C++ compiler, nor ziglang, or no shared library in onnxruntime's wheel")
    path = tmp_path_factory.mktemp("program") / "run_model"
    (path.parent / "libonnxruntime.so.1").symlink_to(LIBRARIES[0])
    source = Path(__file__).with_name("run_model.cpp")
    command = [*CPP, "-std=c++17", "-pthread", source, LIBRARIES[0], f"-Wl,-rpath,{path.parent}", "-o", path]
    subprocess.run(command, check=True)
    return path


@pytest.fixture(scope="module")
def embedded(tmp_path_factory) -> whorl.Embedded:
    return whorl.embed(model(TEXT), tmp_path_factory.mktemp("model") / "model.onnx")


def run(program: Path, embedded: whorl.Embedded, count: int) -> subprocess.CompletedProcess[str]:
    command = [program, embedded.model, embedded.library, str(count), "4"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_program_gets_outputs_whose_lengths_only_the_run_knows(program, embedded):
    done = run(program, embedded, 3)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.split() == ["2", "6", "12"]
    assert run(program, embedded, 0).stdout == ""


def test_program_gets_the_text_of_a_failure(program, embedded):
    done = run(program, embedded, 5)
    assert done.returncode == 3
    assert "Loop 'last': Gather 'read' in body of Loop (iteration 3): a value or a length is refused" in done.stderr
