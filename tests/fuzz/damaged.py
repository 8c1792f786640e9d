"""Damaged files, and what becomes of them: a value or an error of whorl's, in bounded time and memory, and no file."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import bson
import numpy as np
import yaml

import whorl
from fuzz import damage, seeds
from whorl.api.check import check
from whorl.api.synthetic import synthetic_feeds
from whorl.codegen import cache
from whorl.ir.cached_property import cached_property
from whorl.ir.graph import Module
from whorl.ir.types import AnyShape, TensorType
from whorl.ir.verify import verify
from whorl.mdf.engine.engine import Engine
from whorl.runtime.limits import Limits

FORMATS = ("onnx", "ir", "mlir", "mdf", "cache")
MDF_SUFFIXES = (".json", ".json", ".yaml", ".bson", ".xml")
SECONDS = 3.0
"""CPU time that one file may take."""
LIMITS = Limits(max_iterations=30, timeout=0.5, max_memory=1 << 28)
MOST_ELEMENTS = 1 << 16
"""Elements of inputs with which a model is still run."""
COMPILED = 100
"""One run of so many is native."""


@dataclass(frozen=True)
class Damaged:
    """A damaged file: what stands in the files of a folder, the one to load first; how it is run.

    `native`: compiled; `attack`: a seed for extreme integers among the inputs, 0 for none; `key`: an entry of the
    cache.
    """

    format: str
    files: dict[str, bytes] = field(default_factory=dict)
    native: bool = False
    attack: int = 0
    key: str = ""


class Source:
    """Damaged files by number: the same seed and number give the same file."""

    def __init__(self, seed: int, every: int = 1, formats: Sequence[str] = FORMATS) -> None:
        self.seed, self.every, self.formats = seed, every, formats

    def file(self, number: int) -> Damaged:
        """The damaged file of a number."""
        random = Random(f"{self.seed}:{number}")
        kind = self.formats[number % len(self.formats)]
        native = random.randrange(COMPILED) == 0
        attack = random.randrange(1 << 30) * random.randrange(2)
        key = random.choice(ENTRIES)
        return Damaged(kind, _MAKE[kind](self, random), native, attack, key)

    @cached_property
    def onnx(self) -> list[bytes]:
        return seeds.onnx_seeds(self.every)

    @cached_property
    def ir(self) -> list[tuple[bytes, bytes]]:
        return seeds.ir_seeds(self.onnx)

    @cached_property
    def mlir(self) -> list[str]:
        return seeds.mlir_seeds(self.onnx)

    @cached_property
    def mdf(self) -> list[tuple[Any, bytes]]:
        return seeds.mdf_seeds(self.onnx)


def _onnx_file(source: Source, random: Random) -> dict[str, bytes]:
    how = damage.damage_proto if random.random() < 0.7 else damage.damage_bytes
    return {"model.onnx": how(random.choice(source.onnx), random)}


def _ir_files(source: Source, random: Random) -> dict[str, bytes]:
    xml, weights = random.choice(source.ir)
    xml = damage.damage_xml(xml, random) if random.random() < 0.7 else damage.damage_bytes(xml, random)
    if weights and random.random() < 0.1:
        weights = damage.damage_bytes(weights, random)
    return {"model.xml": xml, "model.bin": weights}


def _mlir_file(source: Source, random: Random) -> dict[str, bytes]:
    text = random.choice(source.mlir)
    if random.random() < 0.7:
        return {"model.mlir": damage.damage_tokens(text, random).encode("utf-8", "surrogateescape")}
    return {"model.mlir": damage.damage_bytes(text.encode(), random)}


def _mdf_files(source: Source, random: Random) -> dict[str, bytes]:
    (document, arrays), suffix = random.choice(source.mdf), random.choice(MDF_SUFFIXES)
    whole = random.random() < 0.25
    if not whole:
        document = damage.damage_document(document, random)
    try:
        data = _WRITE[suffix](document)
    except (AttributeError, OverflowError, TypeError, ValueError, bson.errors.InvalidDocument):
        suffix, data = ".json", json.dumps(document).encode()
    data = damage.damage_bytes(data, random) if whole else data
    if arrays and random.random() < 0.1:
        arrays = damage.damage_bytes(arrays, random)
    return {f"model{suffix}": data} | ({"model.npz": arrays} if arrays else {})


def _xml_of(document: Any) -> bytes:
    """A document as modelspec writes it: entries as elements, plain values as attributes."""
    text = "".join(_element("Model", name, entry) for name, entry in document.items())
    return text.encode("utf-8", "surrogateescape")


def _element(tag: str, name: str, entry: Any) -> str:
    fields = entry.items() if isinstance(entry, dict) else ()
    plain = {key: value for key, value in fields if not isinstance(value, dict)}
    inner = "".join(
        _element(key.title().replace("_", "").removesuffix("s") or "x", inner_name, inner)
        for key, value in fields
        if isinstance(value, dict)
        for inner_name, inner in value.items()
    )
    message = "".join(f" {key}={_quoted(value)}" for key, value in ({"id": name} | plain).items())
    return f"<{tag}{message}>{inner}</{tag}>"


def _quoted(value: Any) -> str:
    text = str(value)
    for mark, code in (("&", "&amp;"), ("<", "&lt;"), ('"', "&quot;")):
        text = text.replace(mark, code)
    return f'"{text}"'


def _yaml_of(document: Any) -> bytes:
    return yaml.dump(document, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)).encode()


_WRITE: dict[str, Callable[[Any], bytes]] = {
    ".json": lambda document: json.dumps(document).encode(),
    ".yaml": _yaml_of,
    ".bson": bson.encode if hasattr(bson, "encode") else bson.dumps,
    ".xml": _xml_of,
}

# ---- entries of the cache ----------------------------------------------------------------------------------------

ENTRIES = tuple(hashlib.sha256(str(k).encode()).hexdigest() for k in range(5))


def code_of(key: str) -> bytes:
    """The object code that belongs to a key."""
    return Random(key).randbytes(64 + 7 * int(key[:2], 16))


def _cache_files(source: Source, random: Random) -> dict[str, bytes]:
    """A folder of entries of which some are damaged, hold what belongs to another, or were left half written."""
    entries = {key: entry_of(key) for key in ENTRIES}
    for key in random.sample(ENTRIES, 3):
        match random.randrange(4):
            case 0:
                entries[key] = entries[random.choice(ENTRIES)]
            case 1:
                digest, code = entries[random.choice(ENTRIES)][:32], entries[key][32:]
                entries[key] = digest + code
            case _:
                entries[key] = damage.damage_bytes(entries[key], random)
    return {f"{key}.o": data for key, data in entries.items()}


def entry_of(key: str) -> bytes:
    """The file that the cache writes for a key."""
    return cache.digest_of(key, code_of(key)) + code_of(key)


_MAKE: dict[str, Callable[[Source, Random], dict[str, bytes]]] = {
    "onnx": _onnx_file,
    "ir": _ir_files,
    "mlir": _mlir_file,
    "mdf": _mdf_files,
    "cache": _cache_files,
}


# ---- what becomes of them ----------------------------------------------------------------------------------------


def outcome(damaged: Damaged, folder: Path) -> str:
    """`refused`, `read` (its run was refused or none could be made), `ran`, or the fault. The folder ends up empty."""
    for name, data in damaged.files.items():
        (folder / name).write_bytes(data)
    began = time.process_time()
    try:
        actual = _USE[damaged.format](damaged, folder)
    except whorl.WhorlError as error:
        actual = "refused" if str(error) else "an error without a text"
    except BaseException as error:
        actual = fault(error)
    took = time.process_time() - began
    left = {path.name for path in folder.iterdir()} - damaged.files.keys()
    for path in folder.iterdir():
        path.unlink()
    if left:
        return f"left behind: {sorted(left)}"
    return f"slow: {took:.1f} s, then {actual}" if took > SECONDS and actual in GOOD else actual


GOOD = ("refused", "read", "ran")


def fault(error: BaseException) -> str:
    """The kind of an exception, where it came from, and its text."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}whorl{os.sep}" in frame.filename] or frames
    last = ours[-1]
    name = last.filename.rsplit(f"{os.sep}whorl{os.sep}", 1)[-1]
    return f"{type(error).__name__} at {name}:{last.lineno} in {last.name}: {str(error)[:150]}"


