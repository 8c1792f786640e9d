"""The package as installed: its version, and the command as a module."""

import importlib.metadata
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import whorl
from whorl.conformance.files import FOLDER

CHECKOUT = Path(__file__).parents[1]


def test_installed_version_is_the_one_the_package_says() -> None:
    assert importlib.metadata.version("whorl") == whorl.__version__


def test_cli_starts_the_command_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "whorl.cli", "show", "missing.onnx"], capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stderr.startswith("whorl: ")


def test_wheel_has_every_data_file_of_the_conformance_suite(tmp_path) -> None:
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(CHECKOUT))
    (wheel,) = builder.build(directory=str(tmp_path), versions=["standard"])
    packed = set(zipfile.ZipFile(wheel).namelist())
    data = {path.relative_to(CHECKOUT / "src").as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert len(data) > 400
    assert data <= packed
