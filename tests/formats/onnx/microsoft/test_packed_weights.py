"""Weights of few bits: equal to onnxruntime."""

import ml_dtypes
import numpy as np
import pytest
from formats.onnx.microsoft.contributed_peer import chance, compare, configurations, floats, lengths, model_of

import whorl


def matmul_inputs(rng, bits, rows, columns, size):
    blocks = -(-columns // size)
    packed = rng.integers(0, 256, (rows, blocks, size * bits // 8)).astype(np.uint8)
    return packed, rng.uniform(0.01, 0.1, (rows, blocks)).astype(np.float32)


def test_matmul_n_bits_equals_onnxruntime():
    for rng in configurations():
        batch, count, rows = lengths(rng, 3)
        size, bits = [16, 32][rng.integers(2)], [4, 8][rng.integers(2)]
        columns = int(rng.integers(1, 4)) * size if chance(rng) else int(rng.integers(17, 60))
        packed, scales = matmul_inputs(rng, bits, rows, columns, size)
        zeros = None
        if chance(rng):
            width = -(-scales.shape[1] * bits // 8)
            zeros = rng.integers(0, 256, (rows, width)).astype(np.uint8)
        bias = floats(rng, rows) if chance(rng) else None
        inputs = [floats(rng, batch, count, columns), packed, scales, zeros, None, bias]
        attributes = {"K": columns, "N": rows, "bits": bits, "block_size": size}
        compare("MatMulNBits", inputs, tolerance=1e-3, constants=[1, 2, 3, 5], **attributes)


def test_matmul_of_three_bits_is_refused():
    rng = np.random.default_rng(0)
    packed, scales = matmul_inputs(rng, 4, 2, 16, 16)
    with pytest.raises(whorl.LoadError) as caught:
        whorl.load(model_of("MatMulNBits", [floats(rng, 1, 16), packed, scales], K=16, N=2, bits=3, block_size=16))
    assert str(caught.value) == "MatMulNBits 'node': has weights of 3 bits\n  fix: 2, 4 or 8"


def test_matmul_bnb4_equals_onnxruntime():
    for rng in configurations():
        count, rows = lengths(rng, 2)
        size = [16, 32][rng.integers(2)]
        columns = int(rng.integers(1, 4)) * size
        packed = rng.integers(0, 256, rows * columns // 2).astype(np.uint8)
        scales = rng.uniform(0.01, 0.1, -(-rows * columns // size)).astype(np.float32)
        attributes = {"K": columns, "N": rows, "block_size": size, "quant_type": int(rng.integers(2))}
        inputs = [floats(rng, count, columns), packed, scales]
        compare("MatMulBnb4", inputs, tolerance=1e-4, constants=[1, 2], **attributes)


def test_gather_of_blocks_equals_onnxruntime():
    for rng in configurations():
        rows, blocks = lengths(rng, 2)
        indices = rng.integers(0, rows, lengths(rng, 2)).astype([np.int32, np.int64][rng.integers(2)])
        scales = rng.uniform(0.01, 0.1, (rows, blocks)).astype(np.float32)
        dtype = [ml_dtypes.int4, ml_dtypes.uint4][rng.integers(2)]
        low = -8 if dtype == ml_dtypes.int4 else 0
        data = rng.integers(low, low + 16, (rows, blocks * 16)).astype(dtype)
        zeros = rng.integers(low, low + 16, (rows, blocks)).astype(dtype) if chance(rng) else None
        attributes = {"quantize_axis": 1, "gather_axis": 0, "block_size": 16}
        compare("GatherBlockQuantized", [data, indices, scales, zeros], constants=[0, 2, 3], **attributes)


def test_gather_of_packed_blocks_equals_onnxruntime():
    for rng in configurations():
        rows, blocks = lengths(rng, 2)
        indices = rng.integers(0, rows, lengths(rng, 2))
        bits = [4, 8][rng.integers(2)]
        scales = rng.uniform(0.01, 0.1, (rows, blocks)).astype(np.float32)
        data = rng.integers(0, 256, (rows, blocks * 16 * bits // 8)).astype(np.uint8)
        zeros = rng.integers(0, 256, (rows, -(-blocks * bits // 8))).astype(np.uint8) if chance(rng) else None
        attributes = {"quantize_axis": 1, "gather_axis": 0, "block_size": 16, "bits": bits}
        compare("GatherBlockQuantized", [data, indices, scales, zeros], constants=[0, 2, 3], **attributes)
