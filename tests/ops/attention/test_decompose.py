"""Attention as simpler nodes gives what the op gives."""

import ml_dtypes
import numpy as np
import pytest
from ops.attention.samples import configuration

from whorl.ir import dims
from whorl.ir.build import Builder
from whorl.ir.graph import Module, Region
from whorl.ir.infer import Inference
from whorl.ir.types import TensorType
from whorl.ir.verify import verify
from whorl.ops.attention.dot_product import Attention
from whorl.runtime.session import Session


def decomposed(op, inputs, shapes=None):
    """The program of an op written out, and the feeds of its inputs; None where it stays one op."""
    region = Region("main")
    build = Builder(region, Inference())
    values = [
        None if x is None else region.add_argument(f"x{k}", TensorType(x.dtype, shapes[k] if shapes else x.shape))
        for k, x in enumerate(inputs)
    ]
    outputs = op.decompose(values, build)
    if outputs is None:
        assert not region.nodes
        return None
    region.results = list(outputs)
    module = Module(region, [f"y{k}" for k in range(len(outputs))])
    verify(module)
    return module


def check(op, inputs, tolerance=1e-5):
    module = decomposed(op, inputs)
    assert module is not None and not any(isinstance(node.op, Attention) for node in module.nodes())
    feeds = {f"x{k}": x for k, x in enumerate(inputs) if x is not None}
    with np.errstate(all="ignore"):
        expected = op.run(*inputs)
        results = Session(module, backend="interpreter").execute(None, feeds)
    for a, b in zip(expected if isinstance(expected, tuple) else [expected], results, strict=False):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(b.astype(np.float64), a.astype(np.float64), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_nodes_mean_the_op(seed, windows):
    attributes, inputs = configuration(seed, windows)
    check(Attention(**attributes), inputs)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_other_floats_are_summed_as_the_op_sums_them(dtype):
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(1, 2, 3, 4)).astype(dtype) for _ in range(3))
    eps = float(ml_dtypes.finfo(dtype).eps)
    check(Attention(is_causal=1), [q, k, v], 4 * eps if np.dtype(dtype).itemsize == 2 else 1e-12)


def test_mask_shorter_than_the_keys_leaves_the_rest_out():
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(1, 1, n, 4)).astype(np.float32) for n in (2, 5, 5))
    for mask in (np.ones((2, 3), bool), np.zeros((2, 3), np.float32), np.array([[True, False, True], [False] * 3])):
        check(Attention(), [q, k, v, mask])


@pytest.mark.parametrize("shape", [(2, 0, 3, 4), (0, 2, 3, 4), (2, 2, 0, 4), (dims.UNKNOWN, 2, 3, 4)])
def test_open_and_empty_shapes_stay_one_op(shape):
    x = np.zeros([n if isinstance(n, int) else 1 for n in shape], np.float32)
    assert decomposed(Attention(), [x, x, x], [shape] * 3) is None


def test_lengths_that_have_names_are_written_out_where_they_may_agree():
    x, (n, m) = np.zeros((1, 2, 3, 4), np.float32), map(dims.name, "NM")
    queries, keys = (n, 2, 3, 4), (n, 2, m, 4)
    assert decomposed(Attention(is_causal=1), [x, x, x], [queries, keys, keys]) is not None
    assert decomposed(Attention(), [x, x, x], [(m, 2, 3, 4), keys, keys]) is not None
    for mask in ((3, m), (3, n), (n, m)):
        assert decomposed(Attention(), [x, x, x, x[0, 0, :, :3]], [queries, keys, keys, mask]) is not None
    for shapes in ([queries, keys, queries], [(n, m, 3, 4), keys, keys]):
        assert decomposed(Attention(), [x, x, x], shapes) is None
    for mask in ((3, 1), (3, 2)):
        assert decomposed(Attention(), [x, x, x, x[0, 0, :, :3]], [queries, keys, keys, mask]) is None
