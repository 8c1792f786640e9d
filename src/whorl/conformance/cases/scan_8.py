"""Scan version 8: a batch axis on everything, sequence lengths, directions."""

from __future__ import annotations

import numpy as np

from whorl.conformance.case import Case
from whorl.conformance.values import f32, i64

X = np.arange(1, 13, dtype=np.float32).reshape(2, 3, 2)
START = f32([[10, 20], [30, 40]])


SUMS = """
main (float[B,2] start, float[B,T,2] x%s) => (float[B,2] last, float[B,T,2] sums) {
  last, sums = Scan (%s, start, x) <num_scan_inputs = 1%s, body = step (float[2] s, float[2] e)
      => (float[2] t, float[2] u) {
    t = Add (s, e)
    u = Identity (t)
  }>
}"""

STATES = """
main (float[B,2] start, float[B,T,2] x%s) => (float[B,2] last) {
  last = Scan (%s, start, x) <num_scan_inputs = 1%s, body = step (float[2] s, float[2] e)
      => (float[2] t) { t = Add (s, e) }>
}"""


def batched(
    name: str,
    doc: str,
    model: str,
    inputs: dict[str, np.ndarray],
    expected: list[np.ndarray],
    attributes: str = "",
    ambiguous: bool = False,
) -> Case:
    """Running sums over x: [batch, time, 2] with a state; sequence_lens is `lens` where that is among the inputs."""
    return Case(
        name,
        rules=(8, "versions"),
        doc=doc,
        opset=8,
        model=model % ((", int64[B] lens", "lens", attributes) if "lens" in inputs else ("", '""', attributes)),
        inputs=inputs,
        expected=expected,
        ambiguous=ambiguous,
    )


def padded(lengths: list[int]) -> np.ndarray:
    sums = START[:, None] + np.cumsum(X, axis=1)
    for row, length in enumerate(lengths):
        sums[row, length:] = 0
    return sums


CASES = [
    batched(
        "scan_8_batch",
        "Two rows of a batch, three steps each: the state starts anew in each row.",
        SUMS,
        {"start": START, "x": X},
        [START + X.sum(axis=1), START[:, None] + np.cumsum(X, axis=1)],
    ),
    batched(
        "scan_8_batch_of_1",
        "A batch of one.",
        SUMS,
        {"start": START[:1], "x": X[:1]},
        [START[:1] + X[:1].sum(axis=1), START[:1, None] + np.cumsum(X[:1], axis=1)],
    ),
    batched(
        "scan_8_one_step",
        "One step in each row.",
        SUMS,
        {"start": START, "x": X[:, :1]},
        [START + X[:, 0], START[:, None] + X[:, :1]],
    ),
    batched(
        "scan_8_reverse",
        "directions = [1]: each row is read from its end.",
        SUMS,
        {"start": START, "x": X},
        [START + X.sum(axis=1), START[:, None] + np.cumsum(X[:, ::-1], axis=1)],
        attributes=", directions = [1]",
    ),
    batched(
        "scan_8_lengths_states",
        "sequence_lens = [2, 3]: the final states are those after 2 and 3 steps.",
        STATES,
        {"start": START, "x": X, "lens": i64([2, 3])},
        [START + np.stack([X[0, :2].sum(axis=0), X[1].sum(axis=0)])],
    ),
    batched(
        "scan_8_lengths_padded",
        "sequence_lens = [1, 3]: elements past a row's length are zero.",
        SUMS,
        {"start": START, "x": X, "lens": i64([1, 3])},
        [START + np.stack([X[0, :1].sum(axis=0), X[1].sum(axis=0)]), padded([1, 3])],
        ambiguous=True,
    ),
    batched(
        "scan_8_full_lengths",
        "sequence_lens = [3, 3] is the same as none.",
        SUMS,
        {"start": START, "x": X, "lens": i64([3, 3])},
        [START + X.sum(axis=1), padded([3, 3])],
    ),
    batched(
        "scan_8_length_zero",
        "sequence_lens = [0, 2]: the first row keeps its start.",
        STATES,
        {"start": START, "x": X, "lens": i64([0, 2])},
        [START + np.stack([0 * X[0, 0], X[1, :2].sum(axis=0)])],
        ambiguous=True,
    ),
    Case(
        "scan_8_two_inputs_captured_weight",
        rules=(8, "captured", "versions"),
        doc="Two scanned inputs, one of them backwards, no state, and a captured weight.",
        opset=8,
        model="""
        main (float[B,T] x, float w) => (float[B,T] y) {
          y = Scan ("", x, x) <num_scan_inputs = 2, directions = [0, 1], body = step (float a, float b) => (float c) {
            d = Mul (a, w)
            c = Sub (d, b)
          }>
        }""",
        inputs={"x": f32([[1, 2, 3], [4, 5, 6]]), "w": f32(10)},
        expected=[f32([[7, 18, 29], [34, 45, 56]])],
        ambiguous=True,
    ),
    Case(
        "scan_8_no_collected_output",
        rules=(8, "versions"),
        doc="Two states swap in each step, and nothing is collected.",
        opset=8,
        model="""
        main (float[B] a, float[B] b, float[B,T] x) => (float[B] p, float[B] q) {
          p, q = Scan ("", a, b, x) <num_scan_inputs = 1, body = step (float s, float t, float e)
              => (float u, float v) {
            u = Add (t, e)
            v = Identity (s)
          }>
        }""",
        inputs={"a": f32([1, 2]), "b": f32([10, 20]), "x": f32([[100, 200, 300], [0, 0, 5]])},
        expected=[f32([10 + 100 + 300, 25]), f32([1 + 200, 2])],
    ),
]
