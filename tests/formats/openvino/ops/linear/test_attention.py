"""Attention and rotary embeddings."""

import numpy as np
import pytest
from formats.openvino.one_layer import Input, check_layer, check_node, scalar

from whorl.ops.attention.dot_product import Attention
from whorl.ops.attention.rotary import RotaryEmbedding

NUMBERS = np.random.default_rng(19)


def normal(*shape: int) -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype(np.float32)


Q, K, V = normal(2, 4, 3, 8), normal(2, 4, 5, 8), normal(2, 4, 5, 6)
REACHED = np.array([[True, False, True, True, False], [True, True, False, False, True], [True] * 5])


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    "rest",
    [[], [normal(2, 1, 3, 5)], [REACHED], [normal(3, 5), scalar(0.3, np.float32)]],
    ids=["plain", "mask", "bool", "scale"],
)
def test_scaled_dot_products(rest: list[Input], causal: bool) -> None:
    check_layer("ScaledDotProductAttention", 13, [Q, K, V, *rest], {"causal": causal})


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        (Attention(), [Q, K, V]),
        (Attention(is_causal=1, softcap=2.0), [Q, K, V, ~REACHED]),
        (Attention(q_num_heads=4, kv_num_heads=2), [normal(2, 3, 32), normal(2, 5, 16), normal(2, 5, 16)]),
    ],
    ids=["plain", "masked", "shared"],
)
def test_attention_written(op: Attention, inputs: list) -> None:
    check_node(op, inputs, outputs=4, dynamic=[False])


def test_rotary_embedding_written() -> None:
    positions = np.array([[0, 1, 2], [3, 4, 5]])
    check_node(RotaryEmbedding(), [normal(2, 4, 3, 8), normal(10, 4), normal(10, 4), positions], dynamic=[False])
