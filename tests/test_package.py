"""The package as installed: its version, and the ways to start the command."""

import importlib.metadata
import subprocess
import sys

import pytest

import whorl


def test_installed_version_is_the_one_the_package_says() -> None:
    assert importlib.metadata.version("whorl") == whorl.__version__


@pytest.mark.parametrize("module", ["whorl", "whorl.cli"])
def test_package_and_cli_start_the_command_as_modules(module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "show", "missing.onnx"], capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stderr.startswith("whorl: ")
