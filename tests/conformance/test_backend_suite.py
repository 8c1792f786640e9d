"""The onnx package's backend suite, every case of it, through `whorl.backend`.

A case listed in `known_failures.txt` must fail: the list may only shrink.
"""

import re
from pathlib import Path

import pytest
from onnx.backend.test import BackendTest

from whorl.backend import WhorlBackend

KNOWN_FAILURES = Path(__file__).parent / "known_failures.txt"


class EveryModel(WhorlBackend):
    """The backend as it is, except that a model which does not load is a failure and not a skip."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **options):
        return True


def known_failures() -> list[str]:
    """Names before the colon of each line; the reason follows it."""
    lines = KNOWN_FAILURES.read_text().splitlines()
    return [line.split(":", 1)[0].strip() for line in lines if line.strip() and not line.startswith("#")]


suite = BackendTest(EveryModel, __name__)
suite.exclude("_cuda$")
for _name in known_failures():
    suite.xfail(rf"^{re.escape(_name)}_cpu$")
globals().update({name: pytest.mark.slow(case) for name, case in suite.test_cases.items()})


def test_known_failures_name_cases_of_the_suite():
    names = {name for items in suite.test_suite for name in [items.id().rsplit(".", 1)[-1]]}
    assert {f"{name}_cpu" for name in known_failures()} <= names
