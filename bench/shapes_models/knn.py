"""Nearest neighbours as skl2onnx exports them: a Scan over the known points computes the distances."""

from __future__ import annotations

from pathlib import Path

from shapes_models.family import Call, Family, integers, normal, write_text

POINTS, COLUMNS, NEIGHBOURS = 400, 8, 5
BATCHES = (1, 2, 3, 4, 5, 7, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 200, 256)
TEXT = f"""neighbours (float[batch, {COLUMNS}] x) => (float[batch, one_column] y) {{
  x_last, squares = Scan <num_scan_inputs = 1, body = distances (float[n, {COLUMNS}] x_in, float[{COLUMNS}] point)
    => (float[n2, {COLUMNS}] x_out, float[n3] distance) {{
    x_out = Identity (x_in)
    offset = Sub (x_in, point)
    distance = ReduceSumSquare <axes = [1], keepdims = 0> (offset)
  }}> (x, points)
  columns = Transpose <perm = [1, 0]> (squares)
  roots = Sqrt (columns)
  nearest, rows = TopK <largest = 0, sorted = 1> (roots, count)
  rows_flat = Flatten (rows)
  rows_line = Reshape (rows_flat, line)
  targets = Gather <axis = 0> (labels, rows_line)
  targets_flat = Reshape (targets, table)
  y = ReduceMean <axes = [1], keepdims = 1> (targets_flat)
}}"""


def write(path: Path) -> None:
    weights = {"points": normal(0, POINTS, COLUMNS), "labels": normal(1, POINTS)}
    weights |= integers({"count": [NEIGHBOURS], "line": [-1], "table": [-1, NEIGHBOURS]})
    write_text(TEXT, weights, path)


def knn() -> Family:
    return Family("knn", write, tuple(Call(f"batch {n}", {"x": normal(n, n, COLUMNS)}) for n in BATCHES))
