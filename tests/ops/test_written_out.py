"""Attention, RotaryEmbedding, Einsum and products of bytes, written out as simpler nodes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from written_out import check_written_out, interpreted

from whorl.ops.attention.dot_product import Attention
from whorl.ops.attention.rotary import RotaryEmbedding
from whorl.ops.linear.einsum import Einsum
from whorl.ops.linear.products import MatMulInteger, QLinearMatMul

RNG = np.random.default_rng(0)


def normal(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.asarray(RNG.standard_normal(shape)).astype(dtype)


# ---- attention -----------------------------------------------------------------------------------------------

MASKS = {
    "none": lambda keys: None,
    "bool": lambda keys: RNG.random((5, keys)) > 0.3,
    "float": lambda keys: normal(5, keys),
    "short": lambda keys: RNG.random((2, 1, 5, keys - 1)) > 0.4,
}


def attention_inputs(rank: int, past: int = 0, mask: str = "none", dtype: Any = np.float32) -> list[Any]:
    """Two batches, four query heads that share two key heads, five queries, six new keys."""

    def heads(count: int, length: int, size: int) -> np.ndarray:
        return normal(*((2, count, length, size) if rank == 4 else (2, length, count * size)), dtype=dtype)

    before = [normal(2, 2, past, size, dtype=dtype) for size in (8, 7)] if past else [None, None]
    return [heads(4, 5, 8), heads(2, 6, 8), heads(2, 6, 7), MASKS[mask](6 + past), *before]


@pytest.mark.parametrize("mask", list(MASKS))
@pytest.mark.parametrize(
    ("rank", "past", "windows"),
    [
        (4, 0, {}),
        (3, 3, {"is_causal": 1}),
        (4, 0, {"left_window_size": 1, "right_window_size": 1}),
        (3, 2, {"is_causal": 1, "left_window_size": 2}),
    ],
)
def test_attention_with_masks_is_written_out(rank: int, past: int, windows: dict[str, int], mask: str) -> None:
    heads = {"q_num_heads": 4, "kv_num_heads": 2} if rank == 3 else {}
    check_written_out(Attention(**windows, **heads), attention_inputs(rank, past, mask), 4, 3e-6)


@pytest.mark.parametrize("mode", range(4))
def test_attention_gives_the_scores_of_every_stage(mode: int) -> None:
    op = Attention(qk_matmul_output_mode=mode, softcap=2.0, scale=0.3, is_causal=1)
    check_written_out(op, attention_inputs(4), 4, 3e-6)


def test_attention_with_padding_is_written_out() -> None:
    check_written_out(Attention(is_causal=1), [*attention_inputs(4), np.array([6, 2])], 4, 3e-6)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float16, 4e-3), (ml_dtypes.bfloat16, 4e-2), (np.float64, 1e-12)])
def test_attention_of_other_floats_is_written_out(dtype: Any, tolerance: float) -> None:
    check_written_out(Attention(), attention_inputs(4, dtype=dtype), 4, tolerance)


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("rotated", [0, 4])
def test_rotary_embedding_is_written_out(interleaved: int, rotated: int) -> None:
    pairs, ids = (rotated or 8) // 2, RNG.integers(-20, 20, (2, 5))
    caches = normal(20, pairs), normal(20, pairs)
    op = RotaryEmbedding(interleaved=interleaved, rotary_embedding_dim=rotated)
    check_written_out(op, [normal(2, 3, 5, 8), *caches, ids], 1, 2e-6)
    check_written_out(op, [normal(2, 3, 5, 8), normal(2, 5, pairs), normal(2, 5, pairs)], 1, 2e-6)
    op = RotaryEmbedding(interleaved=interleaved, rotary_embedding_dim=rotated, num_heads=3)
    check_written_out(op, [normal(2, 5, 24, dtype=np.float16), *(c.astype(np.float16) for c in caches), ids], 1, 2e-3)


# ---- sums of products ----------------------------------------------------------------------------------------

EQUATIONS = [
    ("ij,jk->ik", (3, 4), (4, 5)),
    ("bsd,dhk->bshk", (2, 3, 8), (8, 2, 5)),
    ("bqhd,bkhd->bhqk", (2, 3, 4, 5), (2, 6, 4, 5)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (7, 4, 5)),
    ("...ij,jk", (2, 3, 4), (4, 5)),
    ("i,j->ij", (3,), (4,)),
    ("i,i->", (3,), (3,)),
    ("ij->ji", (3, 4)),
    ("ij->", (3, 4)),
    ("ij,jk,kl->il", (3, 4), (4, 5), (5, 2)),
    ("ij,ij->ij", (3, 4), (3, 4)),
    ("ij,jk->ik", (3, 1), (4, 5)),
    ("ij,jk->ik", (1, 1), (1, 1)),
    ("abc,cd->bd", (2, 3, 4), (4, 5)),
]


@pytest.mark.parametrize(("equation", "shapes"), [(e, s) for e, *s in EQUATIONS], ids=lambda x: str(x))
def test_einsum_is_written_out(equation: str, shapes: list[tuple[int, ...]]) -> None:
    check_written_out(Einsum(equation), [normal(*s) for s in shapes], 1, 1e-5)
    integers = [RNG.integers(-50, 50, s).astype(np.int32) for s in shapes]
    check_written_out(Einsum(equation), integers)


def test_einsum_of_a_diagonal_remains_one_op() -> None:
    with pytest.raises(AssertionError):
        interpreted(Einsum("ii->i"), [normal(3, 3)])


# ---- bytes ---------------------------------------------------------------------------------------------------


def any_bytes(dtype: str, *shape: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.asarray(RNG.integers(limits.min, limits.max + 1, shape)).astype(dtype)


@pytest.mark.parametrize("inner", [5, 300])
@pytest.mark.parametrize(("left", "right"), [("int8", "uint8"), ("uint8", "int8")])
def test_integer_products_are_exact(left: str, right: str, inner: int) -> None:
    a, b = any_bytes(left, 2, 4, inner), any_bytes(right, inner, 7)
    check_written_out(MatMulInteger(), [a, b])
    check_written_out(MatMulInteger(), [a[0], b, any_bytes(left, 4), any_bytes(right, 7)])
    check_written_out(MatMulInteger(), [a, b, any_bytes(left, 4, 1), any_bytes(right)])
    check_written_out(MatMulInteger(), [a[0, 0], b, None, any_bytes(right, 1)])


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_quantized_products_are_exact(dtype: str) -> None:
    def scales(*shape: int) -> np.ndarray:
        return np.asarray(RNG.random(shape) * 0.05 + 0.001).astype(dtype)

    a, b = any_bytes("uint8", 3, 4, 30), any_bytes("int8", 3, 30, 7)
    one = [a, scales(1), any_bytes("uint8", 1), b, scales(), any_bytes("int8"), scales(1), any_bytes("uint8", 1)]
    each = [a[0], scales(4), any_bytes("uint8", 4), b[0], scales(7), any_bytes("int8", 7), scales(4)]
    check_written_out(QLinearMatMul(), one)
    check_written_out(QLinearMatMul(), [*each, any_bytes("int8", 4)])
