"""Engines for `whorl compare` whose results are nearly right."""

from collections.abc import Callable

import numpy as np

import whorl

Run = Callable[[dict], list]


def off_by_a_bit(model: bytes) -> Run:
    session = whorl.InferenceSession(model)
    return lambda inputs: [np.nextafter(value, np.float32(np.inf)) for value in session.run(None, inputs)]


def of_another_type(model: bytes) -> Run:
    session = whorl.InferenceSession(model)
    return lambda inputs: [value.astype(np.float64) for value in session.run(None, inputs)]


def one_short(model: bytes) -> Run:
    session = whorl.InferenceSession(model)
    return lambda inputs: session.run(None, inputs)[:-1]
