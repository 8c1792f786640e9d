"""What defining an op's class does."""

import numpy as np

from whorl.ops.linear.products import Gemm
from whorl.ops.reduce.normalization import BatchNormalization


def test_default_of_a_float_attribute_is_what_a_file_would_hold():
    assert BatchNormalization().momentum == float(np.float32(0.9)) != 0.9
    assert Gemm().alpha == 1.0
