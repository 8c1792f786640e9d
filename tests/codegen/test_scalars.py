"""Every elementwise op on every native element type, special values included: machine code against `op.run`."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

import ml_dtypes
import numpy as np
import pytest

from codegen.batches import Case, check, fails
from whorl.ir.dtypes import BOOL, BY_NAME, name_of
from whorl.ir.graph import REGISTRY, Op
from whorl.lowering.native_types import NATIVE
from whorl.ops.core.base import COMPUTED_FLOATS, Elementwise
from whorl.ops.elementwise.arithmetic import Clip, Div, Max, Min, Mod
from whorl.ops.elementwise.casting import BitCast, Cast, CastLike
from whorl.ops.elementwise.comparison import IsInf, Where
from whorl.ops.elementwise.functions import RealFunction
from whorl.ops.elementwise.logic import BitShift
from whorl.ops.elementwise.nonlinear import (
    Activation,
    Celu,
    Gelu,
    HardSigmoid,
    LeakyRelu,
    Selu,
    Shrink,
    Swish,
    ThresholdedRelu,
)
from whorl.ops.elementwise.powers import Pow
from whorl.ops.linear.quantization import DequantizeLinear, QuantizeLinear

FAMILIES = ("elementwise", "powers", "functions", "logic", "comparison", "nonlinear")
NAMES = sorted(name_of(dtype) for dtype in NATIVE if dtype.itemsize > 1 or dtype.kind in "biu")
FLOATS = sorted(name_of(dtype) for dtype in COMPUTED_FLOATS)
LENGTHS = {"one": 1, "odd": 13, "many": 585}
COUNT = 1170
"""Elements of an array; a multiple of all lengths."""
ALIKE = ("int8", "int16", "uint16", "uint32")
"""Element types whose code differs from that of others in a width only."""
SIZED = [
    pytest.param(name, size, marks=pytest.mark.slow if name in ALIKE or (size == "odd" and name != "float32") else ())
    for name in NAMES
    for size in LENGTHS
]
VARIANTS: dict[str, list[Op]] = {
    "BitShift": [BitShift("LEFT"), BitShift("RIGHT")],
    "Celu": [Celu(), Celu(0.3)],
    "Gelu": [Gelu(), Gelu("tanh")],
    "HardSigmoid": [HardSigmoid(), HardSigmoid(0.7, -0.1)],
    "IsInf": [IsInf(a, b) for a in (0, 1) for b in (0, 1)],
    "LeakyRelu": [LeakyRelu(), LeakyRelu(-1.5)],
    "Mod": [Mod(), Mod(1)],
    "Selu": [Selu(), Selu(0.5, 2.0)],
    "Shrink": [Shrink(), Shrink(0.7, 1.5)],
    "Swish": [Swish(), Swish(-2.0)],
    "ThresholdedRelu": [ThresholdedRelu(), ThresholdedRelu(-0.5)],
}
OPERANDS = {"Clip": (1, 3), "Max": (1, 2, 3), "Min": (1, 3), "Mean": (1, 3), "Sum": (1, 2, 3)}
UNARY = (
    *("Abs", "Neg", "Not", "BitwiseNot", "Sign", "Reciprocal", "Ceil", "Floor", "Round"),
    *("IsNaN", "IsInf", "Shrink", "Relu"),
)
EXACT = ("Sqrt", "Relu", "LeakyRelu", "PRelu", "ThresholdedRelu", "HardSigmoid", "HardSwish", "Shrink", "Softsign")
ZERO_OF_EITHER_SIGN = ("Max", "Min", "Clip", "Relu", "Celu", "HardSigmoid", "HardSwish")
"""Where NumPy's answer depends on its vector instructions."""


def marked(names: Iterable[str]) -> list:
    return [pytest.param(name, marks=pytest.mark.slow if name in ALIKE else ()) for name in names]


@functools.cache
def sample(name: str, seed: int = 0) -> np.ndarray:
    """Numbers of an element type: all pairs of special values come up among the samples of two seeds."""
    dtype, rng = BY_NAME[name], np.random.default_rng(seed)
    special = specials(name)
    order = np.arange(COUNT) % len(special) if seed == 0 else np.arange(COUNT) // len(special) % len(special)
    if seed > 1:
        order = rng.permutation(order)
    drawn = special[order]
    rest = slice(len(special) ** 2, None)
    drawn[rest] = ordinary(name, rng)[rest]
    assert drawn.dtype == dtype
    return drawn


