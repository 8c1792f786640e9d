"""The demo agrees with scikit-learn, and README.md shows what it and the example there really print."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    """The fenced blocks of README.md in one language."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    return [block["text"] for block in BLOCK.finditer(text) if block["language"] == language]


def output_of(folder: Path, *arguments: str) -> str:
    """What a Python program prints in a folder; it must end well."""
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder that the demo ran in, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    return folder, output_of(folder, str(CHECKOUT / "examples" / "demo.py"))


@pytest.mark.slow
def test_demo_agrees_with_scikit_learn(demo: tuple[Path, str]) -> None:
    printed = demo[1]
    assert printed.count(": as scikit-learn says") == 6
    assert "The loop went round 14 times" in printed
    assert printed.count(": as whorl before the conversion says") == (4 if find_spec("openvino") else 2)


@pytest.mark.slow
def test_readme_shows_what_the_demo_and_the_example_print(demo: tuple[Path, str]) -> None:
    folder, printed = demo
    shown, expected = blocks("text")
    (example,) = blocks("python")
    assert shown in printed
    assert output_of(folder, "-c", example) == expected
