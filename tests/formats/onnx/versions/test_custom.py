"""A class with `_run` as a function of arrays."""

import numpy as np
from onnx.reference.op_run import OpRun

from whorl.formats.onnx.versions.custom import run_of_class


class Scale(OpRun):
    op_domain = "my.ops"

    def _run(self, x, by=None):
        return (x * np.float32(by or self.by),)


class Plain:
    def _run(self, x, by=1):
        return x * np.float32(by)


def test_class_of_the_reference_gets_its_attributes():
    (result,) = run_of_class(Scale, "my.ops", "Scale")(np.ones(2, np.float32), by=3.0)
    assert result.tolist() == [3, 3]


def test_class_without_a_base_gets_keywords():
    assert run_of_class(Plain, "my.ops", "Plain")(np.ones(2, np.float32), by=4).tolist() == [4, 4]
