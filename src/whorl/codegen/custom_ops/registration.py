"""`RegisterCustomOps`, by which onnxruntime learns of the ops of a library, and what their kernels share."""

from __future__ import annotations

from collections.abc import Sequence

from whorl.codegen.custom_ops.interface import API_VERSION, DOMAIN, Code, Slot, call, function_of
from whorl.codegen.custom_ops.sharing import define_sharing
from whorl.llvm.function import Function
from whorl.llvm.module import Machine, Module
from whorl.llvm.text import add_string
from whorl.llvm.value import Value

READ_INPUT = "@whorl_read_input"
"""`OrtStatus *(api, context, number, rank, dims, out data, out real rank)`: dims are those of an input of this rank."""
ALLOCATE = "@whorl_allocate_output"
"""`OrtStatus *(api, context, number, dims, rank, out data)`: memory of onnxruntime's for an output."""
READ_TYPES, ALLOCATE_TYPES = (
    ("ptr", "ptr", "i64", "i64", "ptr", "ptr", "ptr"),
    ("ptr", "ptr", "i64", "ptr", "i64", "ptr"),
)

_TOO_OLD = f"the library needs onnxruntime of API version {API_VERSION} or newer"


def registration_module(operators: Sequence[str], machine: Machine, is_dll: bool = False) -> Module:
    """The module that registers operators, which are tables of these names in other modules."""
    module = Module(machine)
    _define_read(module)
    _define_allocate(module)
    define_sharing(module, is_dll)
    for name in operators:
        module.add_text(f"@{name}", f"@{name} = external hidden constant ptr")
    module.add_text("@whorl_domain", "@whorl_domain = internal global ptr null")
    _define_domain(module, operators)
    f = Function(module, "@RegisterCustomOps", "ptr", {"options": "ptr", "base": "ptr"}, "dllexport" if is_dll else "")
    get_api = f.load("ptr", f["base"])
    api = f.call_pointer(get_api, "ptr", f.number(API_VERSION, "i32"))
    with f.leave_when(_is_null(f, api)):
        oldest = f.call_pointer(get_api, "ptr", f.number(1, "i32"))
        text = Value(f, "ptr", f.refer(add_string(module, "@whorl_too_old", _TOO_OLD)))
        f.give(call(f, oldest, Slot.CREATE_STATUS, f.number(Code.FAIL, "i32"), text))
    out = f.slot("ptr", f.null())
    leave_on_status(f, f.call("@whorl_get_domain", "ptr", api, out))
    f.give(call(f, api, Slot.ADD_CUSTOM_OP_DOMAIN, f["options"], f.load("ptr", out)))
    return module


def leave_on_status(f: Function, status: Value) -> None:
    """Return a status unless it is null."""
    with f.leave_when(_is_null(f, status) ^ True):
        f.give(status)


def _is_null(f: Function, pointer: Value) -> Value:
    return f.compare("eq", pointer, f.null())


def _define_domain(module: Module, operators: Sequence[str]) -> None:
    """The domain with its ops, made once for all sessions of the process; onnxruntime does not own it."""
    f = Function(module, "@whorl_get_domain", "ptr", {"api": "ptr", "out": "ptr"})
    api, cell = f["api"], Value(f, "ptr", f.refer("@whorl_domain"))
    known = f.value("ptr", f"load atomic ptr, {cell} acquire, align 8")
    with f.leave_when(_is_null(f, known) ^ True):
        f.store(known, f["out"])
        f.give(f.null())
    name = Value(f, "ptr", f.refer(add_string(module, "@whorl_domain_name", DOMAIN)))
    leave_on_status(f, call(f, api, Slot.CREATE_CUSTOM_OP_DOMAIN, name, f["out"]))
    domain = f.load("ptr", f["out"])
    for operator in operators:
        table = Value(f, "ptr", f.refer(f"@{operator}"))
        leave_on_status(f, call(f, api, Slot.CUSTOM_OP_DOMAIN_ADD, domain, table))
    pair = f.value("{ ptr, i1 }", f"cmpxchg {cell}, ptr null, {domain} acq_rel acquire, align 8")
    is_first = f.value("i1", f"extractvalue {pair}, 1")
    with f.when(is_first ^ True):  # another thread has made one meanwhile
        f.run_pointer(function_of(f, api, Slot.RELEASE_CUSTOM_OP_DOMAIN), domain)
        f.store(f.value("ptr", f"extractvalue {pair}, 0"), f["out"])
    f.give(f.null())


def _define_read(module: Module) -> None:
    names = ("api", "context", "number", "rank", "dims", "data", "real_rank")
    f = Function(module, READ_INPUT, "ptr", dict(zip(names, READ_TYPES, strict=True)), "hidden")
    api, value, info = f["api"], f.slot("ptr", f.null()), f.slot("ptr", f.null())
    leave_on_status(f, call(f, api, Slot.GET_INPUT, f["context"], f["number"], value))
    tensor = f.load("ptr", value)
    leave_on_status(f, call(f, api, Slot.GET_TENSOR_TYPE_AND_SHAPE, tensor, info))
    shape = f.load("ptr", info)
    status = f.variable(call(f, api, Slot.GET_DIMENSIONS_COUNT, shape, f["real_rank"]))
    agrees = f.load("i64", f["real_rank"]).equals(f["rank"])
    with f.when(agrees & (f["rank"].equals(0) ^ True)):
        f.store(call(f, api, Slot.GET_DIMENSIONS, shape, f["dims"], f["rank"]), status)
    f.run_pointer(function_of(f, api, Slot.RELEASE_TENSOR_TYPE_AND_SHAPE), shape)
    leave_on_status(f, f.load("ptr", status))
    f.give(call(f, api, Slot.GET_TENSOR_MUTABLE_DATA, tensor, f["data"]))


def _define_allocate(module: Module) -> None:
    names = ("api", "context", "number", "dims", "rank", "data")
    f = Function(module, ALLOCATE, "ptr", dict(zip(names, ALLOCATE_TYPES, strict=True)), "hidden")
    api, value = f["api"], f.slot("ptr", f.null())
    leave_on_status(f, call(f, api, Slot.GET_OUTPUT, f["context"], f["number"], f["dims"], f["rank"], value))
    f.give(call(f, api, Slot.GET_TENSOR_MUTABLE_DATA, f.load("ptr", value), f["data"]))
