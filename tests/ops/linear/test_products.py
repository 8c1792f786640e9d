"""Matrix products beyond the backend suite."""

import ml_dtypes
import numpy as np
import pytest
from evaluation import evaluate, floats, shaped, types, unranked
from one_program import check_one_program

from whorl.errors import RunError, TypeRuleError
from whorl.ir import dims
from whorl.ops.linear.products import Gemm, MatMul, MatMulInteger, QLinearMatMul

N, M, K = (dims.name(text) for text in "NMK")
U8, I8 = np.uint8, np.int8


def normal(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


@pytest.mark.parametrize(
    ("left", "right"),
    [((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4)), ((2, 1, 2, 3), (5, 3, 4))],
)
def test_product_of_every_rank_follows_numpy(left, right):
    a, b = normal(*left), normal(*right)
    result = evaluate(MatMul(), a, b)
    np.testing.assert_array_equal(result, np.matmul(a, b))
    assert types(MatMul(), shaped(*left), shaped(*right)) == f"float32{list(result.shape)}"


@pytest.mark.parametrize("dtype", [np.float32, np.int64, ml_dtypes.bfloat16])
def test_product_over_nothing_is_0(dtype):
    result = evaluate(MatMul(), np.zeros((2, 0), dtype), np.zeros((0, 3), dtype))
    assert result.dtype == dtype and result.astype(np.float32).tolist() == [[0] * 3] * 2
    assert evaluate(MatMul(), np.zeros(0, dtype), np.zeros(0, dtype)).shape == ()
    assert evaluate(MatMul(), np.zeros((0, 3), dtype), np.zeros((3, 2), dtype)).shape == (0, 2)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_integer_product_wraps(dtype):
    half = np.array([[2 ** (np.iinfo(dtype).bits // 2)]], dtype)
    result = evaluate(MatMul(), half, half)
    assert result.dtype == dtype and result.tolist() == [[0]]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_are_summed_in_float32(dtype):
    assert evaluate(MatMul(), np.ones((1, 3072), dtype), np.ones((3072, 1), dtype)).astype(np.float32) == 3072
    assert evaluate(Gemm(alpha=0.5), np.ones((1, 3072), dtype), np.ones((3072, 1), dtype)).astype(np.float32) == 1536


def test_nan_reaches_its_row_only():
    result = evaluate(MatMul(), floats([1, np.nan], [1, 1]), floats([0], [1]))
    np.testing.assert_array_equal(result, [[np.nan], [1]])


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (shaped(N, M), shaped(M, 4), "float32[N, 4]"),
        (shaped(N, M), shaped(K, 4), "float32[N, 4]"),
        (shaped(K, N, M), shaped(1, M, 4), "float32[K, N, 4]"),
        (shaped(K, N, M), shaped(N, M, 4), "float32[?, N, 4]"),
        (shaped(M), shaped(M), "float32[]"),
        (unranked(), shaped(3, 4), "float32[*]"),
    ],
)
def test_product_shape(a, b, expected):
    assert types(MatMul(), a, b) == expected


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (shaped(2, 3), shaped(4, 5), "cannot multiply [2, 3] by [4, 5]: inner lengths 3 and 4 differ"),
        (shaped(), shaped(4, 5), "an operand of a matrix product is a scalar\n  fix: multiply by Mul"),
        (
            shaped(2, 2, 3),
            shaped(3, 3, 5),
            "cannot broadcast [2] with [3]: lengths 2 and 3 do not broadcast\n  fix: make them equal or one of them 1",
        ),
        (
            shaped(2, 3),
            shaped(3, 3, dtype=np.float64),
            "inputs have different element types: float32, float64\n  fix: insert a Cast",
        ),
        (shaped(2, 3, dtype=bool), shaped(3, 3, dtype=bool), "does not accept bool"),
    ],
)
def test_wrong_product_is_refused(a, b, message):
    with pytest.raises(TypeRuleError) as caught:
        types(MatMul(), a, b)
    assert str(caught.value) == message


def test_wrong_lengths_at_run_time_are_named():
    with pytest.raises(RunError) as caught:
        evaluate(MatMul(), normal(2, 3), normal(4, 5))
    assert str(caught.value) == "cannot multiply [2, 3] by [4, 5]: inner lengths 3 and 4 differ"


@pytest.mark.parametrize("shape", [(2, 4), (4,), (1, 4), (2, 1), (1,), ()])
def test_gemm_broadcasts_its_third_input(shape):
    a, b, c = normal(3, 2), normal(4, 3), normal(*shape)
    result = evaluate(Gemm(alpha=0.5, beta=2.0, transA=1, transB=1), a, b, c)
    np.testing.assert_allclose(result, 0.5 * a.T @ b.T + 2 * c, rtol=1e-6)
    assert types(Gemm(transA=1, transB=1), shaped(3, 2), shaped(4, 3), shaped(*shape)) == "float32[2, 4]"


def test_gemm_without_third_input_or_inner_length():
    assert evaluate(Gemm(), np.zeros((2, 0), np.float32), np.zeros((0, 1), np.float32)).tolist() == [[0], [0]]
    assert evaluate(Gemm(), floats([2]), floats([3]), None).tolist() == [[6]]


def test_gemm_with_beta_0_does_not_read_its_third_input():
    assert evaluate(Gemm(beta=0.0), floats([2]), floats([3]), floats(np.nan)).tolist() == [[6]]


def test_gemm_of_integers_wraps_or_truncates():
    big, two = np.array([[2**31 - 1]], np.int32), np.array([[2]], np.int32)
    assert evaluate(Gemm(), big, two).tolist() == [[-2]]
    assert evaluate(Gemm(alpha=-1.0), two, two, two).tolist() == [[-2]]
    result = evaluate(Gemm(alpha=0.75, beta=0.5), two, two, np.array([[3]], np.int32))
    assert result.tolist() == [[4]] and result.dtype == np.int32


def test_gemm_knows_its_rank_when_its_inputs_are_unranked():
    assert types(Gemm(), unranked(), shaped(3, N), unranked()) == "float32[?, N]"


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ((shaped(2, 3, 1), shaped(3, 4)), "A has rank 3, expected 2"),
        ((shaped(2, 3), shaped(4, 3)), "the inner length is both 3 and 4"),
        ((shaped(2, 3), shaped(3, 4), shaped(3)), "C has shape [3], which does not broadcast to [2, 4]"),
        ((shaped(1, 3), shaped(3, 4), shaped(2, 4)), "C has shape [2, 4], which does not broadcast to [1, 4]"),
    ],
)
def test_wrong_gemm_is_refused(facts, message):
    with pytest.raises(TypeRuleError) as caught:
        types(Gemm(), *facts)
    assert str(caught.value) == message