def specials(name: str) -> np.ndarray:
    dtype = BY_NAME[name]
    if dtype == BOOL:
        return np.array([False, True])
    if name in FLOATS:
        limits = ml_dtypes.finfo(dtype)
        numbers = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -3, 7.75, 127.5, 300.5]
        numbers += [2.0**31, -(2.0**31), 2.0**32 + 2, 2.0**63, -(2.0**63), 2.0**64, 1e-3, -90.0]
        numbers += [float(x) for x in (limits.max, limits.min, limits.tiny, limits.smallest_subnormal)]
        with np.errstate(all="ignore"):
            return np.array(numbers).astype(dtype)
    limits = np.iinfo(dtype)
    near = [0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 63, 64, 100]
    numbers = (*near, *(-n for n in near), limits.max, limits.max - 1, limits.min, limits.min + 1)
    return np.array(sorted({n for n in numbers if limits.min <= n <= limits.max}), dtype)


def ordinary(name: str, rng: np.random.Generator) -> np.ndarray:
    dtype = BY_NAME[name]
    if dtype == BOOL:
        return rng.random(COUNT) < 0.5
    if name in FLOATS:
        return (rng.standard_normal(COUNT) * 10.0 ** rng.integers(-3, 3, COUNT)).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, COUNT, dtype, endpoint=True)


def elementwise_ops() -> Iterator[Op]:
    for name, op in sorted(REGISTRY.items()):
        if issubclass(op, Elementwise) and op.__module__.rpartition(".")[2] in FAMILIES:
            yield from VARIANTS.get(name) or [op()]


def operand_counts(op: Op) -> tuple[int, ...]:
    if op.name in OPERANDS:
        return OPERANDS[op.name]
    is_unary = isinstance(op, RealFunction | Activation) or op.name in UNARY
    return (1,) if is_unary else (2,)


def tolerance(op: Op, name: str) -> dict[str, float | bool]:
    approximate = isinstance(op, RealFunction | Activation) or op.name in ("Pow", "SwiGLU")
    passed: dict[str, float | bool] = {"loose_zero": op.name in ZERO_OF_EITHER_SIGN}
    if approximate and op.name not in EXACT:
        passed["ulps"] = 10.0 if name in ("float32", "float64") else 1.0
    if op == Gelu() and name == "float64":
        passed["ulps"] = 500.0
    if op == Gelu("tanh"):
        passed["slack"] = {"float32": 1e-6, "float64": 1e-15}.get(name, 0.01)
    return passed


