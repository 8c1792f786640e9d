"""Pooling against onnxruntime over random configurations, and what the source says beyond it."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, listed, shaped, types, unranked
from one_program import check_one_program
from peer import assert_same

from whorl.errors import TypeRuleError
from whorl.ir import dims
from whorl.ir.graph import Op
from whorl.ops.windows.pooling import AveragePool, GlobalAveragePool, GlobalLpPool, GlobalMaxPool, LpPool, MaxPool
from whorl.ops.windows.unpooling import MaxUnpool

N, C, H, W = (dims.name(text) for text in "NCHW")
INF, NAN = np.inf, np.nan
HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]


def configuration(seed):
    """A random X and the attributes of a pool over it; onnxruntime wants pads below the kernel, and no gaps in SAME."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 4))
    kernel, dilations = ([int(n) for n in rng.integers(1, high, rank)] for high in (4, 3))
    lengths = [int(n) + (k - 1) * d for n, k, d in zip(rng.integers(1, 6, rank), kernel, dilations, strict=True)]
    x = rng.normal(size=(*rng.integers(1, 4, 2), *lengths)).astype(np.float32)
    attributes = {"kernel_shape": kernel, "strides": [int(n) for n in rng.integers(1, 4, rank)]}
    if rng.integers(2):
        attributes |= {"pads": [int(rng.integers(0, k)) for k in kernel * 2], "dilations": dilations}
    else:
        attributes["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER"]))
        attributes["strides"] = [min(s, k) for s, k in zip(attributes["strides"], kernel, strict=True)]
    return rng, x, attributes | {"ceil_mode": int(rng.integers(2))}


@pytest.mark.parametrize("seed", range(25))
def test_max_pool_is_onnxruntimes(seed):
    rng, x, attributes = configuration(seed)
    assert_same("MaxPool", [x], 12, **attributes)
    assert_same("MaxPool", [x], 12, [np.float32, np.int64], storage_order=int(rng.integers(2)), **attributes)
    for dtype in (np.int8, np.uint8):
        assert_same("MaxPool", [rng.integers(0, 127, x.shape).astype(dtype)], 12, [dtype], **attributes)


@pytest.mark.parametrize("seed", range(25))
def test_means_and_norms_are_onnxruntimes(seed):
    rng, x, attributes = configuration(seed)
    assert_same("AveragePool", [x], 19, count_include_pad=int(rng.integers(2)), **attributes)
    assert_same("LpPool", [x], 18, p=int(rng.integers(1, 4)), **attributes)
    assert_same("GlobalAveragePool", [x], 1)
    assert_same("GlobalMaxPool", [x], 1)
    assert_same("GlobalLpPool", [x], 2, p=int(rng.integers(1, 4)))


def test_max_pool_takes_the_first_of_equal_elements():
    x = np.zeros((1, 1, 3, 3), np.float32)
    _, positions = evaluate(MaxPool((2, 2), output_count=2), x)
    assert positions.tolist() == [[[[0, 1], [3, 4]]]]


def test_max_pool_locations_count_over_the_whole_batch():
    x = np.arange(16, dtype=np.float32).reshape(2, 2, 4)
    _, positions = evaluate(MaxPool((2,), strides=(2,), output_count=2), x)
    assert positions.tolist() == [[[1, 3], [5, 7]], [[9, 11], [13, 15]]]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_max_pool_finds_nan_and_infinities(dtype):
    x = np.array([[[-INF, -INF, 1, NAN, 2, NAN]]]).astype(dtype)
    values, positions = evaluate(MaxPool((2,), output_count=2), x)
    assert values.dtype == dtype and positions.tolist() == [[[0, 2, 3, 3, 5]]]
    np.testing.assert_array_equal(values.astype(float), [[[-INF, 1, NAN, NAN, NAN]]])
    np.testing.assert_array_equal(evaluate(MaxPool((2,)), x).astype(float), values.astype(float))


def test_max_pool_of_integers_ignores_the_padding():
    x = np.full((1, 1, 1), -100, np.int8)
    assert evaluate(MaxPool((3,), pads=(1, 1)), x).tolist() == [[[-100]]]


def test_windows_of_nothing_give_least_mean_nan():
    x = np.ones((1, 1, 1), np.float32)
    assert evaluate(MaxPool((1,), pads=(1, 0), output_count=2), x)[0].tolist() == [[[-INF, 1]]]
    assert evaluate(MaxPool((1,), pads=(1, 0), output_count=2), x)[1].tolist() == [[[-1, 0]]]
    np.testing.assert_array_equal(evaluate(AveragePool((1,), pads=(1, 0)), x), [[[NAN, 1]]])
    assert evaluate(AveragePool((1,), pads=(1, 0), count_include_pad=1), x).tolist() == [[[0, 1]]]


@pytest.mark.parametrize("dtype", HALVES)
def test_halves_are_summed_in_float32(dtype):
    x = np.full((1, 1, 3000), 30).astype(dtype)
    for op in (AveragePool((3000,)), GlobalAveragePool()):
        result = evaluate(op, x)
        assert result.dtype == dtype and result.astype(float).item() == 30
    x = np.full((1, 1, 100), 50).astype(dtype)  # the sum of squares is beyond float16
    for op in (LpPool((100,)), GlobalLpPool()):
        assert evaluate(op, x).astype(float).item() == 500


