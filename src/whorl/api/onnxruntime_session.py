"""Sessions of onnxruntime over models whose loops are embedded, which stay on disk for the next process."""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from whorl.api.embedding import Embedded, embed
from whorl.codegen import cache
from whorl.codegen.target import host
from whorl.formats.onnx.beside import locations
from whorl.formats.onnx.files import read_proto
from whorl.formats.sources import File
from whorl.runtime.compiled.prepared import package_fingerprint


def onnxruntime_session(
    model: File, sess_options: Any = None, providers: Sequence[Any] | None = None, **keywords: Any
) -> Any:
    """An `onnxruntime.InferenceSession` over a model in which whorl has compiled the loops and branches.

    `embed` writes the model into whorl's cache folder, where later calls find it; else into a folder that goes with the
    session. `sess_options` also learn of the library; the rest is onnxruntime's. Errors: LoadError, CompileError, and
    those of onnxruntime, which must be installed.
    """
    onnxruntime: Any = importlib.import_module("onnxruntime")
    made, temporary = _embedded(model)
    options = onnxruntime.SessionOptions() if sess_options is None else sess_options
    if made.library:
        options.register_custom_ops_library(made.library)
    session = onnxruntime.InferenceSession(made.model, options, providers=providers, **keywords)
    if temporary is not None:
        weakref.finalize(session, temporary.cleanup)
    return session


def _embedded(model: File) -> tuple[Embedded, tempfile.TemporaryDirectory[str] | None]:
    """The embedded model in the cache folder, made unless it is there; or one in a folder of its own."""
    cached = cache.folder()
    if cached is None:
        temporary = tempfile.TemporaryDirectory(prefix="whorl")
        return embed(model, Path(temporary.name) / "model.onnx"), temporary
    folder = cached / "embedded"
    folder.mkdir(mode=0o700, exist_ok=True)
    name = _key(model)
    known = sorted(folder.glob(f"{name}/*.whorl.*"))
    if (folder / name / "model.onnx").exists():
        os.utime(folder / name)
        return Embedded(str(folder / name / "model.onnx"), str(known[0]) if known else "", ()), None
    with tempfile.TemporaryDirectory(dir=folder) as unfinished:
        made = embed(model, Path(unfinished) / "whole" / "model.onnx")
        with suppress(OSError):  # another process was faster
            os.rename(Path(unfinished) / "whole", folder / name)
    _trim(folder)
    library = folder / name / Path(made.library).name if made.library else ""
    return Embedded(str(folder / name / "model.onnx"), str(library), made.regions), None


def _trim(folder: Path) -> None:
    """Remove the models that were not used for longest, while all take more than the cache may."""
    sizes = {each: sum(file.stat().st_size for file in each.rglob("*") if file.is_file()) for each in folder.iterdir()}
    for each in sorted(sizes, key=lambda path: path.stat().st_mtime)[:-1]:
        if sum(sizes.values()) <= cache.LARGEST:
            return
        shutil.rmtree(each, ignore_errors=True)
        del sizes[each]


def _key(model: File) -> str:
    """A name by the model, the files beside it, this package and the machine."""
    proto = read_proto(model)
    digest = hashlib.sha256(proto.SerializeToString(deterministic=True))
    if isinstance(model, str | os.PathLike):
        for location in locations(proto):
            status = (Path(model).parent / location).stat()
            digest.update(f"{location} {status.st_size} {status.st_mtime_ns}\0".encode())
    return cache.key_of(digest.hexdigest(), package_fingerprint(), repr(host()))
