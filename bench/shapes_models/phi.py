"""A graph like Phi's with two layers: rotary positions chosen by an If, weights in a file beside it, 16 tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

from shapes_models.family import Call, Family, draw_weights, integers, normal, parse

LAYERS, WIDTH, HEADS, WORDS, PROMPT, LONGEST, NEAR = 2, 1024, 16, 32768, 16, 2048, 1024
HEAD = WIDTH // HEADS
TURNED = HEAD // 2
"""How many of a head's columns the rotation turns."""
ROTATE = """
  {n}_turned{k}, {n}_rest{k} = Split <axis = 3> ({n}_raw{k}, parts)
  {n}_left{k}, {n}_right{k} = Split <axis = 3> ({n}_turned{k}, halves)
  {n}_minus{k} = Neg ({n}_right{k})
  {n}_swapped{k} = Concat <axis = -1> ({n}_minus{k}, {n}_left{k})
  {n}_by_cos{k} = Mul ({n}_turned{k}, cos)
  {n}_by_sin{k} = Mul ({n}_swapped{k}, sin)
  {n}_sum{k} = Add ({n}_by_cos{k}, {n}_by_sin{k})
  {n}{k} = Concat <axis = -1> ({n}_sum{k}, {n}_rest{k})
"""
PROJECT = """
  {n}_product{k} = MatMul (a{k}, w{n}{k})
  {n}_flat{k} = Add ({n}_product{k}, b{n}{k})
  {n}_heads{k} = Reshape ({n}_flat{k}, heads)
  {n}_raw{k} = Transpose <perm = [0, 2, 1, 3]> ({n}_heads{k})
"""
LAYER = """
  a{k} = LayerNormalization <axis = -1> (x{k}, scale{k}, shift{k})
  {projections}
  keys{k} = Concat <axis = 2> (past_keys{k}, key{k})
  values{k} = Concat <axis = 2> (past_values{k}, value_raw{k})
  columns{k} = Transpose <perm = [0, 1, 3, 2]> (keys{k})
  products{k} = MatMul (query{k}, columns{k})
  scores{k} = Mul (products{k}, score_scale)
  masked{k} = Where (visible, scores{k}, hidden)
  weights{k} = Softmax <axis = -1> (masked{k})
  mixed{k} = MatMul (weights{k}, values{k})
  mixed_rows{k} = Transpose <perm = [0, 2, 1, 3]> (mixed{k})
  mixed_flat{k} = Reshape (mixed_rows{k}, flat)
  attended{k} = MatMul (mixed_flat{k}, wo{k})
  wide_product{k} = MatMul (a{k}, w1{k})
  wide{k} = Add (wide_product{k}, b1{k})
  cube{k} = Pow (wide{k}, three)
  part{k} = Mul (cube{k}, cubic)
  curve{k} = Add (wide{k}, part{k})
  angle{k} = Mul (curve{k}, root)
  bent{k} = Tanh (angle{k})
  raised{k} = Add (bent{k}, unit)
  doubled{k} = Mul (wide{k}, raised{k})
  gelu{k} = Mul (doubled{k}, one_half)
  narrow{k} = MatMul (gelu{k}, w2{k})
  both{k} = Add (attended{k}, narrow{k})
  x{next} = Add (x{k}, both{k})
"""
HEAD_NODES = """
  past_shape = Shape <start = 2, end = 3> (past_keys0)
  ids_shape = Shape <start = 1, end = 2> (input_ids)
  total = Add (past_shape, ids_shape)
  past = Squeeze (past_shape)
  end = Squeeze (total)
  rows = Range (past, end, one)
  all_rows = Range (zero, end, one)
  row_column = Unsqueeze (rows, ones)
  visible = GreaterOrEqual (row_column, all_rows)
  is_near = LessOrEqual (end, near)
  cos_table, sin_table = If (is_near) <
    then_branch = short () => (float[short_rows, turned] cos_a, float[short_rows2, turned2] sin_a)
      {{ cos_a = Identity (cos_short) sin_a = Identity (sin_short) }},
    else_branch = long () => (float[long_rows, turned3] cos_b, float[long_rows2, turned4] sin_b)
      {{ cos_b = Identity (cos_long) sin_b = Identity (sin_long) }}>
  cos = Gather <axis = 0> (cos_table, rows)
  sin = Gather <axis = 0> (sin_table, rows)
  x0 = Gather <axis = 0> (words, input_ids)
"""


