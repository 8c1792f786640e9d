"""Random attentions: attributes and inputs that onnxruntime takes."""

import numpy as np


def normal(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def configuration(seed, windows=False):
    """Random attributes and inputs."""
    rng = np.random.default_rng(seed)
    batch, kv_heads, shared, queries, new, size, v_size = (int(n) for n in rng.integers(1, 4, 7))
    past = int(rng.integers(1, 4)) if rng.integers(3) == 0 else 0
    if past and queries == 1:
        new = 1  # onnxruntime drops the causal mask for one query, whatever the number of new keys
    heads, total = kv_heads * shared, past + new
    attributes = {"qk_matmul_output_mode": int(rng.integers(4)), "is_causal": int(rng.integers(2))}
    attributes |= {"softcap": float(np.float32(rng.uniform(0.5, 3)))} if rng.integers(3) == 0 else {}
    attributes |= {"scale": float(np.float32(rng.uniform(0.1, 2)))} if rng.integers(3) == 0 else {}
    if windows:
        left, right = rng.integers(-1, 4, 2)
        attributes |= {"left_window_size": int(left), "right_window_size": int(right)}
    sizes = (heads, queries, size), (kv_heads, new, size), (kv_heads, new, v_size)
    if rng.integers(2):
        tensors = [normal(rng, batch, *rest) for rest in sizes]
    else:
        attributes |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
        tensors = [normal(rng, batch, length, count * width) for count, length, width in sizes]
    shape = [(queries, total), (1, 1, queries, total), (batch, 1, queries, total), (batch, heads, queries, total)]
    kind, chosen = rng.integers(3), shape[rng.integers(4)]
    mask = [None, normal(rng, *chosen), rng.integers(0, 3, chosen) > 0][kind]
    cache = [normal(rng, batch, kv_heads, past, width) if past else None for width in (size, v_size)]
    nonpad = rng.integers(0, new + 1, batch) if not past and rng.integers(3) == 0 else None
    return attributes, [*tensors, mask, *cache, nonpad]
