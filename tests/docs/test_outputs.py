"""The commands of README.md, docs/index.md and docs/howto run, and print what the pages say."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("make_outputs", DOCS / "make_outputs.py")
assert spec is not None and spec.loader is not None
generator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generator)


def name_of(path: Path) -> str:
    return path.relative_to(DOCS.parent).with_suffix("").as_posix()


@pytest.mark.parametrize("path", generator.pages(), ids=name_of)
def test_commands_of_a_page_print_what_it_says(path: Path, tmp_path: Path) -> None:
    for package in ("onnxruntime", "openvino", "xarray", "xdsl"):
        pytest.importorskip(package)
    text = path.read_text(encoding="utf-8")
    assert "```sh\n" in text or "```python\n" in text
    assert generator.page(text, tmp_path) == text, "run `make docs`"


def test_output_is_written_below_commands_and_files_come_from_titles(tmp_path: Path) -> None:
    text = '```text title="a.txt"\nhello\n```\n\n```sh\ncat a.txt\n```\n\n```text\nold\n```\n'
    assert generator.page(text, tmp_path) == text.replace("old", "hello")


def test_dots_in_an_output_stand_for_any_lines(tmp_path: Path) -> None:
    text = "```python\nfor n in range(9):\n    print(n)\n```\n\n```text\n0\n...\n8\n```\n"
    assert generator.page(text, tmp_path) == text


def test_command_that_ends_otherwise_than_the_page_says_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"^'whorl check nothing.onnx' ends with 3, not 0:\nwhorl: .*nothing.onnx"):
        generator.page("```sh\nwhorl check nothing.onnx\n```\n", tmp_path)
    text = "```sh\nwhorl check nothing.onnx  # exit code 3\n```\n"
    assert generator.page(text, tmp_path) == text
