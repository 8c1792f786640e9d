"""The loops and branches of an ONNX model as libraries of C functions, for whoever writes a plug-in of a runtime."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from whorl.api.ahead import Compiled, compile
from whorl.api.models import load_module
from whorl.api.preparing import prepare
from whorl.api.regions import AS_IN_ONNXRUNTIME, Regions
from whorl.codegen.library.linker import linker
from whorl.codegen.target import host, is_available, target_of
from whorl.errors import CompileError, LoadError, UnsupportedError
from whorl.formats.sources import File
from whorl.formats.writing import make_folder

_SUFFIXES = {"darwin": ".dylib", "win32": ".dll"}


class CompiledRegion(Struct, frozen=True):
    """A loop or branch of a model: the library of it with its header and functions, or why there is none."""

    title: str
    library: str = ""
    header: str = ""
    functions: Compiled | None = None
    reason: str = ""


def compile_regions(
    model: File, folder: str | os.PathLike[str], *, target: str | None = None, cpu: str | None = None
) -> Sequence[CompiledRegion]:
    """Write each outermost Loop, Scan and If of an ONNX model, alone, as a shared library with its header.

    Their inputs are the values that the node and its regions read, but for constants that no other node reads, which
    the library has; outputs are those of the node. `target` and `cpu` are another machine, as in `compile`: object
    files are written then. Errors: LoadError, CompileError, SaveError.
    """
    if not is_available():
        raise CompileError("llvmlite is not installed", fix="pip install llvmlite")
    if target is not None or cpu is not None:
        target_of(target or host().triple, cpu)
    if target is None:
        linker()
    path = Path(folder)
    regions = Regions(model)
    make_folder(path)
    suffix = _SUFFIXES.get(sys.platform, ".so") if target is None else ".o"
    results: list[CompiledRegion] = []
    for number, cut in enumerate(regions.cuts):
        reason = regions.reason_to_stay(cut)
        if reason:
            results.append(CompiledRegion(cut.title, reason=reason))
            continue
        stem = re.sub(r"\W", "_", cut.node.name, flags=re.ASCII)
        stem = f"region{number}{f'_{stem}' if stem else ''}"
        library, header = path / f"{stem}{suffix}", path / f"{stem}.h"
        try:
            module = prepare(load_module(regions.model_of(cut), AS_IN_ONNXRUNTIME))
            made = compile(module, library, header, name=stem, target=target, cpu=cpu)
        except (UnsupportedError, LoadError) as error:
            results.append(CompiledRegion(cut.title, reason=error.message))
        except CompileError as error:
            if error.where:
                raise
            results.append(CompiledRegion(cut.title, reason=error.message))
        else:
            results.append(CompiledRegion(cut.title, str(library), str(header), made))
    return results
