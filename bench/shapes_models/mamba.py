"""Mamba blocks as TorchScript exports them: a Loop each, which gathers its step on axis 1."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from shapes_models.family import Call, Family, draw_weights, integers, normal, write_text

WIDTH, INNER, STATE, RANK, TAPS = 128, 256, 16, 8, 4
PAIRS = (
    *((1, 10), (1, 100), (2, 10), (4, 25), (1, 57), (2, 64)),
    *((8, 16), (3, 33), (1, 200), (16, 8), (2, 100)),
)
"""Batch and length."""
BLOCK = """
  normed{k} = LayerNormalization <axis = -1, epsilon = 1e-05> (x{k}, norm_weight{k}, norm_bias{k})
  xz{k} = MatMul (normed{k}, in_proj{k})
  x_shape{k} = Shape (x{k})
  x_length{k} = Gather <axis = 0> (x_shape{k}, one)
  xz_shape{k} = Shape (xz{k})
  columns{k} = Gather <axis = 0> (xz_shape{k}, minus_ones)
  more_columns{k} = Add (columns{k}, ones)
  half{k} = Div (more_columns{k}, twos)
  middle{k} = Mul (half{k}, ones)
  end{k} = Mul (half{k}, twos)
  u_part{k} = Slice (xz{k}, zeros, middle{k}, minus_ones)
  z{k} = Slice (xz{k}, middle{k}, end{k}, minus_ones)
  u_rows{k} = Transpose <perm = [0, 2, 1]> (u_part{k})
  conv{k} = Conv <dilations = [1], group = {inner}, kernel_shape = [4], pads = [3, 3], strides = [1]>
    (u_rows{k}, conv_weight{k}, conv_bias{k})
  ends{k} = Unsqueeze (x_length{k}, zeros)
  causal{k} = Slice (conv{k}, zeros, ends{k}, twos, ones)
  u_back{k} = Transpose <perm = [0, 2, 1]> (causal{k})
  u_gate{k} = Sigmoid (u_back{k})
  u{k} = Mul (u_back{k}, u_gate{k})
  projected{k} = MatMul (u{k}, x_proj{k})
  low_rank{k}, b{k}, c{k} = Split <axis = -1> (projected{k}, parts)
  raised{k} = MatMul (low_rank{k}, dt_proj{k})
  biased{k} = Add (dt_bias{k}, raised{k})
  dt{k} = Softplus (biased{k})
  a_exp{k} = Exp (a_log{k})
  a{k} = Neg (a_exp{k})
  dt_column{k} = Unsqueeze (dt{k}, minus_ones)
  dt_a{k} = Mul (dt_column{k}, a{k})
  decay{k} = Exp (dt_a{k})
  b_row{k} = Unsqueeze (b{k}, twos)
  dt_b{k} = Mul (dt_column{k}, b_row{k})
  u_column{k} = Unsqueeze (u{k}, minus_ones)
  driven{k} = Mul (dt_b{k}, u_column{k})
  u_shape{k} = Shape (u{k})
  batch{k} = Gather <axis = 0> (u_shape{k}, zero)
  channels{k} = Gather <axis = 0> (u_shape{k}, two)
  batches{k} = Unsqueeze (batch{k}, zeros)
  channels_1d{k} = Unsqueeze (channels{k}, zeros)
  state_shape{k} = Concat <axis = 0> (batches{k}, channels_1d{k}, state_width)
  h_first{k} = ConstantOfShape <value = float[1] {{0}}> (state_shape{k})
  length{k} = Gather <axis = 0> (u_shape{k}, one)
  h_last{k}, rows{k} = Loop (length{k}, yes, h_first{k}) <body = scan{k} (
    int64 i{k}, bool cond{k}, float[hb{k}, hc{k}, hs{k}] h{k})
    => (bool go_on{k}, float[nb{k}, nc{k}, ns{k}] h_next{k}, float[rb{k}, rc{k}] row{k}) {{
    decay_step{k} = Gather <axis = 1> (decay{k}, i{k})
    decayed{k} = Mul (decay_step{k}, h{k})
    driven_step{k} = Gather <axis = 1> (driven{k}, i{k})
    h_next{k} = Add (decayed{k}, driven_step{k})
    c_step{k} = Gather <axis = 1> (c{k}, i{k})
    c_column{k} = Unsqueeze (c_step{k}, minus_ones)
    product{k} = MatMul (h_next{k}, c_column{k})
    row{k} = Squeeze (product{k}, minus_ones)
    go_on{k} = Identity (yes)
  }}>
  scanned{k} = Transpose <perm = [1, 0, 2]> (rows{k})
  skipped{k} = Mul (u{k}, d{k})
  summed{k} = Add (scanned{k}, skipped{k})
  z_gate{k} = Sigmoid (z{k})
  z_open{k} = Mul (z{k}, z_gate{k})
  gated{k} = Mul (summed{k}, z_open{k})
  out{k} = MatMul (gated{k}, out_proj{k})
  x{next} = Add (x{k}, out{k})
"""
CONSTANTS = integers(
    {"zero": 0, "one": 1, "two": 2, "zeros": [0], "ones": [1], "twos": [2], "minus_ones": [-1]}
    | {"state_width": [STATE], "parts": [RANK, STATE, STATE]}
)


def block_weights(k: int) -> dict[str, np.ndarray]:
    shapes = {
        "norm_bias": (WIDTH,),
        "in_proj": (WIDTH, 2 * INNER),
        "conv_bias": (INNER,),
        "x_proj": (INNER, RANK + 2 * STATE),
        "dt_proj": (RANK, INNER),
        "dt_bias": (INNER,),
        "out_proj": (INNER, WIDTH),
    }
    weights = draw_weights(100 * k, shapes) | {
        "norm_weight": np.ones(WIDTH, np.float32),
        "conv_weight": normal(100 * k + 50, INNER, 1, TAPS, scale=0.5),
        "a_log": np.log(np.tile(np.arange(1, STATE + 1, dtype=np.float32), (INNER, 1))),
        "d": np.ones(INNER, np.float32),
    }
    return {f"{name}{k}": array for name, array in weights.items()}


def write(blocks: int, path: Path) -> None:
    nodes = "".join(BLOCK.format(k=k, next=k + 1, inner=INNER) for k in range(blocks))
    weights = {name: array for k in range(blocks) for name, array in block_weights(k).items()}
    head = f"mamba (float[batch, length, {WIDTH}] x0) => (float[batch, length, {WIDTH}] x{blocks})"
    write_text(f"{head} {{ yes = Constant <value = bool {{1}}> () {nodes} }}", CONSTANTS | weights, path)


def mamba(blocks: int) -> Family:
    calls = tuple(Call(f"{b}x{n}", {"x0": normal(b * n, b, n, WIDTH)}) for b, n in PAIRS)
    return Family(f"mamba-{blocks}", partial(write, blocks), calls, tolerance=1e-3, at_most=0.25)
