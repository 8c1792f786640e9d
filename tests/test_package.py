"""The package as installed: its version, and the command as a module."""

import importlib.metadata
import subprocess
import sys

import whorl


def test_installed_version_is_the_one_the_package_says() -> None:
    assert importlib.metadata.version("whorl") == whorl.__version__


def test_cli_starts_the_command_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "whorl.cli", "show", "missing.onnx"], capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stderr.startswith("whorl: ")
