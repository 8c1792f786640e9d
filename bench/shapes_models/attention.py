"""A block of self-attention as an encoder has it, over batches and lengths; shapes are computed in the graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from shapes_models.family import Call, Family, draw_weights, integers, normal, write_text

WIDTH, HEADS = 256, 4
HEAD = WIDTH // HEADS
BATCHES, LENGTHS = (1, 2, 3, 8), (4, 7, 12, 16, 25, 33, 48, 64, 100, 128)
PROJECT = """
  {n}_product = MatMul (x, w{n})
  {n}_flat = Add ({n}_product, b{n})
  {n}_heads = Reshape ({n}_flat, heads)
  {n} = Transpose <perm = {perm}> ({n}_heads)
"""
BLOCK = """
  mask_rows = Unsqueeze (mask, axes)
  mask_float = Cast <to = 1> (mask_rows)
  absent = Sub (unit, mask_float)
  penalty = Mul (absent, lowest)
  products = MatMul (query, key)
  scaled = Div (products, root)
  scores = Add (scaled, penalty)
  weights = Softmax <axis = -1> (scores)
  mixed = MatMul (weights, value)
  mixed_rows = Transpose <perm = [0, 2, 1, 3]> (mixed)
  mixed_flat = Reshape (mixed_rows, flat)
  out_product = MatMul (mixed_flat, wout)
  out = Add (out_product, bout)
  attended = Add (out, x)
  normed = LayerNormalization <axis = -1> (attended, scale_a, shift_a)
  wide_product = MatMul (normed, w1)
  wide = Add (wide_product, b1)
  divided = Div (wide, root_2)
  bell = Erf (divided)
  raised = Add (bell, unit)
  doubled = Mul (wide, raised)
  gelu = Mul (doubled, one_half)
  narrow_product = MatMul (gelu, w2)
  narrow = Add (narrow_product, b2)
  both = Add (narrow, normed)
  y = LayerNormalization <axis = -1> (both, scale_b, shift_b)
"""
SHAPES = """
  x_shape = Shape (x)
  batch = Gather <axis = 0> (x_shape, zero)
  length = Gather <axis = 0> (x_shape, one)
  batches = Unsqueeze (batch, zeros)
  lengths = Unsqueeze (length, zeros)
  heads = Concat <axis = 0> (batches, lengths, head_counts, head_widths)
  flat = Concat <axis = 0> (batches, lengths, widths)
"""


def write(path: Path) -> None:
    perms = {"query": [0, 2, 1, 3], "key": [0, 2, 3, 1], "value": [0, 2, 1, 3]}
    projections = "".join(PROJECT.format(n=name, perm=perm) for name, perm in perms.items())
    head = f"attention (float[batch_size, length_of, {WIDTH}] x, int64[batch_size, length_of] mask)"
    text = f"{head} => (float[batch_size, length_of, {WIDTH}] y) {{ {SHAPES} {projections} {BLOCK} }}"
    shapes: dict[str, tuple[int, ...]] = {f"w{name}": (WIDTH, WIDTH) for name in (*perms, "out")}
    shapes |= {f"b{name}": (WIDTH,) for name in (*perms, "out")} | {"shift_a": (WIDTH,), "shift_b": (WIDTH,)}
    shapes |= {"w1": (WIDTH, 4 * WIDTH), "b1": (4 * WIDTH,), "w2": (4 * WIDTH, WIDTH), "b2": (WIDTH,)}
    floats = {"unit": 1.0, "lowest": -1e4, "root": HEAD**0.5, "root_2": 2**0.5, "one_half": 0.5}
    weights = draw_weights(0, shapes) | {name: np.array(value, np.float32) for name, value in floats.items()}
    weights |= {name: np.ones(WIDTH, np.float32) for name in ("scale_a", "scale_b")}
    weights |= integers(
        {"zero": 0, "one": 1, "zeros": [0], "axes": [1, 2]}
        | {"head_counts": [HEADS], "head_widths": [HEAD], "widths": [WIDTH]}
    )
    write_text(text, weights, path)


def call(batch: int, length: int) -> Call:
    mask = (np.arange(length) < max(1, length - 2)).astype(np.int64)
    return Call(f"{batch}x{length}", {"x": normal(length, batch, length, WIDTH), "mask": np.tile(mask, (batch, 1))})


def attention() -> Family:
    return Family("attention", write, tuple(call(b, n) for n in LENGTHS for b in BATCHES))