def test_gemm_never_grows_to_its_third_input_at_run_time():
    with pytest.raises(RunError) as caught:
        evaluate(Gemm(), floats([1]), floats([1]), floats(1, 2))
    assert str(caught.value) == "C has shape [2], which does not broadcast to [1, 1]"


def test_integer_product_takes_zero_points_by_row_and_column():
    a, b = np.array([[1, 2], [3, 4]], U8), np.array([[1, -2], [3, -4]], I8)
    rows, columns = np.array([1, 3], U8), np.array([1, -2], I8)
    expected = (a.astype(np.int32) - [[1], [3]]) @ (b.astype(np.int32) - [1, -2])
    result = evaluate(MatMulInteger(), a, b, rows, columns)
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(evaluate(MatMulInteger(), a, b, rows[:, None], columns[None]), expected)
    np.testing.assert_array_equal(
        evaluate(MatMulInteger(), a, b, None, np.array([3], I8)), a @ (b.astype(np.int32) - 3)
    )


def test_integer_product_wraps_to_int32():
    count = 2**31 // 255**2 + 1
    result = evaluate(MatMulInteger(), np.full((1, count), 255, U8), np.full((count, 1), 255, U8))
    assert result.tolist() == [[count * 255**2 - 2**32]]


def test_integer_product_refuses_a_zero_point_for_nothing():
    with pytest.raises(TypeRuleError) as caught:
        types(MatMulInteger(), shaped(2, 3, dtype=U8), shaped(3, 4, dtype=U8), shaped(3, dtype=U8))
    assert str(caught.value) == "a_zero_point has shape [3], expected one element or one for each line of [2, 3]"


def quantized(a, b, zero, scale=1.0, dtype=U8):
    one = np.array(1.0, np.float32)
    no_a, no_b = np.zeros((), a.dtype), np.zeros((), b.dtype)
    return evaluate(QLinearMatMul(), a, one, no_a, b, one, no_b, np.array(scale, np.float32), np.array(zero, dtype))


def test_quantized_product_rounds_ties_to_even_and_saturates():
    a = np.array([[1], [3], [5], [255]], U8)
    result = quantized(a, np.array([[1]], U8), 10, 2.0)
    assert result.dtype == U8 and result.ravel().tolist() == [10, 12, 12, 138]
    assert quantized(a, np.array([[255]], U8), 0).ravel().tolist() == [255] * 4
    assert quantized(a, np.array([[-128]], I8), 0, dtype=I8).ravel().tolist() == [-128] * 4


def test_quantized_product_of_float8_saturates_to_its_largest():
    float8 = ml_dtypes.float8_e4m3fn
    result = quantized(np.array([[16, 448]], float8), np.array([[1], [1]], float8), 0, dtype=float8)
    assert result.dtype == float8 and result.astype(np.float32).tolist() == [[448]]


def test_quantized_product_takes_scales_by_row_and_column():
    a, b, none = np.array([[2], [4]], U8), np.array([[3, 5]], U8), np.zeros((), U8)
    scales = floats(1, 0.5), floats(2, 1)
    result = evaluate(QLinearMatMul(), a, scales[0], np.zeros(2, U8), b, scales[1], none, floats(1), none)
    assert result.tolist() == [[12, 10], [12, 10]]


@pytest.mark.parametrize("inner", [5, 300, 600])
@pytest.mark.parametrize("kinds", [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")], ids=" ".join)
def test_one_program_multiplies_bytes_of_any_number_of_rows(inner: int, kinds: tuple[str, str]) -> None:
    rng = np.random.default_rng(inner)

    def draw(kind: str, *shape: int) -> np.ndarray:
        return np.asarray(rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, kind, endpoint=True))

    b, zeros = draw(kinds[1], inner, 7), [draw(kind) for kind in kinds]
    scales = [np.array(x, np.float32) for x in (0.02, 0.03, 9.0)]
    rows = [draw(kinds[0], 2, n, inner) for n in (3, 7, 40)]
    check_one_program(MatMulInteger(), [[a, b, *zeros] for a in rows], constants=(1, 2, 3))
    check_one_program(MatMulInteger(), [[a, b, zeros[0], b[0]] for a in rows], constants=(1, 2, 3))
    check_one_program(MatMulInteger(), [[a, draw(kinds[1], inner, a.shape[1]), *zeros] for a in rows])
    cases = [[a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[0]] for a in rows]
    check_one_program(QLinearMatMul(), cases, constants=range(1, 8))
