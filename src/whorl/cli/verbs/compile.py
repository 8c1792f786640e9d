"""Compile a model ahead of time: to a shared library with a C interface, or to an object file.

The library needs neither Python nor whorl. Lengths that the model names are fixed with --dim, inputs with --input.
"""

from __future__ import annotations

import argparse

from whorl.api.ahead import compile
from whorl.cli.arguments import add_model, dims_of, module_of, seconds
from whorl.cli.documents import print_document
from whorl.cli.inputs import read_inputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model(parser)
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="the shared library to write, or an object file: FILE.o"
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