def cases_of(op: Op, name: str) -> Iterator[Case]:
    accepted = op.dtypes if isinstance(op, Elementwise) else frozenset()
    if (accepted and BY_NAME[name] not in accepted) or isinstance(op, Where | Cast):
        return
    for count in operand_counts(op):
        inputs = [sample(name, seed) for seed in range(count)]
        if isinstance(op, Div | Mod) and name not in FLOATS:
            inputs[1] = _divisors(name)
        if isinstance(op, Clip):
            inputs[1:] = [x[COUNT // 3 :][:1].reshape(()) for x in inputs[1:]]
        if not isinstance(op, Pow) or name in FLOATS:
            yield Case(op, inputs, **tolerance(op, name))


@functools.cache
def _divisors(name: str) -> np.ndarray:
    x = sample(name, 1)
    return np.where(x == 0, x.dtype.type(3), x)


@functools.cache
def _finite(name: str) -> np.ndarray:
    """NumPy has NaN for the root of -infinity by a power, or infinity, as the shapes are."""
    x = sample(name)
    return np.where(np.isinf(x), x.dtype.type(5), x) if name in FLOATS else x


def with_constants(name: str) -> Iterator[Case]:
    """Second operands that are numbers in the code."""
    dtype = BY_NAME[name]
    x = sample(name)
    for op in ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Pow", "Less", "Equal", "BitShift"):
        made = REGISTRY[op]() if op != "BitShift" else BitShift("RIGHT")
        if made.dtypes and dtype not in made.dtypes:  # type: ignore[attr-defined]
            continue
        for number in (2, 1, 3, -1, 0.5):
            if (number == 0.5 and name not in FLOATS) or (number < 0 and (name[0] == "u" or op == "Pow")):
                continue
            y = np.array(number).astype(dtype)
            yield Case(made, [_finite(name) if op == "Pow" else x, y], **tolerance(made, name))
            if op in ("Max", "Min", "Sub"):
                yield Case(made, [y, x], **tolerance(made, name))
    if name in FLOATS:
        nan = np.array(np.nan).astype(dtype)
        yield from (Case(op, [*pair]) for op in (Max(), Min()) for pair in ((x, nan), (nan, x)))


@pytest.mark.parametrize(("name", "size"), SIZED)
def test_elementwise_op_equals_its_meaning(name: str, size: str) -> None:
    cases = [case for op in elementwise_ops() for case in cases_of(op, name)]
    if name != "bool" and size == "many":
        cases += with_constants(name)
    condition = sample("bool", 3)
    check([*cases, Case(Where(), [condition, sample(name), sample(name, 1)])], LENGTHS[size])


@pytest.mark.parametrize("source", marked(NAMES))
def test_cast_equals_its_meaning(source: str) -> None:
    x = sample(source)
    cases = [Case(Cast(BY_NAME[target]), [x]) for target in NAMES]
    cases += [Case(CastLike(), [x, sample(target)]) for target in NAMES]
    same_width = [target for target in NAMES if BY_NAME[target].itemsize == BY_NAME[source].itemsize]
    cases += [Case(BitCast(BY_NAME[target]), [x]) for target in same_width]
    check(cases, LENGTHS["many"])


@functools.cache
def _exponents(name: str) -> np.ndarray:
    x = sample(name, 1)
    return x if name in FLOATS else np.where((x < 0) | (x > 1 << 62), x.dtype.type(2), x)


@functools.cache
def _bases(name: str) -> np.ndarray:
    """Numbers whose powers have no error that decides what they truncate to."""
    x = sample(name)
    return x if name in FLOATS else np.where(x > 3, x.dtype.type(3), x)


@pytest.mark.parametrize("name", marked(name for name in NAMES if name != "bool"))
def test_power_equals_its_meaning_for_every_type_of_exponent(name: str) -> None:
    exponents = [other for other in NAMES if other != "bool" and (name not in FLOATS or other != name)]
    whole = [other for other in exponents if other not in FLOATS]
    cases = [Case(Pow(), [sample(name), _exponents(other)], ulps=1) for other in whole]
    if name in FLOATS:
        cases += [Case(Pow(), [sample(name), _exponents(other)], ulps=2) for other in exponents if other in FLOATS]
    else:
        cases += [Case(Pow(), [_bases(name), np.array(2.0, np.float32)])]
        cases += [Case(Pow(), [_bases(name), np.array(other, np.int32)]) for other in (0, 1, 2, 5)]
    check(cases, LENGTHS["many"])


def test_power_of_integers_to_negative_exponent_is_its_meaning() -> None:
    x, y = sample("int32", 4), sample("int8", 1)
    check([Case(Pow(), [np.where(x == 0, 1, x).astype(np.int32), y])], LENGTHS["odd"])


@pytest.mark.parametrize(
    "case",
    [
        Case(Div(), [np.arange(10), np.arange(-5, 5)]),
        Case(Mod(), [np.arange(10, dtype=np.uint8), np.arange(10, dtype=np.uint8)]),
        Case(Mod(1), [np.arange(10), np.array(0)]),
        Case(Pow(), [np.arange(10), np.arange(-5, 5)]),
        Case(Pow(), [np.arange(10, dtype=np.int8), np.full(10, 1 << 63, np.uint64)]),
    ],
    ids=str,
)
@pytest.mark.parametrize("length", [1, 5])
def test_integer_operation_without_result_fails(case: Case, length: int) -> None:
    assert fails(case, length)


SCALES = ("float16", "bfloat16", "float32", "int32")


def quantizations(source: str, target: str) -> Iterator[Case]:
    """Per tensor, with and without a zero point, and at another precision."""
    x, zero = sample(source), specials(target)[1:2].reshape(())
    for name in SCALES:
        for scale in (0.1, -3, 0, np.nan) if name in FLOATS else (-3, 0):
            yield Case(QuantizeLinear(), [x, np.array(scale).astype(BY_NAME[name]), zero])
    yield Case(QuantizeLinear(output_dtype=BY_NAME[target]), [x, np.array(0.5, np.float32)])
    yield Case(QuantizeLinear(precision=BY_NAME["float64"]), [x, np.array(0.3, np.float32), zero])


@pytest.mark.parametrize("target", ["uint8", *marked(("int8", "int16", "uint16"))])
def test_quantization_of_a_tensor_equals_its_meaning(target: str) -> None:
    cases = [case for source in (*FLOATS, "int32") for case in quantizations(source, target)]
    for name in ("float16", "bfloat16", "float32", "float64"):
        scale = np.array(0.37).astype(BY_NAME[name])
        cases += [Case(DequantizeLinear(), [sample(target), scale])]
        cases += [Case(DequantizeLinear(), [sample(target), scale, sample(target)[7:8].reshape(())])]
        cases += [Case(DequantizeLinear(output_dtype=BY_NAME[name]), [sample(target), np.array(0.37, np.float32)])]
    cases += [Case(DequantizeLinear(), [sample("int32"), np.array(0.1, np.float32), np.array(-7, np.int32)])]
    check(cases, LENGTHS["many"])
