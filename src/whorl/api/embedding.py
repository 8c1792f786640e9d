"""Models for onnxruntime whose loops and branches are custom ops, compiled into a library beside the model."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whorl.api.ahead import library_of, linked
from whorl.api.measuring import Measured, measure_regions
from whorl.api.models import load_module
from whorl.api.preparing import prepare
from whorl.api.regions import AS_IN_ONNXRUNTIME, Regions, Weights
from whorl.codegen.custom_ops.interface import DOMAIN, DOMAIN_VERSION
from whorl.codegen.custom_ops.operator import operator_modules
from whorl.codegen.custom_ops.registration import registration_module
from whorl.codegen.library.lengths import has_conditions
from whorl.codegen.library.linker import linker
from whorl.codegen.library.opening import path_to_open
from whorl.codegen.library.ports import Library
from whorl.codegen.library.text import fill_constants
from whorl.codegen.target import Target, host, is_available, linkable_code, target_of
from whorl.errors import CompileError, LoadError, UnsupportedError
from whorl.formats.onnx.beside import bring_files
from whorl.formats.onnx.cutting import Cut, node_of, replace_nodes
from whorl.formats.onnx.protos import ModelProto, NodeProto
from whorl.formats.sources import File
from whorl.formats.writing import make_folder, save_whole
from whorl.ir.graph import Module
from whorl.lowering.spreading import spread_graph

_MOST_BROADCASTS = 4
"""Lengths for which there is a program that takes them for 1."""
_SUFFIXES = {"darwin": ".dylib", "win32": ".dll"}


class EmbeddedRegion(Struct, frozen=True):
    """A loop or branch of a model: the op that stands for it, or the reason why it is as it was.

    `measured` is what it took in onnxruntime, where inputs were given.
    """

    title: str
    op_type: str = ""
    reason: str = ""
    nodes: int = 0
    """Nodes of the model that are in the op."""
    measured: Measured | None = None


class Embedded(Struct, frozen=True):
    """What `embed` wrote: the model, the library beside it (empty where no region is in one), and all regions.

    The library is a path as this process is to open it, for another machine a folder of object files.
    """

    model: str
    library: str
    regions: Sequence[EmbeddedRegion]


def embed(
    model: File,
    output: str | os.PathLike[str],
    *,
    only: Collection[str] = (),
    keep: Collection[str] = (),
    weights: Weights = "library",
    inputs: Mapping[str, Any] | None = None,
    everything: bool = False,
    target: str | None = None,
    cpu: str | None = None,
) -> Embedded:
    """Write an ONNX model for onnxruntime in which loops and branches are custom ops, and the library that has them.

    Each outermost Loop, Scan and If of tensors that has a native form becomes a node of the domain ai.whorl. The
    library lies beside the model, with the ending .whorl.so (.dylib, .dll); `register_custom_ops_library` of
    onnxruntime's session options takes it, from version 1.17 on. `only` and `keep` name nodes that alone go, or stay.
    `weights`: where constants over a kilobyte lie that one region alone reads. With `inputs` of the model each region
    is measured in onnxruntime, and is embedded if that is faster, or anyway with `everything`. `target` and `cpu`
    are another machine, as in `compile`: object files to link are written then.
    Errors: LoadError, CompileError, SaveError.
    """
    path = Path(output)
    if path.suffix != ".onnx":
        raise CompileError(f"{path.name!r} is no name of an ONNX model", fix="end it in .onnx")
    if not is_available():
        raise CompileError("llvmlite is not installed", fix="pip install llvmlite")
    machine = host() if target is None and cpu is None else target_of(target or host().triple, cpu)
    if target is None:
        linker()
    elif inputs is not None:
        raise CompileError(
            "what another machine takes cannot be measured here", fix="leave out the inputs, or the target"
        )
    parts = Regions(model, weights)
    chosen = parts.choose(only, keep)
    embedding = _Embedding(parts, machine)
    wider = dict(zip(map(id, chosen), parts.with_neighbours(chosen), strict=True))
    regions = [
        embedding.add(cut, wider[id(cut)]) if id(cut) in wider else EmbeddedRegion(cut.title, reason="was to stay")
        for cut in parts.cuts
    ]
    if inputs is not None:
        regions = embedding.keep_faster(regions, inputs, everything)
    make_folder(path.parent)
    library = path.with_suffix(f".whorl{_SUFFIXES.get(sys.platform, '.so') if target is None else ''}")
    files: dict[Path, bytes] = {}
    if embedding.objects and target is None:
        files[library] = embedding.library(library.name)
    elif embedding.objects:
        embedding.write_objects(library)
    nodes = [(cut.positions, node) for cut, node in embedding.made]
    replace_nodes(parts.proto, nodes, DOMAIN, DOMAIN_VERSION)
    bring_files(parts.proto, parts.folder, path.parent)
    save_whole({**files, path: parts.proto.SerializeToString()})
    written = path_to_open(library) if files else str(library) if embedding.objects else ""
    return Embedded(str(path), written, regions)


class _Embedding:
    """Regions compiled so far, and the nodes that stand for them by position."""

    def __init__(self, parts: Regions, machine: Target) -> None:
        self.parts, self.machine = parts, machine
        self.made: list[tuple[Cut, NodeProto]] = []
        self.objects: dict[str, list[bytes | bytearray]] = {}

    def add(self, alone: Cut, cut: Cut) -> EmbeddedRegion:
        """Compile a region with its neighbours, or alone where that does not work, unless it has no native form."""
        region = self._add(cut)
        return self._add(alone) if region.reason and cut != alone else region

    def _add(self, cut: Cut) -> EmbeddedRegion:
        reason = self.parts.reason_to_stay(cut)
        if reason:
            return EmbeddedRegion(cut.title, reason=reason)
        alone = self.parts.model_of(cut)
        try:
            name = _op_type(cut, alone)
            programs = _programs(prepare(load_module(alone, AS_IN_ONNXRUNTIME)), name)
        except (CompileError, UnsupportedError, LoadError) as error:
            return EmbeddedRegion(cut.title, reason=error.message)
        if name not in self.objects:
            self.objects[name] = self._compile(programs, cut.title)
        inputs = [port.name for port in programs[0].inputs]
        self.made.append((cut, node_of(cut, name, DOMAIN, inputs)))
        return EmbeddedRegion(cut.title, name, nodes=len(cut.positions))

    def _compile(self, programs: Sequence[Library], title: str) -> list[bytes | bytearray]:
        modules = operator_modules(programs, title, self.machine)
        return [
            fill_constants(linkable_code(str(module), self.machine)[0], program)
            for module, program in zip(modules, programs, strict=True)
        ]

    def keep_faster(
        self, regions: Sequence[EmbeddedRegion], inputs: Mapping[str, Any], everything: bool
    ) -> list[EmbeddedRegion]:
        """Measure the regions that are ops, and leave those as they were that are no faster."""
        if not self.made:
            return list(regions)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            library = Path(folder) / f"measured{_SUFFIXES.get(sys.platform, '.so')}"
            library.write_bytes(self.library(library.name))
            times = measure_regions(self.parts, self.made, (DOMAIN, DOMAIN_VERSION), library, inputs)
        results, made = list[EmbeddedRegion](), list[tuple[Cut, NodeProto]]()
        rest = iter(zip(self.made, times, strict=True))
        for region in regions:
            if region.op_type:
                entry, measured = next(rest)
                if everything or measured.after_ns < measured.before_ns:
                    made.append(entry)
                    region = replace(region, measured=measured)
                else:
                    region = EmbeddedRegion(region.title, reason="is no faster embedded", measured=measured)
            results.append(region)
        self.made = made
        names = {node.op_type for _, node in made}
        self.objects = {name: code for name, code in self.objects.items() if name in names}
        return results

    def library(self, name: str) -> bytes:
        """The ops and their registration as a shared library of that name."""
        return linked(list(self._codes().values()), name)

    def write_objects(self, folder: Path) -> None:
        """Write the ops and their registration as object files, in the place of those that were there."""
        make_folder(folder)
        for old in folder.glob("*.o"):
            old.unlink()
        save_whole({folder / f"{name}.o": code for name, code in self._codes().items()})

    def _codes(self) -> dict[str, bytes | bytearray]:
        """The object code of the ops and their registration, by names of files."""
        module = registration_module(list(self.objects), self.machine, "windows" in self.machine.triple)
        codes = {"registration": [linkable_code(str(module), self.machine)[0]], **self.objects}
        return {
            f"{name}{f'_{number}' if number else ''}": code
            for name, each in codes.items()
            for number, code in enumerate(each)
        }


def _programs(module: Module, name: str) -> list[Library]:
    """A program that knows lengths before it runs; where it is not made for all of them, others that are.

    Where lengths must be the same, one of them may be 1 and broadcast: that is another program. The last finds all
    lengths out while it runs.
    """
    first = _library_of(module, name, {}, takes_lengths=True)
    if not has_conditions(first.graph) and not any(port.count for port in first.inputs):
        return [first]
    others: list[Library] = []
    names = {str(dim): None for pair in first.graph.agreeing for dim in pair if str(dim) in first.graph.names}
    for single in list(names)[:_MOST_BROADCASTS]:
        with suppress(CompileError):
            others.append(_library_of(module, f"{name}_{len(others)}", {single: 1}, takes_lengths=True))
    return [first, *others, _library_of(module, f"{name}_any", {})]


def _library_of(module: Module, name: str, lengths: Mapping[str, int], takes_lengths: bool = False) -> Library:
    """A program of which the threads of a session share parts."""
    library = library_of(module, name, lengths, {}, takes_lengths=takes_lengths)
    return replace(library, graph=spread_graph(library.graph))


def _op_type(cut: Cut, alone: ModelProto) -> str:
    """A name by what the region is, so that equal ones share an op and libraries of other models have other names."""
    digest = hashlib.sha256(alone.SerializeToString(deterministic=True)).hexdigest()[:12]
    stem = re.sub(r"\W", "_", cut.node.name or cut.node.op_type, flags=re.ASCII)
    return f"{'' if stem[0].isalpha() else '_'}{stem}_{digest}"
