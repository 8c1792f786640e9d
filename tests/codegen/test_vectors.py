"""What the optimiser makes of loops: vectors where there should be, and never an operation that was not asked for."""

from __future__ import annotations

import re

import pytest

from codegen.maps import ARM, BASELINE, V3, for_machine, mapping
from whorl.ir.dtypes import BY_NAME, name_of
from whorl.lowering.native_types import NATIVE
from whorl.ops.elementwise.casting import Cast
from whorl.ops.elementwise.nonlinear import Celu, Gelu, HardSwish, Mish, Relu, Selu, Softplus, Swish

FORMULAS = ("exp", "expm1", "log", "log1p", "tanh", "sigmoid", "erf", "erfc")
ACTIVATIONS = [Relu(), Celu(), Gelu(), Gelu("tanh"), HardSwish(), Mish(), Selu(), Softplus(), Swish()]
WIDE = sorted(name_of(dtype) for dtype in NATIVE if dtype.itemsize in (4, 8))
CALL = re.compile(r"call (?!.*@llvm\.)[^(]*@")


def loop_of(ir: str) -> str:
    """The vectorised loop of a program's optimised IR."""
    start = ir.find("vector.body:")
    assert start >= 0, "the loop was not vectorised"
    return ir[start : ir.find("br i1", start)]


def check_vectors(ir: str, *kinds: str) -> None:
    body = loop_of(ir)
    for kind in kinds:
        assert f"<{kind}>" in body, f"no <{kind}> in\n{body}"
    assert not CALL.search(body), f"a call in\n{body}"


@pytest.mark.parametrize("name", FORMULAS)
def test_function_of_float32_becomes_vectors(name: str) -> None:
    program = mapping(lambda k, x: k.apply(name, x), ["float32"], "float32")
    check_vectors(for_machine(program, *V3)[0], "8 x float")


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_function_of_an_angle_becomes_vectors(name: str) -> None:
    program = mapping(lambda k, x: k.apply(name, x), ["float32"], "float32")
    check_vectors(for_machine(program, *V3)[0], "4 x float", "4 x double")


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sigmoid"])
def test_function_of_float64_becomes_vectors(name: str) -> None:
    program = mapping(lambda k, x: k.apply(name, x), ["float64"], "float64")
    check_vectors(for_machine(program, *V3)[0], "4 x double")


def test_power_becomes_vectors() -> None:
    program = mapping(lambda k, x, y: k.apply("pow", x, y), ["float32", "float32"], "float32")
    check_vectors(for_machine(program, *V3)[0], "8 x float", "8 x double")


def test_function_becomes_vectors_of_another_processor() -> None:
    program = mapping(lambda k, x: k.apply("tanh", x), ["float32"], "float32")
    check_vectors(for_machine(program, *ARM)[0], "4 x float")


@pytest.mark.parametrize("op", ACTIVATIONS, ids=str)
def test_activation_becomes_vectors(op) -> None:
    check_vectors(for_machine(mapping(op.scalar, ["float32"], "float32"), *V3)[0], "8 x float")


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_narrow_arithmetic_becomes_vectors(name: str) -> None:
    program = mapping(lambda k, x, y: k.add(k.mul(x, y), y), [name, name], name)
    check_vectors(for_machine(program, *V3)[0], "16 x half" if name == "float16" else "16 x float")


@pytest.mark.parametrize("target", WIDE)
@pytest.mark.parametrize("source", ["float32", "int32"])
def test_cast_becomes_vectors(source: str, target: str) -> None:
    if source != target:
        program = mapping(Cast(BY_NAME[target]).scalar, [source], target)
        assert re.search(r"<\d+ x ", loop_of(for_machine(program, *V3)[0]))


def test_product_and_sum_of_a_model_are_not_fused() -> None:
    program = mapping(lambda k, x, y, z: k.add(k.mul(x, y), z), ["float32"] * 3, "float32")
    assembly = for_machine(program, *V3)[1]
    assert "vmulps" in assembly and "vaddps" in assembly and "vfmadd" not in assembly


def test_formula_is_fused_where_the_machine_can() -> None:
    program = mapping(lambda k, x: k.apply("exp", x), ["float32"], "float32")
    assert "vfmadd" in for_machine(program, *V3)[1]
    assert "fma" not in for_machine(program, *BASELINE)[1]


def test_extreme_with_a_constant_takes_one_comparison() -> None:
    assembly = for_machine(mapping(Relu().scalar, ["float32"], "float32"), *V3)[1]
    assert "vcmpunordps" not in assembly
