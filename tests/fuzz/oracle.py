"""The oracle: runs the fuzzer's programs with plain Python loops over NumPy, sharing nothing with whorl."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.syntax import Apply, Block, IfStatement, LoopStatement, ScanStatement, Type, is_string

LARGEST = 5_000
"""Elements, characters and items beyond which a program is given up."""


class Failure(Exception):
    """The program breaks a rule of ONNX: every engine has to refuse it."""


class NoAnswer(Exception):
    """The program grows beyond reason, or ONNX does not say what it gives."""


def run(block: Block, inputs: dict[str, Any]) -> list[Any]:
    """The results of a program. Bodies see everything around them by name."""
    with np.errstate(all="ignore"):
        return run_block(block, [inputs[v.name] for v in block.arguments], {})


def run_block(block: Block, arguments: list, around: dict) -> list:
    env = dict(around)
    env.update((v.name, a) for v, a in zip(block.arguments, arguments, strict=True))
    for statement in block.statements:
        match statement:
            case Apply():
                values = [apply(statement, [env[v.name] for v in statement.inputs])]
            case LoopStatement():
                values = run_loop(statement, env)
            case ScanStatement():
                values = run_scan(statement, env)
            case IfStatement():
                values = run_block(statement.branches[0 if env[statement.condition.name] else 1], [], env)
        for var, value in zip(statement.targets, values, strict=True):
            require_small(value)
            if var is not None:
                env[var.name] = value
    return [env[v.name] for v in block.results]


def require_small(value: Any) -> None:
    if isinstance(value, list):
        size = len(value)
    elif isinstance(value, np.ndarray):
        size = sum(map(len, value.flat)) if is_string(value) else value.size
        size = max(size, 1000 * value.ndim)
    else:
        size = 0
    if size > LARGEST:
        raise NoAnswer


# ---- single operations -------------------------------------------------------------------------------------------


def extreme(function: np.ufunc) -> Callable[[Any, Any], Any]:
    """The largest or smallest; of a 0 and a -0 the same one in float16 as in wider floats, where NumPy's own differ."""

    def chosen(a: Any, b: Any) -> Any:
        if np.result_type(a, b) == np.float16:
            return function(np.asarray(a, np.float32), np.asarray(b, np.float32)).astype(np.float16)
        return function(a, b)

    return chosen


BINARY = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Max": extreme(np.maximum),
    "Min": extreme(np.minimum),
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
    "Less": np.less,
    "Equal": np.equal,
    "StringConcat": np.add,
}
UNARY = {"Neg": np.negative, "Abs": np.abs, "Not": np.logical_not}


def apply(statement: Apply, values: list) -> Any:
    try:
        result = compute(statement, values)
    except (ValueError, IndexError) as error:
        raise Failure(str(error)) from None
    if isinstance(statement.target.type, Type):
        expected = object if statement.target.type.dtype == "str" else np.dtype(statement.target.type.dtype)
        result = np.asarray(result, expected)
    return result


def compute(statement: Apply, values: list) -> Any:
    op, message = statement.op, statement.attributes
    if op in BINARY:
        return BINARY[op](*values)
    if op in UNARY:
        return UNARY[op](values[0])
    match op, values:
        case "Constant", []:
            return message["value"]
        case "Identity" | "Cast" | "Optional", [x]:
            return x.astype(statement.target.type.dtype) if op == "Cast" else x
        case "Concat", [x, y]:
            return np.concatenate([x, y], 0)
        case "ReduceSum", [x]:
            return x.sum(dtype=x.dtype)
        case "Shape", [x]:
            return np.array(x.shape, np.int64)
        case "Size", [x]:
            return x.size
        case "Where", [c, x, y]:
            return np.where(c, x, y)
        case "Gather", [x, index]:
            return x[int(index)]
        case "Slice", [x]:
            return x[message["part"]]
        case "SliceTo", [x, end]:
            return x[: int(end)]
        case "Expand", [x, shape]:
            return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape)))
        case "Reshape", [x, shape]:
            return x.reshape(tuple(shape))
        case "Unsqueeze", [x]:
            return np.expand_dims(x, message["axis"])
    return of_sequence(op, values, message)


