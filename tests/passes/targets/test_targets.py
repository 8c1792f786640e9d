"""Runtimes as data: what a module needs that one has not."""

import pytest
from passes.programs import read

from whorl.passes.targets.targets import DEFAULT, TARGETS

PROGRAM = read("""main(%x: float32[n, 1, 1, 1, 1, 2], %c: bool[n]) {
  %y: float32[k, 1, 1, 1, 1, 2] = Compress(%x, %c) {axis = 0}
  return y = %y
}""")


@pytest.mark.parametrize(
    ("name", "missing"),
    [("tensorrt", {"Compress"}), ("coreml", {"tensor of 6 axes"}), ("tflite", set()), ("any", set()), (DEFAULT, set())],
)
def test_target_says_what_it_has_not(name, missing):
    assert TARGETS[name].missing(PROGRAM) == missing


def test_targets_without_prices_and_gaps_keep_nothing():
    assert {name for name, target in TARGETS.items() if not target.is_selective} == {"any", "openvino"}


def test_linear_layers_are_for_onnxruntime_alone():
    assert [name for name, target in TARGETS.items() if target.linear] == ["onnxruntime"]
