"""Descriptions of inputs and outputs: numbers, names of the file, None."""

from __future__ import annotations

from onnx_text import model

import whorl
from whorl.runtime.interface import NodeArg
from whorl.runtime.module_interface import input_args, output_args


def test_names_of_the_file_are_shown() -> None:
    module = whorl.load(model("main (float[n, 2] x) => (float[n, 2] y) { y = Neg(x) }"))
    assert input_args(module) == {"x": NodeArg("x", ["n", 2], "tensor(float)")}
    assert output_args(module) == [NodeArg("y", ["n", 2], "tensor(float)")]


def test_length_that_inference_makes_up_is_none() -> None:
    module = whorl.load(model("main (float[n] x) => (int64[1, k] y) { y = NonZero(x) }"))
    module.declared.clear()
    (output,) = output_args(module)
    assert output.shape == [1, None]


def test_sequence_has_the_shape_of_its_elements() -> None:
    module = whorl.load(model("main (float[3] x) => (seq(float[3]) y) { y = SequenceConstruct(x, x) }"))
    (output,) = output_args(module)
    assert (output.shape, output.type) == ([3], "seq(tensor(float))")
