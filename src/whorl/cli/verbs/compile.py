"""Compile a model ahead of time: to a shared library with a C interface, or to an object file.

The library needs neither Python nor whorl. Lengths that the model names are fixed with --dim, inputs with --input.
"""

from __future__ import annotations

import argparse
from typing import Any

from whorl.api.ahead import compile
from whorl.api.region_libraries import CompiledRegion, compile_regions
from whorl.cli.arguments import add_model, dims_of, module_of, refuse_options, seconds
from whorl.cli.documents import print_document
from whorl.cli.inputs import read_inputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="the shared library to write, or an object file: FILE.o"
    )
    parser.add_argument(
        "--regions",
        action="store_true",
        help="write a library and a header for each outermost loop and branch of an ONNX model, into the folder FILE",
    )
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help="seconds allowed to compiling")
    parser.add_argument("--header", metavar="FILE", help="also write the C header")
    parser.add_argument("--name", metavar="NAME", help="what the functions' names begin with (default: the file's)")
    parser.add_argument(
        "--dim", action="append", default=[], metavar="NAME=SIZE", help="fix the length of a named dim; may be repeated"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="fix an input to a value, as in `run`: it is then no input of the library; may be repeated",
    )
    parser.add_argument(
        "--target",
        metavar="TRIPLE",
        help="another machine, such as aarch64-linux-gnu, arm64-apple-macos or x86_64-windows-msvc: object files only",
    )
    parser.add_argument(
        "--cpu",
        metavar="CPU",
        help="a CPU of LLVM's, such as x86-64-v3 (default: this machine's; for x86-64 targets x86-64-v3)",
    )


def execute(arguments: argparse.Namespace) -> int:
    if arguments.regions:
        return _write_regions(arguments)
    module = module_of(arguments)
    made = compile(
        module,
        arguments.output,
        arguments.header,
        dims_of(arguments.dim),
        read_inputs(arguments.input, module),
        arguments.name,
        arguments.target,
        arguments.cpu,
        arguments.timeout,
    )
    inputs, outputs = ({port.name: str(port.type) for port in ports} for ports in (made.inputs, made.outputs))
    if arguments.json:
        ports = {"output": arguments.output, "name": made.name, "inputs": inputs, "outputs": outputs}
        sizes = {"code_bytes": made.code_bytes, "workspace_bytes": made.workspace_bytes}
        print_document(ports | sizes | {"needs": made.needs})
        return 0
    lines = [f"wrote {arguments.output}: {made.code_bytes} bytes of code, {made.workspace_bytes} bytes of workspace"]
    lines += [f"input   {name}: {type}" for name, type in inputs.items()]
    lines += [f"output  {name}: {type}" for name, type in outputs.items()]
    lines.append(f"call    {made.name}_run")
    lines.append(f"needs   {', '.join(made.needs) or 'nothing'} of the C library")
    print("\n".join(lines))
    return 0


_OF_WHOLE_MODELS = (
    *("--header", "--name", "--dim", "--input", "--timeout"),
    *("--condition-when-omitted", "--max-depth", "--compat", "--precision"),
)


def _write_regions(arguments: argparse.Namespace) -> int:
    refuse_options(arguments, _OF_WHOLE_MODELS, "applies to a model as a whole, not to --regions of it")
    regions = compile_regions(arguments.model, arguments.output, target=arguments.target, cpu=arguments.cpu)
    if arguments.json:
        print_document({"regions": [_document(region) for region in regions]})
        return 0
    print("\n".join(map(_line, regions)) or "the model has no loops or branches")
    return 0


def _document(region: CompiledRegion) -> dict[str, Any]:
    made = region.functions
    ports = [] if made is None else [("inputs", made.inputs), ("outputs", made.outputs)]
    types = {kind: {port.name: str(port.type) for port in each} for kind, each in ports}
    texts = {"title": region.title, "library": region.library, "header": region.header, "reason": region.reason}
    return texts | {"name": "" if made is None else made.name} | types


def _line(region: CompiledRegion) -> str:
    if region.functions is None:
        return f"none   {region.title}: {region.reason}"
    return f"wrote  {region.title} as {region.library}: call {region.functions.name}_run, see {region.header}"
