"""Every hostile file ends with a clear error, or with the right result, within limits of time, memory and disk."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hostile import onnx_files, text_files
from hostile.worker import DISK, MEMORY, SECONDS

FILES = onnx_files.FILES | text_files.FILES
WORKER = Path(__file__).with_name("worker.py")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="a file is tried in a forked process"),
]


def python(*arguments: str) -> subprocess.Popen:
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", *arguments],
        env=os.environ | {"PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def worker() -> Iterator[subprocess.Popen]:
    with python(str(WORKER)) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def test_there_are_200_files_of_four_formats():
    assert len(FILES) >= 200
    assert {name.split("/")[0] for name in FILES} == {"onnx", "openvino", "mlir", "mdf"}


@pytest.mark.parametrize("name", FILES)
def test_file_ends_in_time_with_a_clear_error_or_rightly(worker, name):
    worker.stdin.write(name + "\n")
    worker.stdin.flush()
    for verb, actual in json.loads(worker.stdout.readline()).items():
        assert not actual["said"].startswith(("raw", "ended")), f"{verb}: {actual['said']}"
        assert actual["seconds"] < SECONDS and actual["memory"] < MEMORY and actual["disk"] < DISK, (verb, actual)


def test_worker_tells_what_is_wrong(tmp_path):
    """The limits are real: a file that takes too much is told apart from one that does not."""
    source = (
        "import hostile.worker as w, pathlib\n"
        "w.VERBS['load'] = lambda path: bytearray(3 << 30)[0]\n"
        "w.VERBS['check'] = lambda path: 1 / 0\n"
        f"print([w.serve(v, pathlib.Path({str(tmp_path / 'x')!r})) for v in ('load', 'check')])\n"
    )
    with python("-c", source) as process:
        report = process.communicate()[0]
    load, check = eval(report)
    assert load["memory"] > MEMORY or load["said"].startswith("raw")
    assert check["said"].startswith("raw") and "ZeroDivisionError" in check["said"]
