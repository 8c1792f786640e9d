"""Runs of sessions, the second of which gives what the first one gave."""

from __future__ import annotations

import numpy as np

import whorl


def run(data: bytes, backend: str, feeds: dict[str, np.ndarray], threads: int = 1) -> np.ndarray:
    options = whorl.SessionOptions()
    options.backend, options.intra_op_num_threads = backend, threads
    session = whorl.InferenceSession(data, options)
    first, second = (session.run(None, feeds)[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    return first
