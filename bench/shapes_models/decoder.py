"""A decoder of four layers, token by token: the caller feeds the keys and values of the tokens before."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from shapes_models.family import Call, Family, draw_weights, integers, normal, write_text

LAYERS, WIDTH, HEADS, WORDS, TOKENS = 4, 256, 4, 1000, 40
HEAD = WIDTH // HEADS
LAYER = """
  a{k} = LayerNormalization <axis = -1> (x{k}, scale_a{k}, shift_a{k})
  q_flat{k} = MatMul (a{k}, wq{k})
  k_flat{k} = MatMul (a{k}, wk{k})
  v_flat{k} = MatMul (a{k}, wv{k})
  q_heads{k} = Reshape (q_flat{k}, heads)
  k_heads{k} = Reshape (k_flat{k}, heads)
  v_heads{k} = Reshape (v_flat{k}, heads)
  q{k} = Transpose <perm = [0, 2, 1, 3]> (q_heads{k})
  k_new{k} = Transpose <perm = [0, 2, 1, 3]> (k_heads{k})
  v_new{k} = Transpose <perm = [0, 2, 1, 3]> (v_heads{k})
  keys{k} = Concat <axis = 2> (past_keys{k}, k_new{k})
  values{k} = Concat <axis = 2> (past_values{k}, v_new{k})
  columns{k} = Transpose <perm = [0, 1, 3, 2]> (keys{k})
  products{k} = MatMul (q{k}, columns{k})
  scores{k} = Mul (products{k}, score_scale)
  weights{k} = Softmax <axis = -1> (scores{k})
  mixed{k} = MatMul (weights{k}, values{k})
  mixed_rows{k} = Transpose <perm = [0, 2, 1, 3]> (mixed{k})
  mixed_flat{k} = Reshape (mixed_rows{k}, flat)
  attended{k} = MatMul (mixed_flat{k}, wo{k})
  y{k} = Add (x{k}, attended{k})
  m{k} = LayerNormalization <axis = -1> (y{k}, scale_m{k}, shift_m{k})
  wide{k} = MatMul (m{k}, w1{k})
  wide_biased{k} = Add (wide{k}, b1{k})
  rectified{k} = Relu (wide_biased{k})
  narrow{k} = MatMul (rectified{k}, w2{k})
  x{next} = Add (y{k}, narrow{k})
"""


def layer_weights(k: int) -> dict[str, np.ndarray]:
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("wq", "wk", "wv", "wo"), (WIDTH, WIDTH))
    shapes |= {"w1": (WIDTH, 4 * WIDTH), "b1": (4 * WIDTH,), "w2": (4 * WIDTH, WIDTH)}
    shapes |= {"shift_a": (WIDTH,), "shift_m": (WIDTH,)}
    ones = {name: np.ones(WIDTH, np.float32) for name in ("scale_a", "scale_m")}
    return {f"{name}{k}": array for name, array in (draw_weights(100 * k, shapes) | ones).items()}


def cache(name: str, axis: str) -> str:
    return ", ".join(f"float[1, {HEADS}, {axis}, {HEAD}] {name}{k}" for k in range(LAYERS))


def write(path: Path) -> None:
    inputs = f"int64[1, 1] token, {cache('past_keys', 'past')}, {cache('past_values', 'past')}"
    outputs = f"float[1, 1, {WORDS}] logits, {cache('keys', 'total')}, {cache('values', 'total')}"
    nodes = "".join(LAYER.format(k=k, next=k + 1) for k in range(LAYERS))
    text = f"""decoder ({inputs}) => ({outputs}) {{
  past_shape = Shape (past_keys0)
  position = Gather <axis = 0> (past_shape, twos)
  embedded = Gather <axis = 0> (words, token)
  position_row = Gather <axis = 0> (positions, position)
  x0 = Add (embedded, position_row)
  {nodes}
  logits = MatMul (x{LAYERS}, unembed)
}}"""
    weights = draw_weights(7, {"positions": (1024, WIDTH), "unembed": (WIDTH, WORDS)})
    weights |= {"words": normal(3, WORDS, WIDTH), "score_scale": np.array(HEAD**-0.5, np.float32)}
    weights |= integers({"twos": [2], "heads": [1, -1, HEADS, HEAD], "flat": [1, -1, WIDTH]})
    for k in range(LAYERS):
        weights |= layer_weights(k)
    write_text(text, weights, path)


def call(past: int) -> Call:
    names = [f"past_{part}{k}" for part in ("keys", "values") for k in range(LAYERS)]
    caches = {name: normal(past + n, 1, HEADS, past, HEAD) for n, name in enumerate(names)}
    return Call(f"past {past}", {"token": np.array([[past]], np.int64)} | caches)


def decoder() -> Family:
    return Family("decoder", write, tuple(call(past) for past in range(TOKENS)), memory=1.5)
