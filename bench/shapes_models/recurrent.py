"""The operators LSTM and GRU, one way and both, over many lengths."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from shapes_models.family import Call, Family, draw_weights, normal, write_text

INPUT, HIDDEN = 64, 64
LENGTHS = range(4, 61)
GATES = {"LSTM": 4, "GRU": 3}


def write(op: str, directions: int, path: Path) -> None:
    direction = "bidirectional" if directions == 2 else "forward"
    last = "h_last, c_last" if op == "LSTM" else "h_last"
    state = f"float[{directions}, 1, {HIDDEN}]"
    results = ", ".join(f"{state} {name}" for name in last.split(", "))
    text = f"""recurrent (float[length, 1, {INPUT}] x) => (float[length, {directions}, 1, {HIDDEN}] y, {results}) {{
  y, {last} = {op} <hidden_size = {HIDDEN}, direction = "{direction}"> (x, w, r, b)
}}"""
    rows = GATES[op] * HIDDEN
    drawn = draw_weights(0, {"w": (INPUT, directions, rows), "r": (HIDDEN, directions, rows)})
    weights = {name: array.transpose(1, 2, 0).copy() for name, array in drawn.items()}
    write_text(text, weights | {"b": normal(5, directions, 2 * rows, scale=0.1)}, path)


def recurrent(name: str, op: str, directions: int = 1) -> Family:
    calls = tuple(Call(f"length {n}", {"x": normal(n, n, 1, INPUT)}) for n in LENGTHS)
    return Family(name, partial(write, op, directions), calls, tolerance=1e-3)
