"""A fold gives what the op gives at run time: programs whose results wider arithmetic at compile time would change."""

from dataclasses import dataclass

import numpy as np
import pytest
from passes.bits import assert_same_bits, copied, interpreted, optimized
from passes.programs import read

from whorl.ir.constants import Constant, as_array
from whorl.ir.graph import Module
from whorl.passes.pipeline import optimize


@dataclass(frozen=True)
class Fold:
    """A program without arguments, and what it gives."""

    program: str
    result: np.ndarray


FOLDS = {
    "narrow integers wrap": Fold(
        """main() {
          %a: int8[] = Constant() {value = int8[] <100>}
          %b: int8[] = Constant() {value = int8[] <2>}
          %s: int8[] = Add(%a, %a)
          %r: int8[] = Div(%s, %b)
          return r = %r
        }""",
        np.array(-28, np.int8),
    ),
    "casts to narrow integers keep the low bits": Fold(
        """main() {
          %a: int64[] = Constant() {value = int64[] <1099511627781>}
          %s: int32[] = Cast(%a) {to = int32}
          %r: int64[] = Cast(%s) {to = int64}
          return r = %r
        }""",
        np.array(5, np.int64),
    ),
    "casts to narrow floats round": Fold(
        """main() {
          %a: float32[] = Constant() {value = float32[] <0.1>}
          %s: float16[] = Cast(%a) {to = float16}
          %r: float32[] = Cast(%s) {to = float32}
          return r = %r
        }""",
        np.array(np.float16(0.1), np.float32),
    ),
    "unsigned differences wrap": Fold(
        """main() {
          %a: uint8[] = Constant() {value = uint8[] <3>}
          %b: uint8[] = Constant() {value = uint8[] <5>}
          %s: uint8[] = Sub(%a, %b)
          %r: int32[] = Cast(%s) {to = int32}
          return r = %r
        }""",
        np.array(254, np.int32),
    ),
    "every float sum is rounded": Fold(
        """main() {
          %a: float32[] = Constant() {value = float32[] <16777216.0>}
          %b: float32[] = Constant() {value = float32[] <1.0>}
          %s: float32[] = Add(%a, %b)
          %r: float32[] = Sub(%s, %a)
          return r = %r
        }""",
        np.array(0, np.float32),
    ),
    "floats overflow": Fold(
        """main() {
          %a: float32[] = Constant() {value = float32[] <3e38>}
          %b: float32[] = Constant() {value = float32[] <10.0>}
          %s: float32[] = Mul(%a, %b)
          %r: float32[] = Div(%s, %b)
          return r = %r
        }""",
        np.array(np.inf, np.float32),
    ),
    "remainders are exact": Fold(
        """main() {
          %a: float32[2] = Constant() {value = float32[2] <1e-10 2.5e-9>}
          %b: float32[] = Constant() {value = float32[] <1.0>}
          %r: float32[2] = Mod(%a, %b) {fmod = 1}
          return r = %r
        }""",
        np.array([1e-10, 2.5e-9], np.float32),
    ),
    "a range has as many elements as its limits say": Fold(
        """main() {
          %a: float32[] = Constant() {value = float32[] <0.0>}
          %b: float32[] = Constant() {value = float32[] <1.1>}
          %c: float32[] = Constant() {value = float32[] <0.1>}
          %r: float32[n] = Range(%a, %b, %c)
          return r = %r
        }""",
        (np.arange(12, dtype=np.float32) * np.float32(0.1)).astype(np.float32),
    ),
    "negative places count from the end": Fold(
        """main() {
          %a: int32[4] = Constant() {value = int32[4] <1 2 3 4>}
          %i: int64[1, 1] = Constant() {value = int64[1, 1] <-1>}
          %u: int32[1] = Constant() {value = int32[1] <9>}
          %r: int32[4] = ScatterND(%a, %i, %u)
          return r = %r
        }""",
        np.array([1, 2, 3, 9], np.int32),
    ),
    "a scalar has places that are not zero": Fold(
        """main() {
          %a: int32[] = Constant() {value = int32[] <7>}
          %r: int64[0, 1] = NonZero(%a)
          return r = %r
        }""",
        np.zeros((0, 1), np.int64),
    ),
}


def folded(module: Module) -> np.ndarray:
    owner = module.main.results[0].owner
    assert isinstance(owner.op, Constant)  # type: ignore[union-attr]
    return as_array(owner.op.value)  # type: ignore[union-attr]


@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
def test_fold_gives_what_the_program_gives(fold: Fold) -> None:
    module = read(fold.program)
    assert_same_bits(interpreted(module, {}), [folded(optimized(module))])


@pytest.mark.parametrize("fold", FOLDS.values(), ids=FOLDS)
def test_program_gives_what_runtimes_give(fold: Fold) -> None:
    assert_same_bits([fold.result], interpreted(read(fold.program), {}))


def test_float_sums_are_not_regrouped() -> None:
    module = read(
        """main(%x: float32[2]) {
          %a: float32[] = Constant() {value = float32[] <1e30>}
          %b: float32[] = Constant() {value = float32[] <-1e30>}
          %s: float32[2] = Add(%x, %a)
          %r: float32[2] = Add(%s, %b)
          return r = %r
        }"""
    )
    feeds = {"x": np.array([1, 2], np.float32)}
    assert_same_bits([np.zeros(2, np.float32)], interpreted(optimized(module), feeds))


def test_division_by_zero_is_left_to_fail() -> None:
    module = read(
        """main() {
          %a: int32[] = Constant() {value = int32[] <7>}
          %b: int32[] = Constant() {value = int32[] <0>}
          %r: int32[] = Mod(%a, %b)
          return r = %r
        }"""
    )
    actual = copied(module)
    report = optimize(actual)
    assert [node.op.name for node in actual.main.nodes] == ["Constant", "Constant", "Mod"]
    assert ("Mod", "fails: integer division by zero") in report.skipped
    assert interpreted(actual, {}) is None
