"""MDF's functions as Python callables, under the names that `modeci_mdf.functions.onnx` gives them.

`add(A, B)`, `concat(a, b, axis=0)`, `loop(M, cond, *states, body=...)`: every operator of ONNX in lower case, inputs by
position or by name, then attributes. `if`, `and`, `or` and `not`, which Python has for itself, are `if_`, `and_`, `or_`
and `not_`, and reached by `getattr` too. Arrays keep their element type: float64 stays float64.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from onnx import GraphProto, ModelProto

from whorl.errors import LoadError, RunError
from whorl.formats.mdf.files import read_mdf
from whorl.formats.mdf.modeci_objects import graph_of_objects, has_objects
from whorl.formats.mdf.onnx.calls import Binding, call, captured_names
from whorl.formats.mdf.onnx.operators import attribute_value, checked_inputs, find_schema, is_omitted, operator_names
from whorl.formats.mdf.reading import graph_of, model_of
from whorl.formats.onnx.bodies import load_body
from whorl.ir.dtypes import INT64
from whorl.ir.graph import Module, Region, Value
from whorl.ir.types import TensorType
from whorl.mdf.model import Datum, Graph
from whorl.runtime.functional import ScanLayout, condition_of, run_branch, run_loop, run_scan, trip_count, with_captured
from whorl.runtime.limits import Limits

MDF_SUFFIXES = (".json", ".yaml", ".yml", ".bson")


def loop(
    M: Datum = None,
    cond: Datum = None,
    *states: Datum,
    body: Datum,
    max_iterations: int | None = None,
    timeout: float | None = None,
    **named: Datum,
) -> Datum:
    """ONNX Loop: final states, then what the body collected, one array alone or a list.

    `M`, `cond`: None or "" where omitted. `body`: a GraphProto, ModelProto, the bytes or path of one, an MDF graph or
    model or the path of its file, a region or module, or a Python function of (iteration, condition, *states).
    States may also be named `v_initial`; other names are values that the body reads from around it.
    Errors: RunError, LoadError. Source: ONNX Loop-13.
    """
    limits = Limits(max_iterations, timeout)
    states = (*states, *_listed(named.pop("v_initial", ())))
    resolved = _resolved(body, named)
    if isinstance(resolved, Graph):
        return _loop_of_graph([_trip(M), _flag(cond), *map(_plain, states)], resolved, named, limits)
    results = run_loop(_trip(M), _flag(cond), _fitting(states, resolved, 2), resolved, limits)
    return _one_or_all(results)


def scan(
    *inputs: Datum,
    body: Datum,
    num_scan_inputs: int,
    scan_input_axes: Sequence[int] | None = None,
    scan_input_directions: Sequence[int] | None = None,
    scan_output_axes: Sequence[int] | None = None,
    scan_output_directions: Sequence[int] | None = None,
    max_iterations: int | None = None,
    timeout: float | None = None,
    **named: Datum,
) -> Datum:
    """ONNX Scan: final states, then the scan outputs, one array alone or a list.

    `body`: as for `loop`, of (*states, *slices). States and scanned arrays may also be named
    `initial_state_and_scan_inputs`; other names are values that the body reads from around it.
    Errors: RunError, LoadError. Source: ONNX Scan-11.
    """
    limits = Limits(max_iterations, timeout)
    inputs = (*inputs, *_listed(named.pop("initial_state_and_scan_inputs", ())))
    resolved = _resolved(body, named)
    layout = ScanLayout(scan_input_axes, scan_input_directions, scan_output_axes, scan_output_directions)
    if isinstance(resolved, Graph):
        attributes = {
            "num_scan_inputs": num_scan_inputs,
            "scan_input_axes": scan_input_axes,
            "scan_input_directions": scan_input_directions,
            "scan_output_axes": scan_output_axes,
            "scan_output_directions": scan_output_directions,
        }
        written = {key: value for key, value in attributes.items() if value is not None}
        return _called("Scan", list(map(_plain, inputs)), {**written, "body": resolved}, named, limits)
    return _one_or_all(run_scan(_fitting(inputs, resolved, 0), num_scan_inputs, layout, resolved, limits))


def if_(cond: Datum, *, then_branch: Datum, else_branch: Datum, timeout: float | None = None, **named: Datum) -> Datum:
    """ONNX If: the results of the branch that `cond` chooses, one array alone or a list.

    Branches: as bodies of `loop`, without inputs; names are values that they read from around them.
    Errors: RunError, LoadError. Source: ONNX If-13.
    """
    limits, condition = Limits(timeout=timeout), _flag(cond)
    then, other = _resolved(then_branch, named), _resolved(else_branch, named)
    if isinstance(then, Graph) or isinstance(other, Graph):
        if condition is None:
            raise RunError("the condition is omitted")
        chosen = then if bool(np.asarray(condition).reshape(-1)[0]) else other
        if isinstance(chosen, Graph):
            attributes = {"then_branch": chosen, "else_branch": chosen}
            return _called("If", [np.asarray(condition)], attributes, named, limits)
        then = other = chosen
    return _one_or_all(run_branch(condition, then, other, limits))


# ---- every other operator ----------------------------------------------------------------------------------------

_PYTHON_NAMES = {"if_": "if", "and_": "and", "or_": "or", "not_": "not"}
_OWN: dict[str, Callable[..., Datum]] = {"loop": loop, "scan": scan, "if": if_}


def __getattr__(name: str) -> Callable[..., Datum]:
    plain = _PYTHON_NAMES.get(name, name)
    if plain in _OWN:
        return _OWN[plain]
    schema = find_schema(plain) if plain.islower() else None
    if schema is None:
        raise AttributeError(f"there is no function {name!r}")

    def function(*arguments: Datum, **named: Datum) -> Datum:
        return _operator(plain, arguments, named)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"ONNX {schema.name}-{schema.since_version}: {schema.doc.strip().splitlines()[0]}"
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    python_names = {plain: name for name, plain in _PYTHON_NAMES.items()}
    return sorted({*globals(), *(python_names.get(name, name) for name in operator_names())})


def _operator(name: str, arguments: Sequence[Datum], named: dict[str, Datum]) -> Datum:
    """Call an operator: inputs by position or name, what is left by position are attributes in their order."""
    schema = find_schema(name)
    assert schema is not None
    rest, inputs = list(arguments), []
    named = dict(named)
    attributes = {key: named.pop(key) for key in list(named) if key in schema.attributes}
    for parameter in schema.inputs:
        is_variadic = parameter.option.name == "Variadic"
        if is_variadic:
            inputs += [*rest, *named.values()]
            rest, named = [], {}
        elif parameter.name in named:
            inputs.append(named.pop(parameter.name))
        else:
            inputs.append(rest.pop(0) if rest else None)
    if named:
        known = ", ".join([parameter.name for parameter in schema.inputs] + list(schema.attributes))
        raise LoadError(f"{name} has no argument {next(iter(named))!r}", fix=f"its arguments are {known}")
    free = sorted(schema.attributes.keys() - attributes.keys())
    if len(rest) > len(free):
        raise LoadError(f"{name} has {len(arguments)} arguments by position, which is too many")
    attributes |= dict(zip(free, rest, strict=False))
    if schema.name == "Constant":
        return next(iter(attributes.values()), None)
    values = {key: attribute_value(schema, key, value) for key, value in attributes.items() if value is not None}
    operands = checked_inputs(schema, [None if is_omitted(value) else value for value in inputs])
    return call(Binding(schema, _weak(schema, operands), values), "given")


def _weak(schema: Datum, inputs: list[Datum]) -> list[Datum]:
    """Python's numbers in the element type of the arrays that they go with, else as arrays of one element."""
    kinds = [schema.inputs[min(k, len(schema.inputs) - 1)].type_str for k in range(len(inputs))]
    dtypes = {
        kind: value.dtype
        for kind, value in zip(kinds, inputs, strict=True)
        if isinstance(value, np.ndarray | np.generic)
    }
    operands = []
    for kind, value in zip(kinds, inputs, strict=True):
        if type(value) in (int, float):
            dtype = dtypes.get(kind)
            fits = dtype is not None and (dtype.kind == "f" or (dtype.kind in "iu" and type(value) is int))
            value = np.atleast_1d(np.asarray(value, dtype if fits else None))
        operands.append(value)
    return operands


