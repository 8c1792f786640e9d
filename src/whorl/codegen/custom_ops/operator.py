"""A custom op of onnxruntime: its table, the functions that describe it, and its kernel, in one module."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.codegen.custom_ops.interface import API_VERSION, DOMAIN_VERSION, MEMBERS, Code
from whorl.codegen.custom_ops.kernel import define_kernel
from whorl.codegen.custom_ops.program import define_program
from whorl.codegen.custom_ops.sharing import KERNEL_CELLS
from whorl.codegen.custom_ops.statuses import Statuses
from whorl.codegen.emit import emit_numbered
from whorl.codegen.library.ports import COMMON_MESSAGES, ELEMENT_TYPES, Library, Port
from whorl.codegen.library.run import define_run
from whorl.codegen.library.text import add_constants
from whorl.codegen.statuses import NO_MEMORY
from whorl.llvm.function import Function
from whorl.llvm.module import Machine, Module
from whorl.llvm.text import add_string
from whorl.llvm.value import Value


def operator_modules(programs: Sequence[Library], title: str, machine: Machine) -> list[Module]:
    """The op of the first program's name, whose table has that name; `title` names the op in messages.

    The programs are of one region; the first runs that takes the lengths of its inputs. Each has a module.
    """
    modules = [_program_module(program, title, machine, "hidden" if n else "") for n, program in enumerate(programs)]
    _add_operator(modules[0], programs, title)
    return modules


def _program_module(library: Library, title: str, machine: Machine, linkage: str) -> Module:
    module, failures = emit_numbered(library.graph.program, machine)
    add_constants(module, library.graph.arrays)
    depth = max((len(f.iterations) for f in failures), default=0)
    define_run(module, library, depth, "internal", has_context=True)
    define_program(module, library, title, failures, linkage or "internal")
    return module


def _add_operator(module: Module, programs: Sequence[Library], title: str) -> None:
    library = programs[0]
    kernel = define_kernel(module, programs, title)
    functions = _describe(module, library) | {"KernelComputeV2": kernel}
    functions["CreateKernelV2"] = _define_create(module, library.name)
    functions["KernelDestroy"] = _define_destroy(module, library.name)
    entries = ", ".join(f"ptr {functions.get(member, 'null')}" for member in MEMBERS)
    type = f"{{ i32, [{len(MEMBERS)} x ptr] }}"
    module.add_text(
        f"@{library.name}",
        f"@{library.name} = hidden constant {type} {{ i32 {API_VERSION}, [{len(MEMBERS)} x ptr] [{entries}] }}",
    )


def _describe(module: Module, library: Library) -> dict[str, str]:
    """The functions by which onnxruntime asks for the op's name, inputs and outputs, by the member of the table."""
    name = library.name
    text = add_string(module, f"@{name}_name", name)
    one = f"i32 {DOMAIN_VERSION}"
    numbers = {
        "GetExecutionProviderType": ("ptr null", False),
        "GetInputTypeCount": (f"i64 {len(library.inputs)}", False),
        "GetOutputTypeCount": (f"i64 {len(library.outputs)}", False),
        "GetInputCharacteristic": ("i32 0", True),
        "GetOutputCharacteristic": ("i32 0", True),
        "GetInputMemoryType": ("i32 0", True),
        "GetStartVersion": (one, False),
        "GetEndVersion": (one, False),
    }
    functions: dict[str, str] = {}
    for member, (number, is_indexed) in {"GetName": (f"ptr {text}", False), **numbers}.items():
        parameters = {"op": "ptr", **({"n": "i64"} if is_indexed else {})}
        f = Function(module, f"@{name}_{member}", number.split()[0], parameters)
        f.give(Value(f, *number.split(maxsplit=1)))
        functions[member] = f.name
    for member, ports in (("GetInputType", library.inputs), ("GetOutputType", library.outputs)):
        functions[member] = _define_types(module, f"@{name}_{member}", ports)
    return functions


def _define_types(module: Module, name: str, ports: Sequence[Port]) -> str:
    """`ONNXTensorElementDataType type(op, n)`."""
    numbers = [ELEMENT_TYPES[port.dtype] for port in ports] or [0]
    table = f"[{len(numbers)} x i32] [{', '.join(f'i32 {n}' for n in numbers)}]"
    module.add_text(f"{name}s", f"{name}s = private unnamed_addr constant {table}")
    f = Function(module, name, "i32", {"op": "ptr", "n": "i64"})
    f.give(f.load("i32", f.offset_outside(Value(f, "ptr", f.refer(f"{name}s")), "i32", f["n"])))
    return name


def _define_create(module: Module, name: str) -> str:
    """`OrtStatus *create(op, api, info, out kernel)`: cells, the first of which is onnxruntime's table of functions."""
    f = Function(module, f"@{name}_create", "ptr", {"op": "ptr", "api": "ptr", "info": "ptr", "out": "ptr"})
    size = f.index(8 * KERNEL_CELLS)
    kernel = f.call(f.module.declare("@calloc", "noalias ptr", ["i64", "i64"]), "ptr", f.index(1), size)
    with f.leave_when(f.compare("eq", kernel, f.null())):
        Statuses(f, f["api"], name).refuse(COMMON_MESSAGES[NO_MEMORY], code=Code.FAIL)
    f.store(f["api"], kernel)
    f.store(kernel, f["out"])
    f.give(f.null())
    return f.name


def _define_destroy(module: Module, name: str) -> str:
    """`void destroy(kernel)`."""
    f = Function(module, f"@{name}_destroy", "void", {"kernel": "ptr"})
    f.run(module.declare("@free", "void", ["ptr"]), f["kernel"])
    f.give()
    return f.name
