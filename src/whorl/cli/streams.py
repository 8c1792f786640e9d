"""`-` as the name of a model: standard input, and standard output for one that is written."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from whorl.cli.usage import UsageError
from whorl.ir.forking import import_whole

DASH = "-"
WRITTEN = ".onnx"
"""What standard output gets: a stream has no ending that could choose a format."""


@contextlib.contextmanager
def model_streams(arguments: argparse.Namespace) -> Iterator[None]:
    """Within, `-` for MODEL is a file with what standard input has, and for OUT one that standard output gets after.

    What the verb prints goes to standard error where standard output is the model. Verbs that do not read a model, or
    that write none, are left as they are. Errors: UsageError for `--json` beside a model on standard output.
    """
    reads = getattr(arguments, "model", None) == DASH
    writes = getattr(arguments, "writes_model", False) and arguments.output == DASH
    if not reads and not writes:
        yield
        return
    if writes and arguments.json:
        raise UsageError("--json and a model cannot both go to standard output", fix="name a file for the model")
    with tempfile.TemporaryDirectory(prefix="whorl-") as folder, contextlib.ExitStack() as stack:
        if reads:
            arguments.model = str(_copy_input(Path(folder)))
        if writes:
            arguments.output = str(Path(folder) / f"stdout{WRITTEN}")
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        yield
        stack.close()
        if writes and Path(arguments.output).exists():
            sys.stdout.buffer.write(Path(arguments.output).read_bytes())


def _copy_input(folder: Path) -> Path:
    """A file with what standard input has; its ending is the format that the beginning shows."""
    data = sys.stdin.buffer.read()
    path = folder / f"stdin{_ending_of(data)}"
    path.write_bytes(data)
    return path


def _ending_of(data: bytes) -> str:
    head = data.lstrip()[:64]
    if head.startswith((b"{", b"module", b"func.func", b"#")):
        return ".json" if head.startswith(b"{") else ".mlir"
    if head.startswith((b"<ir_version", b"<opset_import", b"<\n")):
        return ".onnxtxt"
    return str(import_whole("whorl.formats.registry").format_of(data).suffixes[-1 if head.startswith(b"<") else 0])