# ---- bodies and values -------------------------------------------------------------------------------------------


def _resolved(body: Datum, captured: Mapping[str, Datum]) -> Callable[..., Datum] | Module | Graph:
    """A body of any kind as a function, a module, or a graph of MDF."""
    if isinstance(body, dict):
        return _graph_of_data(body)
    if isinstance(body, str | os.PathLike) and Path(body).suffix.lower() in MDF_SUFFIXES:
        body = read_mdf(Path(body))
    body = getattr(body, "document", body)
    if hasattr(body, "graphs"):
        graphs = body.graphs
        body = next(iter(graphs.values() if isinstance(graphs, dict) else graphs), None)
    if isinstance(body, Region):
        body = Module(body, [value.name for value in body.results])
    if isinstance(body, Module):
        return with_captured(body, captured)
    if not isinstance(body, Graph) and has_objects(body) and hasattr(body, "edges"):
        return graph_of_objects(body)
    if isinstance(body, Graph) or (callable(body) and not isinstance(body, GraphProto | ModelProto)):
        return body
    if isinstance(body, GraphProto | ModelProto | bytes | bytearray | memoryview | str | os.PathLike):
        return with_captured(load_body(body, captured), captured)
    raise LoadError(f"the body is {type(body).__name__}", fix="give a graph, bytes, a path or a Python function")