def of_sequence(op: str, values: list, message: dict[str, Any]) -> Any:
    match op, values:
        case "SplitToSequence", [x]:
            return [x[k : k + message["size"]] for k in range(0, len(x), message["size"])]
        case "ConcatFromSequence", [items]:
            return np.concatenate(items, 0)
        case "SequenceEmpty", []:
            return []
        case "SequenceConstruct", _:
            return list(values)
        case "SequenceInsert", [items, x]:
            return [*items, x]
        case "SequenceInsertAt", [items, x, position]:
            if not -len(items) <= position <= len(items):
                raise Failure("insertion outside of a sequence")
            return [*items[: int(position)], x, *items[int(position) :]]
        case "SequenceAt", [items, position]:
            return items[int(position)]
        case "SequenceErase", [items, position]:
            k = range(len(items))[int(position)]
            return items[:k] + items[k + 1 :]
        case "SequenceLength", [items]:
            return len(items)
        case "EmptyOptional", []:
            return None
        case "OptionalHasElement", [x]:
            return x is not None
        case "OptionalGetElement", [x]:
            if x is None:
                raise Failure("an empty optional")
            return x
    raise AssertionError(op)


# ---- loops -------------------------------------------------------------------------------------------------------


def run_loop(loop: LoopStatement, env: dict) -> list:
    limit = None if loop.trip is None else int(env[loop.trip.name])
    go_on = True if loop.condition is None else bool(env[loop.condition.name])
    state = [env[v.name] for v in loop.carried]
    count = len(state)
    expected = loop.body.results[1 + count :]
    collected: list[list] = [[] for _ in expected]
    i = 0
    while (limit is None or i < limit) and go_on:
        answer, *rest = run_block(loop.body, [np.array(i, np.int64), np.array(True), *state], env)
        state = rest[:count]
        for stored, element in zip(collected, rest[count:], strict=True):
            stored.append(element)
        go_on = bool(answer) or loop.condition is None
        i += 1
    return [*state, *(combined(stored, v.type, 0) for stored, v in zip(collected, expected, strict=True))]


def run_scan(scan: ScanStatement, env: dict) -> list:
    inputs = [env[v.name] for v in scan.scanned]
    lengths = {x.shape[axis] for x, axis in zip(inputs, scan.axes, strict=True)}
    if len(lengths) > 1:
        raise Failure("scanned inputs of different lengths")
    length = lengths.pop()
    state = [env[v.name] for v in scan.states]
    count = len(state)
    expected = scan.body.results[count:]
    collected: list[list] = [[] for _ in expected]
    for t in range(length):
        slices = [
            np.moveaxis(x, axis, 0)[length - 1 - t if back else t, ...]
            for x, axis, back in zip(inputs, scan.axes, scan.reverse, strict=True)
        ]
        rest = run_block(scan.body, [*state, *slices], env)
        if any(a.shape != b.shape for a, b in zip(state, rest, strict=False)):
            raise Failure("a state changes its shape")
        state = rest[:count]
        for stored, element in zip(collected, rest[count:], strict=True):
            stored.append(element)
    outputs = zip(collected, expected, scan.output_axes, scan.output_reverse, strict=True)
    return [*state, *(combined(stored[::-1] if back else stored, v.type, axis) for stored, v, axis, back in outputs)]


def combined(elements: list, type: Any, axis: int) -> np.ndarray:
    """Elements stacked on a new axis; none of them have the shape that their type says, with a 0 at the axis."""
    if elements:
        if any(e.shape != elements[0].shape for e in elements):
            raise Failure("collected elements of different shapes")
        return np.stack(elements, axis)
    if not type.is_fixed:
        raise NoAnswer
    shape = list(type.shape)
    shape.insert(axis % (len(shape) + 1), 0)
    return np.zeros(shape, object if type.dtype == "str" else type.dtype)
