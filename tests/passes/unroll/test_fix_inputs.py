"""Modules for fixed lengths and values of inputs."""

import numpy as np
import pytest
from passes.bits import interpreted
from passes.programs import read

from whorl.errors import WhorlError
from whorl.ir.text import print_module
from whorl.ir.verify import verify
from whorl.passes.unroll.fix_inputs import fix_inputs, with_lengths

PROGRAM = """main(%x: float32[N, 2*M-1], %y: float32[N], %n: int64[]) {
  %s: float32[N] = Neg(%y)
  %r: float32[N] = Loop(%n, _, %s) {carried = 1}
  body(%i: int64[], %g: bool[], %a: float32[N]) {
    %b: float32[N] = Exp(%a)
    return %g, %b
  }
  return r: float32[N] = %r, x = %x
}
defaults {n = int64[] <3>}"""


def fixed(lengths=None, inputs=None, text=PROGRAM):
    module = fix_inputs(read(text), lengths or {}, inputs or {})
    verify(module)
    return module


def refusal(**options) -> str:
    with pytest.raises(WhorlError) as caught:
        fixed(**options)
    return str(caught.value)


def test_lengths_are_put_into_inputs_bodies_and_declared_types():
    text = print_module(fixed({"N": 4, "M": 2}))
    expected = (
        PROGRAM.replace("2*M-1", "3").replace("float32[N", "float32[4").replace("%g: bool[]", "%g: bool[] {True}")
    )
    assert text.strip() == expected


def test_length_that_is_not_fixed_keeps_its_name():
    (x, *_) = fixed({"N": 0}).main.arguments
    assert str(x.type) == "float32[0, 2*M-1]"


def test_fixed_input_is_a_constant_and_has_no_default_any_more():
    module = fixed(inputs={"n": np.array(2)})
    assert [value.name for value in module.main.arguments] == ["x", "y"] and not module.defaults
    y = np.array([0, 1], np.float32)
    r, _ = interpreted(module, {"x": np.zeros((2, 1), np.float32), "y": y}) or ()
    np.testing.assert_array_equal(r, np.exp(np.exp(-y)))


def test_source_remains_as_it_was():
    source = read(PROGRAM)
    before = print_module(source)
    fix_inputs(source, {"N": 4}, {"n": np.array(2)})
    assert print_module(source) == before


def test_names_that_do_not_exist_are_refused():
    assert refusal(lengths={"K": 1}) == "no input has a dim 'K'\n  fix: choose from M, N"
    assert refusal(inputs={"z": np.zeros(1)}) == "the model has no input 'z'\n  fix: choose from x, y, n"
    empty = "main() {\n  %k: float32[] = Constant() {value = float32[] <1>}\n  return k = %k\n}"
    assert refusal(lengths={"K": 1}, text=empty) == "no input has a dim 'K'\n  fix: choose from none"
    assert refusal(inputs={"z": np.zeros(1)}, text=empty) == (
        "the model has no input 'z'\n  fix: fix dims, or nothing: the model has no inputs"
    )


def test_length_below_zero_is_refused():
    assert refusal(lengths={"N": -1}) == "dim 'N' cannot be -1\n  fix: give a length of 0 or more"


@pytest.mark.parametrize("shape", [(3,), (4, 1), ()])
def test_value_of_other_lengths_than_the_fixed_ones_is_refused(shape):
    message = refusal(lengths={"N": 4}, inputs={"y": np.zeros(shape, np.float32)})
    assert message == f"input 'y' has shape {list(shape)}, expected float32[4]\n  fix: give a value of these lengths"
    assert fixed({"N": 4}, {"y": np.zeros(4, np.float32)}).main.arguments[0].name == "x"


def test_lengths_reach_into_sequences_and_leave_other_types():
    types = "%s: seq(float32[N, K]), %o: optional(seq(float32[N])), %u: float32[*], %m: map(int64, float32[])"
    arguments = read(f"main({types}) {{\n  return s = %s\n}}").main.arguments
    assert [str(with_lengths(value.type, {"N": 7})) for value in arguments] == [
        "seq(float32[7, K])",
        "optional(seq(float32[7]))",
        "float32[*]",
        str(arguments[3].type),
    ]
