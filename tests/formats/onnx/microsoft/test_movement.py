"""Elements moved, picked and padded: equal to onnxruntime."""

import numpy as np
import pytest
from formats.onnx.microsoft.contributed_peer import chance, compare, configurations, floats, lengths, model_of

import whorl


def test_trilu_equals_onnxruntime():
    for rng in configurations():
        k = [np.array(rng.integers(-3, 4))] if chance(rng) else []
        compare("Trilu", [floats(rng, *lengths(rng, 3)), *k], upper=int(chance(rng)))


def test_unique_equals_onnxruntime():
    for rng in configurations():
        compare("Unique", [rng.integers(0, 5, lengths(rng, 1, 9)).astype(np.float32)], [True] * 3)


def test_range_equals_onnxruntime():
    for rng in configurations():
        dtype, shape = [np.float32, np.int32, np.int64, np.float64][rng.integers(4)], [(), (1,)][rng.integers(2)]
        delta = [np.array(rng.integers(1, 3), dtype).reshape(shape)] if chance(rng) else []
        bounds = (np.array(n, dtype).reshape(shape) for n in (rng.integers(0, 3), rng.integers(3, 9)))
        compare("Range", [*bounds, *delta])


def test_expand_dims_equals_onnxruntime():
    for rng in configurations():
        rank = int(rng.integers(1, 4))
        axis = np.array(rng.integers(-rank - 1, rank + 1), np.int32)
        compare("ExpandDims", [floats(rng, *lengths(rng, rank)), axis])


def test_gather_nd_equals_onnxruntime():
    for rng in configurations():
        shape, depth = lengths(rng, 3), int(rng.integers(1, 4))
        rows = [rng.integers(0, n, 4) for n in shape[:depth]]
        dtype = [np.int32, np.int64][rng.integers(2)]
        compare("GatherND", [floats(rng, *shape), np.stack(rows, axis=1).astype(dtype)])


def test_pad_equals_onnxruntime():
    for rng in configurations():
        mode = ["constant", "edge"][rng.integers(2)]
        value = [floats(rng, 1)] if chance(rng) and mode == "constant" else []
        pads = rng.integers(0, 3, 6)
        compare("Pad", [floats(rng, *lengths(rng, 3)), pads[None] if chance(rng) else pads, *value], mode=mode)


def test_sample_op_equals_onnxruntime():
    for rng in configurations():
        compare("SampleOp", [floats(rng, *lengths(rng, 2))])


def test_unfold_tensor_equals_onnxruntime():
    for rng in configurations():
        shape, axis = [n + 3 for n in lengths(rng, 3)], int(rng.integers(-3, 3))
        compare(
            "UnfoldTensor", [floats(rng, *shape)], dim=axis, size=int(rng.integers(1, 4)), step=int(rng.integers(1, 3))
        )


def test_blocked_ngrams_equal_onnxruntime():
    for rng in configurations():
        batch, time = lengths(rng, 2, 12)
        tokens = rng.integers(0, 3, (batch, time))
        compare("NGramRepeatBlock", [tokens, floats(rng, batch, 3)], ngram_size=int(rng.integers(1, 4)))


def test_murmur_hash_equals_onnxruntime():
    for rng in configurations():
        dtype = [np.int32, np.uint32, np.int64, np.uint64][rng.integers(4)]
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, lengths(rng, 2), dtype)
        compare("MurmurHash3", [x], positive=int(chance(rng)), seed=int(rng.integers(100)))


def test_murmur_hash_of_other_types_is_refused():
    with pytest.raises(whorl.UnsupportedError) as caught:
        whorl.load(model_of("MurmurHash3", [np.ones(2, np.float64)]))
    assert str(caught.value) == ("MurmurHash3 'node': hashes of float64 are not implemented\n  fix: hash integers")