def _graph_of_data(data: dict[str, Datum]) -> Graph:
    """A graph from plain data: of a model, of a graph, or of a graph under its id."""
    if "nodes" in data:
        return graph_of(str(data.get("id", "body")), data)
    ((id, inner),) = data.items() if len(data) == 1 else ((None, None),)
    if isinstance(inner, Graph):
        return inner
    if isinstance(inner, dict) and "nodes" in inner:
        return graph_of(str(id), inner)
    return next(iter(model_of(data).graphs.values()))


def _loop_of_graph(inputs: list[Datum], graph: Graph, named: Mapping[str, Datum], limits: Limits) -> Datum:
    return _called("Loop", inputs, {"body": graph}, named, limits)


def _called(
    name: str, inputs: list[Datum], attributes: dict[str, Datum], named: Mapping[str, Datum], limits: Limits
) -> Datum:
    schema = find_schema(name)
    assert schema is not None
    binding = Binding(schema, inputs, {key: attribute_value(schema, key, value) for key, value in attributes.items()})
    binding.captures = captured_names(binding, named)
    results = call(binding, "given", limits=limits)
    return list(results) if isinstance(results, tuple) else results


def _fitting(values: Sequence[Datum], body: Callable[..., Datum] | Module, first: int) -> list[Datum]:
    """Values in the element types that a graph declares, where only the width differs."""
    if not isinstance(body, Module):
        return list(values)
    own = [argument for argument in body.main.arguments if argument.name not in body.defaults]
    pairs = zip(values, own[first:], strict=False)
    return [*(_fitted(value, argument) for value, argument in pairs), *values[len(own[first:]) :]]


def _fitted(value: Datum, argument: Value) -> Datum:
    if not isinstance(value, np.ndarray | np.generic) or not isinstance(argument.type, TensorType):
        return value
    have, expected = value.dtype, argument.type.dtype
    same_kind = have.kind == expected.kind or (have.kind in "iu" and expected.kind in "iu")
    return np.asarray(value).astype(expected) if have != expected and same_kind and have.kind in "fiu" else value


def _trip(value: Datum) -> Datum:
    """The trip count; floats that are whole are taken too. Errors: RunError."""
    if isinstance(value, float | np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.kind == "f" and np.all(np.abs(array) < 2**53) and np.all(array == np.floor(array)):
            value = array.astype(INT64)
    return _one(trip_count(value), "the trip count")


def _flag(value: Datum) -> Datum:
    return _one(condition_of(value), "the condition")


def _one(array: np.ndarray | None, what: str) -> np.ndarray | None:
    if array is not None and array.size != 1:
        raise RunError(f"{what} has {array.size} elements, expected one")
    return array


def _plain(value: Datum) -> Datum:
    return value if isinstance(value, list) else np.asarray(value)


def _listed(value: Datum) -> Sequence[Datum]:
    return value if isinstance(value, list | tuple) else (value,)


def _one_or_all(results: list[Datum]) -> Datum:
    """One result alone, several as a list."""
    return results[0] if len(results) == 1 else results