def _use_model(damaged: Damaged, folder: Path) -> str:
    module = whorl.load(folder / next(iter(damaged.files)))
    verify(module)
    check(module)
    return _run(module, damaged)


def _use_mdf(damaged: Damaged, folder: Path) -> str:
    path = folder / next(iter(damaged.files))
    model = whorl.load(path)
    if isinstance(model, Module):
        return _run(model, damaged)
    model.problems()
    try:
        if damaged.native:
            type(model)(model.document, limits=LIMITS).simulate(steps=2, dt=0.1)
        engine = Engine(model.graph, max_passes=30, limits=LIMITS)
        engine.evaluate()
        engine.evaluate(0.1)
    except whorl.WhorlError:
        return "read"
    return "ran"


def _run(module: Module, damaged: Damaged) -> str:
    try:
        if sum(map(_elements, module.main.arguments)) > MOST_ELEMENTS:
            return "read"
        feeds = synthetic_feeds(module)
        if damaged.attack:
            random = Random(damaged.attack)
            feeds = {name: damage.damage_feed(feed, random) for name, feed in feeds.items()}
        options = whorl.SessionOptions()
        options.backend = "native" if damaged.native else "interpreter"
        options.max_iterations, options.timeout = LIMITS.max_iterations, LIMITS.timeout
        options.max_memory = LIMITS.max_memory
        with np.errstate(all="ignore"):
            whorl.InferenceSession(module, options).run(None, feeds)
    except whorl.WhorlError:
        return "read"
    return "ran"


def _elements(value: Any) -> int:
    if not isinstance(value.type, TensorType) or isinstance(value.type.shape, AnyShape):
        return 1
    return math.prod(dim if isinstance(dim, int) else 2 for dim in value.type.shape)


def use_cache(damaged: Damaged, folder: Path) -> str:
    """`read` where the cache gives the code of the key, `refused` where it gives nothing."""
    before = os.environ.get("WHORL_CACHE", "")
    os.environ["WHORL_CACHE"] = str(folder)
    try:
        actual = cache.read(damaged.key)
    finally:
        os.environ["WHORL_CACHE"] = before
    if actual is not None and actual != code_of(damaged.key):
        return "code that belongs to another entry"
    return "refused" if actual is None else "read"


_USE: dict[str, Callable[[Damaged, Path], str]] = {
    "onnx": _use_model,
    "ir": _use_model,
    "mlir": _use_model,
    "mdf": _use_mdf,
    "cache": use_cache,
}
