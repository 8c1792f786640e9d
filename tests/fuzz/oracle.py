"""The oracle: runs the fuzzer's programs with plain Python loops over NumPy, sharing nothing with whorl."""

from __future__ import annotations

import numpy as np

from fuzz.programs import Apply, Block, IfStatement, LoopStatement, ScanStatement

BINARY = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Max": np.maximum,
    "Min": np.minimum,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
    "Less": np.less,
}
UNARY = {"Neg": np.negative, "Abs": np.abs, "Not": np.logical_not, "Identity": np.array}


def run(block: Block, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The results of a program. Bodies see everything around them by name."""
    with np.errstate(all="ignore"):
        return run_block(block, [inputs[v.name] for v in block.arguments], {})


def run_block(block: Block, arguments: list, around: dict) -> list:
    env = dict(around)
    env.update((v.name, np.asarray(a)) for v, a in zip(block.arguments, arguments, strict=True))
    for statement in block.statements:
        match statement:
            case Apply():
                env[statement.target.name] = apply(statement, [env[v.name] for v in statement.inputs])
                continue
            case LoopStatement():
                values = run_loop(statement, env)
            case ScanStatement():
                values = run_scan(statement, env)
            case IfStatement():
                taken = statement.branches[0 if bool(env[statement.condition.name]) else 1]
                values = run_block(taken, [], env)
        env.update((v.name, value) for v, value in zip(statement.targets, values, strict=True))
    return [env[v.name] for v in block.results]


def apply(statement: Apply, values: list) -> np.ndarray:
    op = statement.op
    if op == "Constant":
        return statement.constant
    if op in BINARY:
        return np.asarray(BINARY[op](*values))
    if op in UNARY:
        return np.asarray(UNARY[op](values[0]))
    if op == "Concat":
        return np.concatenate(values, axis=0)
    if op == "ReduceSum":
        return np.asarray(values[0].sum(dtype=values[0].dtype))
    if op == "Shape":
        return np.array(values[0].shape, np.int64)
    assert op == "Cast"
    return values[0].astype(statement.target.type.dtype)


def run_loop(loop: LoopStatement, env: dict) -> list:
    limit = None if loop.trip is None else int(env[loop.trip.name])
    go_on = True if loop.condition is None else bool(env[loop.condition.name])
    state = [env[v.name] for v in loop.carried]
    count = len(state)
    wanted = loop.body.results[1 + count :]
    collected: list[list] = [[] for _ in wanted]
    i = 0
    while (limit is None or i < limit) and go_on:
        answer, *rest = run_block(loop.body, [np.int64(i), np.bool_(True), *state], env)
        state = rest[:count]
        for held, element in zip(collected, rest[count:], strict=True):
            held.append(element)
        go_on = bool(answer) or loop.condition is None
        i += 1
    stacked = [
        np.stack(held) if held else np.zeros((0, *v.type.shape), v.type.dtype)
        for held, v in zip(collected, wanted, strict=True)
    ]
    return [*state, *stacked]


def run_scan(scan: ScanStatement, env: dict) -> list:
    inputs = [env[v.name] for v in scan.scanned]
    length = inputs[0].shape[scan.axes[0]]
    state = [env[v.name] for v in scan.states]
    count = len(state)
    wanted = scan.body.results[count:]
    collected: list[list] = [[] for _ in wanted]
    for t in range(length):
        slices = [
            np.take(x, length - 1 - t if back else t, axis=axis)
            for x, axis, back in zip(inputs, scan.axes, scan.reverse, strict=True)
        ]
        rest = run_block(scan.body, [*state, *slices], env)
        state = rest[:count]
        for held, element in zip(collected, rest[count:], strict=True):
            held.append(element)
    stacked = []
    for held, v, axis, back in zip(collected, wanted, scan.output_axes, scan.output_reverse, strict=True):
        rank = len(v.type.shape) + 1
        if held:
            stacked.append(np.stack(held[::-1] if back else held, axis=axis))
        else:
            shape = list(v.type.shape)
            shape.insert(axis % rank, 0)
            stacked.append(np.zeros(shape, v.type.dtype))
    return [*state, *stacked]
