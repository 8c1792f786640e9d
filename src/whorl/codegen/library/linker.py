"""From an object file to a shared library, by the linker of the system or of the PyPI package ziglang."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from whorl.errors import CompileError

COMPILERS = ("cc", "gcc", "clang")
PATIENCE = 120.0
"""Seconds that linking may take; zig builds a C library the first time."""


def linker() -> list[str]:
    """The command of a C compiler that links: that of the variable CC, one on PATH, or zig's. CompileError if none."""
    named = shlex.split(os.environ.get("CC", ""))
    if named:
        return named
    compiler = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    if compiler is not None:
        return [compiler]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    raise CompileError(
        "there is no linker: no C compiler is on PATH, and ziglang is not installed",
        fix="pip install 'whorl[aot]', install a C compiler, or write an object file with the ending .o",
    )


def link(objects: Sequence[Path], output: Path) -> None:
    """Link object files of this machine into a shared library. Errors: CompileError with the linker's output."""
    command = [*linker(), *_options(output.name), "-o", str(output), *map(str, objects), *_libraries()]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CompileError(f"the linker failed: {error}", str(output)) from None
    if done.returncode:
        output_text = (done.stderr or done.stdout).strip()
        raise CompileError(f"the linker failed with status {done.returncode}: {output_text}", str(output))


def _options(name: str) -> list[str]:
    """A shared library that programs linked with it look for by its name alone."""
    if sys.platform == "darwin":
        return ["-dynamiclib", f"-Wl,-install_name,@rpath/{name}"]
    return ["-shared", *([f"-Wl,-soname,{name}"] if sys.platform.startswith("linux") else [])]


def _libraries() -> list[str]:
    return ["-Wl,--as-needed", "-lm"] if sys.platform.startswith("linux") else []
