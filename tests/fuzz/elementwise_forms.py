"""Forms of ops that go element by element."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.forms import EXACT, FUNCTION, MOVE, STEADY, Form, Slack, form, number, o, onnx_type, x

ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor")
COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor")
UNARY = ("Abs", "Neg", "Ceil", "Floor", "Round", "Sign", "Reciprocal", "Not", "BitwiseNot", "IsInf", "IsNaN", "Relu")
FUNCTIONS = (
    "Acos", "Acosh", "Asin", "Asinh", "Atan", "Cos", "Cosh", "Erf", "Exp", "Log", "Sin", "Sinh", "Sqrt", "Tan",
    "Tanh", "Celu", "Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Selu", "Shrink", "Sigmoid",
    "Softplus", "Softsign", "Swish", "ThresholdedRelu",
)  # fmt: skip
STEADIES = ("Add", "Sub", "Max", "Min", "Abs", "Neg", "Relu")
TARGETS = (
    "bool", "int4", "int8", "uint8", "int16", "int32", "int64", "uint64", "float8e4m3fn", "float16", "bfloat16",
    "float32", "float64",
)  # fmt: skip
FEW = Slack(8, 2)


def forms() -> Iterator[Form]:
    yield from arithmetic()
    yield from unary()
    yield from functions()
    yield from casts()
    yield from others()


def arithmetic() -> Iterator[Form]:
    for op in (*ARITHMETIC, *COMPARISONS):
        kind = STEADY if op in STEADIES else EXACT
        yield form(op, "N M", "N M", to="N M", kind=kind)
        yield form(op, "N M", "M", to="N M", kind=kind)
        yield form(op, "N 1", "M", to="N M", kind=kind)
        yield form(op, "N M", "", to="N M", kind=kind)
    floats = ("float16", "bfloat16", "float32", "float64")
    yield form("Mod", "N M", "M", to="N M", fmod=1)
    yield form("Div", "N M", x("M", "positive"), to="N M")
    yield form("Mod", "N M", x("M", "positive"), to="N M", only=("int8", "int32", "int64", "uint8", "uint32"))
    for op in ("Max", "Min", "Sum", "Mean"):
        kind, slack = (EXACT, Slack()) if op in ("Max", "Min") else (STEADY, Slack(4, 0))
        yield form(op, "N M", "N M", "N M", to="N M", kind=kind, slack=slack)
        yield form(op, "N 1", "M", "", to="N M", kind=kind, slack=slack)
        yield form(op, "N M", to="N M", kind=kind, slack=slack)
    for direction in ("LEFT", "RIGHT"):
        yield form("BitShift", "N M", x("M", "shift"), to="N M", direction=direction)
    yield form("PRelu", "N M", "M", to="N M")
    yield form("PRelu", "N M K", "M 1", to="N M K")
    for other in ("float32", "int64", "float64", "int8"):
        yield form("Pow", x("N M", "tame"), o(other, "M", "exponent"), to="N M", kind=FUNCTION, slack=FEW)
    yield form("Pow", x("N M", "tame"), number(2, "float32"), to="N M", kind=FUNCTION, slack=FEW, only=floats)
    yield form("SwiGLU", "N M", "N M", to="N M", kind=FUNCTION, slack=FEW)
    yield form("Where", o("bool", "N M"), "N M", "N M", to="N M", kind=MOVE)
    yield form("Where", o("bool", "N 1"), "M", "", to="N M", kind=MOVE)


def unary() -> Iterator[Form]:
    for op in UNARY:
        yield form(op, "N M", to="N M", kind=STEADY if op in STEADIES else EXACT)
        yield form(op, "", kind=STEADY if op in STEADIES else EXACT)
    yield form("IsInf", "N", to="N", detect_negative=0)
    yield form("Identity", "N M", to="N M", kind=MOVE)
    yield form("Identity", "", kind=MOVE)
    yield form("Clip", "N M", "", "", to="N M")
    yield form("Clip", "N M", None, "", to="N M")
    yield form("Clip", "N", "", to="N")


def functions() -> Iterator[Form]:
    for op in FUNCTIONS:
        yield form(op, "N M", to="N M", kind=FUNCTION, slack=FEW)
        yield form(op, "N", to="N", kind=FUNCTION, slack=FEW)
    yield form("Acosh", x("N M", "positive"), to="N M", kind=FUNCTION, slack=FEW)
    yield form("Atanh", x("N M", "unit"), to="N M", kind=FUNCTION, slack=FEW)
    yield form("Gelu", "N M", to="N M", kind=FUNCTION, slack=Slack(16, 4), approximate="tanh")
    yield form("Elu", "N", to="N", kind=FUNCTION, slack=FEW, alpha=0.3)
    yield form("LeakyRelu", "N", to="N", kind=FUNCTION, slack=FEW, alpha=-1.5)
    yield form("Shrink", "N", to="N", lambd=0.7, bias=0.3)
    yield form("HardSigmoid", "N", to="N", kind=FUNCTION, slack=FEW, alpha=0.4, beta=0.1)


def casts() -> Iterator[Form]:
    for target in TARGETS:
        yield form("Cast", "N M", to="N M", gives=(target,), label=f"to {target}", by=_to(target))
    for target in ("float32", "int64", "bool", "uint8", "float16"):
        yield form("CastLike", "N M", o(target, "K"), to="N M", gives=(target,), label=f"to {target}")
    for wide in (
        ("int8", "uint8"),
        ("int16", "uint16", "float16", "bfloat16"),
        ("int32", "float32"),
        ("int64", "float64"),
    ):
        for name, target in zip(wide, wide[1:] + wide[:1], strict=True):
            yield form("BitCast", "N M", to="N M", gives=(target,), only=(name,), label=f"to {target}", by=_to(target))


def _to(target: str):
    return lambda dtype: {"to": onnx_type(target)}


def others() -> Iterator[Form]:
    for scale in ("", "M"):
        only = ("int8", "uint8", "int16", "uint16", "int4", "uint4", "float8e4m3fn", "float8e5m2", "uint2", "int2")
        yield form("QuantizeLinear", o("float32", "N M"), o("float32", scale, "scale"), x(scale, "tame"), to="N M",
                   only=only, axis=1)  # fmt: skip
        yield form("DequantizeLinear", "N M", o("float32", scale, "scale"), x(scale, "tame"), to="N M",
                   gives=("float32",), only=(*only, "int32"), axis=1)  # fmt: skip
    yield form("QuantizeLinear", x("N 4"), o("float32", "N 2", "scale"), to="N 4", axis=1, block_size=2,
               gives=("uint8",), only=("float32", "float16", "bfloat16"))  # fmt: skip
    yield form("DequantizeLinear", "N 4", o("float32", "N 2", "scale"), to="N 4", axis=1, block_size=2,
               gives=("float32",), only=("int8", "uint8", "int4", "uint4"))  # fmt: skip
    yield form("QuantizeLinear", x("N"), o("float32", "", "scale"), o("int8", "", "tame"), to="N", gives=("int8",),
               only=("float16", "float32", "bfloat16", "int32"))  # fmt: skip
    yield form("DynamicQuantizeLinear", "N M", to=("N M", "", ""))
    yield form("Dropout", "N M", to="N M", kind=MOVE)
    yield form(
        "Dropout", "N M", number(0.5, "float32"), number(0, "bool"), to=("N M", "N M"), only=("float32", "float64")
    )
    yield form("StringConcat", "N", "N", to="N")
