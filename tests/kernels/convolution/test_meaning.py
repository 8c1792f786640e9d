"""What convolutions mean, written out window by window."""

import numpy as np

from whorl.ir.dtypes import FLOAT32
from whorl.kernels.convolution.layout import pack_filters
from whorl.kernels.convolution.meaning import CONVOLUTION, CONVOLUTION_DOTS, CONVOLUTION_SUM, clamp
from whorl.kernels.machine import OVERREAD_BYTES

NUMBERS = (2, 3, 1, 8, 4, 1, 2, 3, 2, 4)
"""Two features of three taps, bounded, over 2 x 3 windows in rows of 4 elements."""


def arrays(added: bool) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    meaning = CONVOLUTION_SUM if added else CONVOLUTION
    sizes = meaning.extents(NUMBERS, FLOAT32)
    drawn = [rng.standard_normal(size).astype(np.float32) for size in sizes]
    drawn[2] = np.array([0, 1, 4], np.int32)
    drawn[3] = pack_filters(drawn[3].reshape(1, 2, 3))[0]
    drawn[5] = np.array([-1, 1], np.float32)
    return drawn


def test_convolution_is_a_clamped_sum_over_taps_and_a_bias():
    y, image, offsets, packed, bias, limits = operands = arrays(False)
    CONVOLUTION.run(operands, NUMBERS)
    filters = packed.reshape(3, 2).T
    for feature in range(2):
        for row in range(2):
            for column in range(3):
                total = bias[feature]
                for k, offset in enumerate(offsets):
                    total += filters[feature, k] * image[row * 4 + column + offset]
                actual = y.reshape(2, 2, 3)[feature, row, column]
                np.testing.assert_allclose(actual, np.clip(total, *limits), rtol=1e-5)


def test_convolution_sum_adds_before_it_clamps():
    plain, summed = arrays(True)[:-1], arrays(True)
    summed[-1][:] = 100
    CONVOLUTION.run(plain, NUMBERS)
    CONVOLUTION_SUM.run(summed, NUMBERS)
    assert summed[0].tolist() == [1] * 12


def test_clamp_leaves_nan():
    assert np.isnan(clamp(np.array([np.nan]), np.array([0.0, 6.0])))


def test_image_may_be_read_a_tile_beyond_the_last_window():
    assert CONVOLUTION.extents(NUMBERS, FLOAT32) == (12, 4 + OVERREAD_BYTES // 4, 3, 6, 2, 2)
    assert CONVOLUTION.steps(NUMBERS) == 2 * 3 * 7


def test_convolution_of_words_takes_bytes_without_sign_by_bytes_with_one():
    image, filters = np.array([0xFF01, 0x02FF], np.uint32).view(np.int32), np.array([0x8002], np.uint32).view(np.int32)
    y = np.zeros(2, np.int32)
    operands = [y, image, np.zeros(1, np.int32), filters, np.array([5], np.int32), np.zeros(0, np.int32)]
    CONVOLUTION_DOTS.run(operands, (1, 1, 0, 8, 0, 1, 1, 2, 1, 2))
    assert y.tolist() == [5 + 1 * 2 - 255 * 128, 5 + 255 * 2 - 2 * 128]
