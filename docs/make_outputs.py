"""Runs the commands of README.md, docs/index.md and docs/howto, and writes what they print below them.

A block with a title is a file. Lines of a `sh` block that begin with `whorl` run in this process, others in a shell;
`python` blocks of a page share their names. The `text` block below one holds what it prints; a line `...` in it stands
for any lines. A comment `# exit code 1` says that a command ends so. Other blocks are not run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from whorl.cli import main as whorl

DOCS = Path(__file__).parent
ROOT = DOCS.parent
BLOCK = re.compile(r'^```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)
CODE = re.compile(r"# exit code (?P<code>\d+)")


def pages() -> list[Path]:
    """The pages whose commands run."""
    howto = sorted(path for path in (DOCS / "howto").glob("*.md") if path.stem != "index")
    return [ROOT / "README.md", DOCS / "index.md", *howto]


def page(text: str, folder: Path) -> str:
    """A page with the outputs of its commands, which run in a folder. Errors: RuntimeError for one that fails."""
    names: dict[str, Any] = {"__name__": "__page__"}
    pieces, end, output = [], 0, None
    if "examples/" in text:
        shutil.copytree(ROOT / "examples", folder / "examples")
    with _working_in(folder):
        for block in BLOCK.finditer(text):
            between = text[end : block.start()]
            pieces.append(between)
            end = block.end()
            shown = block[0]
            if block["title"]:
                (folder / block["title"]).write_text(block["text"], encoding="utf-8")
            elif block["language"] == "text" and output is not None and not between.strip():
                shown = shown if matches(block["text"], output) else f"```text\n{output}```"
            output = _run(block, names) if not block["title"] else None
            pieces.append(shown)
    return "".join([*pieces, text[end:]])


def matches(expected: str, output: str) -> bool:
    """Whether an output is what a block says, of which lines `...` stand for any lines."""
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in expected.splitlines())
    return re.fullmatch(pattern, output) is not None


def _run(block: re.Match[str], names: dict[str, Any]) -> str | None:
    match block["language"]:
        case "sh":
            return "".join(_command(line) for line in block["text"].replace("\\\n", " ").splitlines() if line.strip())
        case "python":
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(block["text"], "<page>", "exec"), names)
            return printed.getvalue()
        case _:
            return None


def _command(line: str) -> str:
    """What a command prints. Errors: RuntimeError where it ends with another code than the line says."""
    comment = CODE.search(line)
    expected_code = int(comment["code"]) if comment else 0
    words = shlex.split(line, comments=True)
    if words[0] == "whorl":
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()) as errors:
            code = whorl(words[1:])
        output, trouble = printed.getvalue() + (errors.getvalue() if expected_code else ""), errors.getvalue()
    else:
        done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
        code, output, trouble = done.returncode, done.stdout, done.stderr
    if code != expected_code:
        raise RuntimeError(f"{line!r} ends with {code}, not {expected_code}:\n{output}{trouble}")
    return output


@contextlib.contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    """Within, the working directory is a folder, as `contextlib.chdir` has it, and programs of Python are found."""
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        os.environ["PATH"] = before


def main() -> None:
    for path in pages():
        with tempfile.TemporaryDirectory() as folder:
            text = page(path.read_text(encoding="utf-8"), Path(folder))
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
