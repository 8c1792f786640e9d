"""`onnx::*` functions as nodes of the hub, and computed at once.

All names of a node that the operator knows are its inputs and attributes; a variadic input takes the other arguments in
their order. In a graph all floats are float64; "float32" computes as modeci_mdf does, and callables leave element types
as they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from whorl.errors import LimitError, LoadError, TypeRuleError
from whorl.formats.mdf.onnx.operators import Binding, bind, find_schema
from whorl.formats.onnx import versions
from whorl.formats.onnx.importing import OnnxNode, find_importer
from whorl.formats.onnx.schemas import OpSchema
from whorl.formats.onnx.scope import Scope
from whorl.ir.build import Builder
from whorl.ir.dtypes import BOOL, FLOAT32, FLOAT64, INT32, INT64, STRING
from whorl.ir.graph import Module, Node, Region, Value
from whorl.ir.infer import Inference
from whorl.ir.types import SequenceType, TensorType, Type, type_of, type_string
from whorl.mdf.bodies import body_graph, outer_names
from whorl.mdf.expressions.syntax import Items
from whorl.mdf.functions.operators import Precision
from whorl.mdf.model import Datum
from whorl.ops.elementwise.casting import Cast
from whorl.ops.movement.shapes import Reshape
from whorl.runtime.limits import Limits
from whorl.runtime.session import Session

assert versions

GRAPHS = {"Loop": ("body",), "Scan": ("body",), "If": ("then_branch", "else_branch")}
AT_ONCE = Limits(max_iterations=1000, timeout=1.0, max_memory=1 << 28)
"""What a call may take whose inputs are known when a model is compiled."""
ControlEmitter = Callable[[Binding, Scope, Precision], list[Value]]
CONTROL: dict[str, ControlEmitter] = {}
"""How Loop, Scan and If become nodes; `control_calls` fills it."""
_FLOAT_CODE, _DOUBLE_CODE = 1, 11
_FLOAT_CODES = {_FLOAT_CODE, 10, _DOUBLE_CODE, 16}


def emit_call(binding: Binding, scope: Scope, precision: Precision, outputs: int | None = None) -> list[Value]:
    """Add the nodes of an operator; inputs may be values, numbers, arrays. Errors: LoadError."""
    schema = binding.schema
    if schema.name in CONTROL:
        try:
            return CONTROL[schema.name](binding, scope, precision)
        except TypeRuleError as error:
            raise LoadError(f"onnx::{schema.name}: {error.message}", error.where, error.fix) from None
    if schema.name == "Reshape" and precision in ("float64", "float32"):
        binding = replace(binding, inputs=[binding.inputs[0], _flatten(scope.build, binding.inputs[1])])
    inputs = operands(binding, scope.build, precision)
    attributes = dict(binding.attributes)
    dtype_name = {"Cast": "to", "SequenceEmpty": "dtype"}.get(schema.name)
    if precision == "float64" and dtype_name is not None and attributes.get(dtype_name, _FLOAT_CODE) in _FLOAT_CODES:
        attributes[dtype_name] = _DOUBLE_CODE
    count = outputs or output_count(binding)
    names = [f"{schema.name}.{index}" if count > 1 else schema.name for index in range(count)]
    node = OnnxNode(schema.name, "", schema.since_version, "", list(inputs), names, attributes)
    read = find_importer(node)
    if read is None:
        raise LoadError(f"onnx::{schema.name} has no meaning here")
    try:
        results = read(node, scope.build)
    except TypeRuleError as error:
        raise LoadError(f"onnx::{schema.name}: {error.message}", error.where, error.fix) from None
    values = results if isinstance(results, list) else [results]
    if precision == "float32" and count > 1:
        # modeci_mdf casts a single result back, and forgets those in a tuple.
        return values[:count]
    return [recast(scope.build, value, precision) for value in values[:count]]


def output_count(binding: Binding) -> int:
    """How many results a call has: all that the operator defines, as many as its parts for Split."""
    schema, attributes = binding.schema, binding.attributes
    if schema.name == "BatchNormalization" and not attributes.get("training_mode"):
        return 1
    if schema.name == "Split":
        parts = binding.inputs[1] if len(binding.inputs) > 1 else attributes.get("split")
        if parts is None:
            return int(attributes.get("num_outputs", 1))
        if isinstance(parts, Value):
            shape = parts.type.shape if isinstance(parts.type, TensorType) else ()
            return shape[0] if isinstance(shape, tuple) and shape and isinstance(shape[0], int) else 1
        return int(np.size(parts))
    return max(len(schema.outputs), 1)


def _flatten(build: Builder, shape: Datum) -> Datum:
    """A shape as modeci_mdf takes it: of any rank, since its numbers have an axis."""
    if not isinstance(shape, Value):
        return np.ravel(shape)
    is_flat = not isinstance(shape.type, TensorType) or shape.type.rank in (1, None)
    return shape if is_flat else build.add(Reshape(), shape, build.int64(-1))


def join_results(schema: OpSchema, results: list[Datum]) -> Datum:
    """The result of an operator, or a tuple where the operator has several, though it may give only the first."""
    return results[0] if len(results) == 1 and len(schema.outputs) < 2 else tuple(results)


def recast(build: Builder, value: Value, precision: Precision) -> Value:
    """A result as float64 where the precision says so."""
    if precision in ("float64", "float32") and isinstance(value.type, TensorType) and value.type.dtype == FLOAT32:
        return build.add(Cast(to=FLOAT64), value)
    return value


def operands(binding: Binding, build: Builder, precision: Precision) -> list[Value | None]:
    """Inputs as values of element types that the operator takes, equal where it wants equal ones."""
    schema = binding.schema
    values = [None if part is None else operand(part, build, precision) for part in binding.inputs]
    formal = [schema.inputs[min(index, len(schema.inputs) - 1)] for index in range(len(values))]
    for name in {parameter.type_str for parameter in formal}:
        indices = [k for k, value in enumerate(values) if value is not None and formal[k].type_str == name]
        dtypes = [_dtype(values[k]) for k in indices]
        if not indices or any(dtype is None or dtype == STRING for dtype in dtypes):
            continue
        common = _allowed(_joint([dtype for dtype in dtypes if dtype is not None]), set(formal[indices[0]].types))
        for k in indices:
            values[k] = _cast(build, values[k], common)
    return values


def operand(part: Datum, build: Builder, precision: Precision) -> Value:
    """A value, or a constant for a number or an array, in the precision of the call."""
    if isinstance(part, Value):
        value = part
    else:
        array = np.asarray(part)
        value = build.constant(array.astype(STRING) if array.dtype.kind in "UT" else array)
    dtype = _dtype(value)
    if precision == "float32":
        if dtype == FLOAT64:
            return _find_single(value) or build.add(Cast(to=FLOAT32), value)
        if dtype == INT32:
            return build.add(Cast(to=INT64), value)
    if precision == "float64" and dtype == FLOAT32:
        return build.add(Cast(to=FLOAT64), value)
    return value


def _find_single(value: Value) -> Value | None:
    """The float32 value that a float64 one was made of."""
    node = value.owner
    if not isinstance(node, Node) or not isinstance(node.op, Cast) or _dtype(node.inputs[0]) != FLOAT32:
        return None
    return node.inputs[0]


def _dtype(value: Value | None) -> np.dtype | None:
    return value.type.dtype if value is not None and isinstance(value.type, TensorType) else None


def _joint(dtypes: list[np.dtype]) -> np.dtype:
    """The element type that holds all of these."""
    if len(set(dtypes)) == 1:
        return dtypes[0]
    try:
        return np.result_type(*dtypes)
    except TypeError:
        return FLOAT64


_SUBSTITUTES = {
    "f": (FLOAT64, FLOAT32, INT64, INT32, BOOL),
    "i": (INT64, INT32, FLOAT64, FLOAT32, BOOL),
    "b": (INT64, INT32, FLOAT64, FLOAT32),
}


def _allowed(dtype: np.dtype, types: set[str]) -> np.dtype:
    """The element type itself, or the nearest one that the operator takes."""
    if type_string(TensorType(dtype)) in types:
        return dtype
    for other in _SUBSTITUTES.get(dtype.kind, ()):
        if type_string(TensorType(other)) in types:
            return other
    return dtype


def _cast(build: Builder, value: Value | None, dtype: np.dtype) -> Value | None:
    return value if value is None or _dtype(value) == dtype else build.add(Cast(to=dtype), value)


# ---- calls computed at once --------------------------------------------------------------------------------------


class _Program(Struct, frozen=True):
    """What tells calls apart that need programs of their own; graphs count by identity, and live as long as this.

    The binding of the first call serves all that are equal to it otherwise.
    """

    precision: Precision
    count: int | None
    types: tuple[Type | None, ...]
    captured: tuple[str, ...]
    attributes: tuple[Datum, ...]
    binding: Binding

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Program) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.precision, self.count, self.types, self.captured, self.attributes


def call(binding: Binding, precision: Precision, outputs: int | None = None, limits: Limits | None = None) -> Datum:
    """The result of an operator on arrays, several as a tuple. Errors: LoadError, RunError."""
    graphs = GRAPHS.get(binding.schema.name, ())
    arguments = [*binding.inputs, *binding.captures.values()]
    formal = binding.schema.inputs
    takes = [formal[min(k, len(formal) - 1)].types for k in range(len(arguments))] if formal else []
    inputs = [
        None if value is None else as_operand(value, _takes_sequence(value, types))
        for value, types in zip(arguments, takes, strict=True)
    ]
    types = [_type(value, inputs) for value in inputs]
    count = outputs or (None if graphs else output_count(binding))
    keyed = {name: id(value) if name in graphs else value for name, value in binding.attributes.items()}
    attributes = (binding.schema.name, binding.schema.since_version, *_frozen(keyed))
    program = _Program(precision, count, tuple(types), tuple(binding.captures), attributes, binding)
    feeds = {f"input_{k}": value for k, value in enumerate(inputs) if value is not None}
    values = _session(program).execute(None, feeds, limits)
    results = [Items(value) if isinstance(value, list) else value for value in values]
    return results[0] if len(results) == 1 else tuple(results)


def call_named(
    name: str, names: Mapping[str, Datum], args: Mapping[str, Datum], precision: Precision, limits: Limits | None = None
) -> Datum:
    """The result of `onnx::Add` and the like over the names of a node. Errors: LoadError, RunError.

    Numbers have no axis where the operator takes that, and in "float32", as in modeci_mdf, one axis.
    """
    binding = bound_named(name, names, args)
    if binding.schema.name == "Constant":
        return next(iter(names[key] for key in binding.schema.attributes if key in names), None)
    if precision == "float32":
        return _call(with_axes(binding), precision, limits)
    try:
        return _call(binding, precision, limits)
    except LoadError:
        if all(type(value) not in (int, float) for value in binding.inputs):
            raise
    return _call(with_axes(binding), precision, limits)


def _call(binding: Binding, precision: Precision, limits: Limits | None) -> Datum:
    result = call(binding, precision, limits=limits)
    return result if isinstance(result, tuple) else join_results(binding.schema, [result])


def apply_named(
    name: str, names: Mapping[str, Datum], args: Mapping[str, Datum], build: Builder, precision: Precision = "float64"
) -> list[Datum]:
    """The results of `onnx::Add` and the like over the names of a node: nodes where one of them is a value, or where
    it takes too much to compute them at once.

    Errors: LoadError, RunError.
    """
    binding = bound_named(name, names, args)
    is_fixed = not any(isinstance(part, Value) for part in (*binding.inputs, *binding.captures.values()))
    if is_fixed and not has_sequence_result(binding.schema):
        try:
            results = call_named(name, names, args, precision, AT_ONCE)
        except LimitError:
            pass
        else:
            return list(results) if isinstance(results, tuple) else [results]
    scope = Scope(build.region, build.inference)
    scope.build = build
    for id, part in binding.captures.items():
        scope.values[id] = operand(part, build, precision)
    if precision == "float32":
        return emit_call(with_axes(binding), scope, precision)
    try:
        return emit_call(binding, scope, precision)
    except LoadError:
        if all(type(value) not in (int, float) for value in binding.inputs):
            raise
    return emit_call(with_axes(binding), scope, precision)


def has_sequence_result(schema: OpSchema) -> bool:
    """Whether the result is always a sequence; as a value it has an element type, which an empty list has not."""
    return bool(schema.outputs) and all(text.startswith("seq(") for text in schema.outputs[0].types)


def bound_named(name: str, names: Mapping[str, Datum], args: Mapping[str, Datum]) -> Binding:
    """What an operator gets of the names of a node. Errors: LoadError."""
    schema = find_schema(name)
    if schema is None:
        raise LoadError(f"there is no function {name!r}", fix="onnx::* functions have the names of ONNX operators")
    binding = bind(schema, names, {**_written_arguments(name, names), **args})
    binding.captures = captured_names(binding, names)
    return binding


def _written_arguments(name: str, names: Mapping[str, Datum]) -> dict[str, str]:
    """The names in the brackets of `onnx_ops.loop(M, cond, v_initial, body)`, an older way to write a function."""
    inside = name.partition("(")[2].rpartition(")")[0].split(",")
    return {text.strip(): text.strip() for text in inside if text.strip() in names}


def with_axes(binding: Binding) -> Binding:
    """The same with one axis for each number, as modeci_mdf has it."""
    inputs = [np.atleast_1d(value) if type(value) in (int, float) else value for value in binding.inputs]
    return replace(binding, inputs=inputs) if binding.schema.name not in GRAPHS else binding


def captured_names(binding: Binding, names: Mapping[str, Datum]) -> dict[str, Datum]:
    """What graphs among the attributes read of the names of their node."""
    captured: dict[str, Datum] = {}
    for attribute in GRAPHS.get(binding.schema.name, ()):
        if attribute in binding.attributes:
            graph = body_graph(binding.attributes[attribute], attribute)
            captured |= {name: names[name] for name in outer_names(graph) if name in names}
    return captured


def _takes_sequence(value: Datum, types: Iterable[str]) -> bool:
    """Whether a list is a sequence: the operator takes no tensor, or the list is empty and it takes sequences."""
    kinds = {text.partition("(")[0] for text in types}
    return (
        "tensor" not in kinds or isinstance(value, Items) or (isinstance(value, list) and not value and "seq" in kinds)
    )


def _type(value: Datum, others: list[Datum]) -> Type | None:
    """The type of an operand; an empty list may hold what the arrays beside it are."""
    if isinstance(value, list) and not value:
        dtypes = [other.dtype for other in others if isinstance(other, np.ndarray) and other.dtype != BOOL]
        return SequenceType(TensorType(max(dtypes, key=lambda dtype: dtype.kind == "f", default=FLOAT64)))
    return None if value is None else type_of(value)


def as_operand(value: Datum, is_sequence: bool = False) -> Datum:
    """An array, or a list of arrays for a sequence."""
    if is_sequence and isinstance(value, list | tuple):
        return [as_operand(entry) for entry in value]
    if isinstance(value, list | tuple) and any(isinstance(entry, np.ndarray | list | tuple) for entry in value):
        return [as_operand(entry) for entry in value]
    array = np.asarray(value)
    return array.astype(STRING) if array.dtype.kind in "UT" else array


@functools.lru_cache(maxsize=512)
def _session(program: _Program) -> Session:
    binding, region = program.binding, Region("main")
    scope = Scope(region, Inference(set()))
    types = enumerate(program.types)
    arguments = [None if type is None else region.add_argument(f"input_{k}", type) for k, type in types]
    own, captured = arguments[: len(binding.inputs)], arguments[len(binding.inputs) :]
    for name, value in zip(binding.captures, captured, strict=True):
        if value is not None:
            scope.values[name] = operand(value, scope.build, program.precision)
    inner = Binding(binding.schema, list(own), binding.attributes)
    try:
        region.results = emit_call(inner, scope, program.precision, program.count)
    except RecursionError:
        raise LoadError("its graphs are nested too deeply", f"onnx::{binding.schema.name}") from None
    module = Module(region, [f"output_{k}" for k in range(len(region.results))])
    return Session(module, once=True)


def _frozen(attributes: Mapping[str, Datum]) -> tuple[Datum, ...]:
    return tuple(
        (name, (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value)
        for name, value in sorted(attributes.items())
    )