def test_large_kernels_take_one_step_an_axis_element():
    x = np.random.default_rng(0).normal(size=(1, 2, 150, 150)).astype(np.float32)
    np.testing.assert_allclose(evaluate(AveragePool((150, 150)), x), evaluate(GlobalAveragePool(), x), atol=1e-5)
    np.testing.assert_array_equal(evaluate(MaxPool((150, 150)), x), evaluate(GlobalMaxPool(), x))


@pytest.mark.parametrize("op", [AveragePool((2,)), MaxPool((2,)), LpPool((2,)), GlobalMaxPool(), GlobalLpPool()])
def test_empty_batches_give_empty_results(op):
    assert evaluate(op, np.ones((0, 3, 4), np.float32)).shape[:2] == (0, 3)


def test_global_pools_of_empty_planes():
    x = np.ones((1, 2, 0, 3), np.float32)
    assert evaluate(GlobalMaxPool(), x).tolist() == [[[[-INF]], [[-INF]]]]
    assert evaluate(GlobalLpPool(), x).tolist() == [[[[0]], [[0]]]]
    assert np.isnan(evaluate(GlobalAveragePool(), x)).all()


# ---- unpooling -----------------------------------------------------------------------------------------------------


# ---- types ---------------------------------------------------------------------------------------------------------


def test_named_dims_follow_the_formula():
    x = shaped(N, C, H, W)
    half = {"kernel_shape": (2, 2), "strides": (2, 2)}
    assert types(AveragePool(**half), x) == "float32[N, C, floor(H, 2), floor(W, 2)]"
    assert types(AveragePool(**half, ceil_mode=1), x) == "float32[N, C, floor(H+1, 2), floor(W+1, 2)]"
    positions = "int64[N, C, floor(H, 2), floor(W, 2)]"
    assert types(MaxPool(**half), x) == f"float32[N, C, floor(H, 2), floor(W, 2)], {positions}"
    assert types(GlobalLpPool(), x) == "float32[N, C, 1, 1]"
    assert types(MaxUnpool(**half), x, shaped(N, C, H, W, dtype=np.int64)) == "float32[N, C, 2*H, 2*W]"
    assert types(MaxUnpool(**half), x, unranked(np.int64), listed(N, C, 9, 9)) == "float32[N, C, 9, 9]"
    assert types(MaxUnpool(**half), x, unranked(np.int64), unranked(np.int64)) == "float32[?, ?, ?, ?]"


def test_unranked_inputs_give_what_the_attributes_tell():
    assert types(LpPool((2, 2)), unranked(np.float16)) == "float16[?, ?, ?, ?]"
    assert types(GlobalMaxPool(), unranked(np.float64)) == "float64[*]"


@pytest.mark.parametrize(
    ("op", "fact", "message"),
    [
        (MaxPool((2,)), shaped(1, 2, 3, 4), "X has rank 4, expected 3"),
        (MaxPool((2,)), shaped(1, 2, 3, dtype=np.int32), "does not accept int32"),
        (AveragePool(()), shaped(1, 2), "kernel_shape is empty\n  fix: give one entry for each spatial axis"),
        (AveragePool((2,), pads=(1,)), shaped(1, 2, 3), "pads has 1 entries, expected 2"),
        (LpPool((2,), p=0), shaped(1, 2, 3), "p is 0, expected a positive integer"),
        (GlobalMaxPool(), shaped(3), "a tensor of rank 1 has no batch and channel axes"),
    ],
)
def test_ill_typed_pool_says_why(op, fact, message):
    with pytest.raises(TypeRuleError) as raised:
        op.infer(fact)
    assert str(raised.value) == message


HOW = {
    "plain": {"kernel_shape": (2, 2)},
    "padded": {"kernel_shape": (3, 2), "pads": (2, 1, 2, 0), "strides": (2, 1)},
    "ceil": {"kernel_shape": (2, 2), "strides": (3, 3), "pads": (1, 0, 1, 1), "ceil_mode": 1},
    "same": {"kernel_shape": (2, 2), "strides": (2, 1), "auto_pad": "SAME_UPPER"},
    "dilated": {"kernel_shape": (2, 2), "dilations": (2, 1), "pads": (2, 0, 1, 0)},
}
SIZES = ((2, 3, 3, 4), (3, 2, 7, 5), (2, 4, 9, 40))


def images(dtype: str, *, nan: bool = False) -> list[list[np.ndarray | None]]:
    rng = np.random.default_rng(3)
    made = [rng.integers(-4, 5, shape).astype(dtype) for shape in SIZES]
    for x in made if nan else []:
        x.reshape(-1)[:: max(3, x.size // 4)] = np.nan
    return [[x] for x in made]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_one_program_pools_images_of_any_size(how: str, dtype: str) -> None:
    check_one_program(MaxPool(**HOW[how]), images(dtype, nan=True))
    for padded in (0, 1):
        check_one_program(AveragePool(**HOW[how], count_include_pad=padded), images(dtype))
    check_one_program(LpPool(**HOW[how], p=1), images(dtype))


@pytest.mark.parametrize("how", HOW)
def test_one_program_pools_one_image_of_one_channel(how: str) -> None:
    for op in (MaxPool(**HOW[how]), AveragePool(**HOW[how])):
        check_one_program(op, [[x[:1, :1]] for (x,) in images("float32") if x is not None])


def test_one_program_pools_bytes_of_any_size() -> None:
    check_one_program(MaxPool(**HOW["padded"]), images("int8"))


@pytest.mark.parametrize("op", [GlobalAveragePool(), GlobalMaxPool(), GlobalLpPool(1)])
def test_one_program_reduces_planes_of_any_size(op: Op) -> None:
    check_one_program(op, images("float32"))
