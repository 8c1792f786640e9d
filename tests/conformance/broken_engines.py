"""Engines that fail in every way there is, as backends for the suite's own tests."""

import os
import time
from collections.abc import Callable

import numpy as np

Run = Callable[[dict], list]


def crashes(model: bytes) -> Run:
    os.abort()


def crashes_when_used(model: bytes) -> Run:
    """The second model in one process ends it."""
    if os.environ.get("WHORL_TEST_USED"):
        os.abort()
    os.environ["WHORL_TEST_USED"] = "1"
    return lies(model)


def hangs(model: bytes) -> Run:
    return lambda inputs: time.sleep(60) or []


def lies(model: bytes) -> Run:
    return lambda inputs: [np.float32(0)]


def lacks(model: bytes) -> Run:
    raise NotImplementedError("no loops here")


def refuses(model: bytes) -> Run:
    raise ValueError("not this one")


def prints(model: bytes) -> Run:
    print("noise on standard output")
    os.write(1, b"and below Python")
    raise ValueError("not this one")