def layer_text(k: int) -> str:
    names = "query", "key", "value"
    projections = "".join(PROJECT.format(n=name, k=k) for name in names)
    rotations = "".join(ROTATE.format(n=name, k=k) for name in names[:2])
    return LAYER.format(k=k, next=k + 1, projections=projections + rotations)


def layer_weights(k: int) -> dict[str, np.ndarray]:
    shapes: dict[str, tuple[int, ...]] = {f"w{name}": (WIDTH, WIDTH) for name in ("query", "key", "value", "o")}
    shapes |= {f"b{name}": (WIDTH,) for name in ("query", "key", "value")}
    shapes |= {"w1": (WIDTH, 4 * WIDTH), "b1": (4 * WIDTH,), "w2": (4 * WIDTH, WIDTH), "shift": (WIDTH,)}
    weights = draw_weights(100 * k, shapes) | {"scale": np.ones(WIDTH, np.float32)}
    return {f"{name}{k}": array for name, array in weights.items()}


def rotary(rows: int, base: float) -> tuple[np.ndarray, np.ndarray]:
    """The cosines and sines of positions, a row each."""
    frequencies = base ** -(np.arange(0, TURNED, 2) / TURNED)
    angles = np.outer(np.arange(rows), np.concatenate([frequencies, frequencies]))
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def constants() -> dict[str, np.ndarray]:
    floats = {"score_scale": HEAD**-0.5, "hidden": -1e9, "three": 3.0, "cubic": 0.044715}
    floats |= {"root": (2 / np.pi) ** 0.5, "unit": 1.0, "one_half": 0.5}
    numbers = integers(
        {"zero": 0, "one": 1, "ones": [1], "near": NEAR, "heads": [1, -1, HEADS, HEAD], "flat": [1, -1, WIDTH]}
        | {"parts": [TURNED, HEAD - TURNED], "halves": [TURNED // 2, TURNED // 2]}
    )
    return numbers | {name: np.array(value, np.float32) for name, value in floats.items()}


def cache(name: str, axis: str) -> str:
    return ", ".join(f"float[1, {HEADS}, {axis}, {HEAD}] {name}{k}" for k in range(LAYERS))


def write(path: Path) -> None:
    inputs = f"int64[1, new] input_ids, {cache('past_keys', 'past')}, {cache('past_values', 'past')}"
    outputs = f"float[1, new, {WORDS}] logits, {cache('keys', 'total')}, {cache('values', 'total')}"
    layers = "".join(layer_text(k) for k in range(LAYERS))
    text = f"""phi ({inputs}) => ({outputs}) {{
  {HEAD_NODES.format()} {layers}
  normed = LayerNormalization <axis = -1> (x{LAYERS}, last_scale, last_shift)
  head_product = MatMul (normed, unembed)
  logits = Add (head_product, unembed_bias)
}}"""
    weights = draw_weights(7, {"unembed": (WIDTH, WORDS), "unembed_bias": (WORDS,), "last_shift": (WIDTH,)})
    weights |= constants() | {"words": normal(3, WORDS, WIDTH), "last_scale": np.ones(WIDTH, np.float32)}
    weights["cos_short"], weights["sin_short"] = rotary(NEAR, 10_000)
    weights["cos_long"], weights["sin_long"] = rotary(LONGEST, 40_000)
    for k in range(LAYERS):
        weights |= layer_weights(k)
    onnx.save(parse(text, weights), path, save_as_external_data=True, location="weights.bin", size_threshold=1024)


def call(past: int, new: int) -> Call:
    names = [f"past_{part}{k}" for part in ("keys", "values") for k in range(LAYERS)]
    caches = {name: normal(past + n, 1, HEADS, past, HEAD) for n, name in enumerate(names)}
    tokens = np.random.default_rng(past).integers(0, WORDS, (1, new))
    return Call(f"past {past} new {new}", {"input_ids": tokens.astype(np.int64)} | caches)


def phi() -> Family:
    calls = (call(0, PROMPT), *(call(PROMPT + k, 1) for k in range(4)))
    return Family("phi", write, calls, tolerance=1e-3, memory=1.5)
