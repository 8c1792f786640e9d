"""What follows a detector: boxes decoded, the best kept by TopK, NonMaxSuppression, and rows gathered by GatherND."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from shapes_models.family import Call, Family, integers, normal, write_text

CLASSES, BEST = 8, 100
COUNTS = (5, 12, 20, 33, 50, 75, 100, 130, 170, 220, 300, 400, 550, 700, 900, 1200, 1600, 2000)
TEXT = """detection (float[1, boxes, 4] centres, float[1, boxes, 8] logits)
  => (float[rows, 4] best_boxes, float[rows] best_scores, int64[rows] classes) {
  middle = Slice (centres, zeros, twos, twos)
  size = Slice (centres, twos, fours, twos)
  grown = Exp (size)
  half = Mul (grown, one_half)
  low = Sub (middle, half)
  high = Add (middle, half)
  corners = Concat <axis = 2> (low, high)
  probabilities = Sigmoid (logits)
  peak = ReduceMax <axes = [2], keepdims = 0> (probabilities)
  shape = Shape (peak)
  count = Slice (shape, ones, twos)
  limits = Concat <axis = 0> (count, best)
  k = ReduceMin <axes = [0], keepdims = 1> (limits)
  top, order = TopK <axis = 1> (peak, k)
  positions = Unsqueeze (order, twos)
  chosen_boxes = GatherND <batch_dims = 1> (corners, positions)
  chosen_rows = GatherND <batch_dims = 1> (probabilities, positions)
  chosen_scores = Transpose <perm = [0, 2, 1]> (chosen_rows)
  selected = NonMaxSuppression (chosen_boxes, chosen_scores, most, overlap, least)
  batch_and_box = Gather <axis = 1> (selected, zero_and_two)
  best_boxes = GatherND (chosen_boxes, batch_and_box)
  best_scores = GatherND (chosen_scores, selected)
  classes = Gather <axis = 1> (selected, one)
}"""


def write(path: Path) -> None:
    weights = integers(
        {"zeros": [0], "ones": [1], "twos": [2], "fours": [4], "one": 1, "zero_and_two": [0, 2]}
        | {"best": [BEST], "most": [20]}
    )
    floats = {"one_half": 0.5, "overlap": [0.5], "least": [0.3]}
    write_text(TEXT, weights | {name: np.array(value, np.float32) for name, value in floats.items()}, path)


def call(count: int) -> Call:
    centres = np.concatenate([normal(count, 1, count, 2, scale=3.0), normal(count + 1, 1, count, 2, scale=0.3)], axis=2)
    return Call(f"{count} boxes", {"centres": centres, "logits": normal(count + 2, 1, count, CLASSES, scale=2.0)})


def detection() -> Family:
    return Family("detection", write, tuple(call(count) for count in COUNTS))
