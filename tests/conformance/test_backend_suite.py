"""The onnx package's backend suite, every case of it, through `whorl.backend`: natively, and by the interpreter.

A case listed in `known_failures.txt` must fail: the list may only shrink.
"""

from pathlib import Path

import pytest
from onnx.backend.test import BackendTest

import whorl
from whorl.backend import WhorlBackend, WhorlBackendRep

KNOWN_FAILURES = Path(__file__).parent / "known_failures.txt"


class EveryModel(WhorlBackend):
    """The backend as it is, except that a model which does not load is a failure and not a skip."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **options):
        return True


class Interpreted(EveryModel):
    """The same with the interpreter."""

    @classmethod
    def prepare(cls, model, device="CPU", **options):
        chosen = whorl.SessionOptions()
        chosen.backend = "interpreter"
        return WhorlBackendRep(whorl.InferenceSession(model, chosen))


def known_failures() -> dict[str, str]:
    """Case -> reason, from the lines of the list."""
    lines = KNOWN_FAILURES.read_text().splitlines()
    pairs = [line.split(":", 1) for line in lines if line.strip() and not line.startswith("#")]
    return {name.strip(): reason.strip() for name, reason in pairs}


suite = BackendTest(EveryModel, __name__).test_cases
interpreted = {f"{name}_interpreted": case for name, case in BackendTest(Interpreted, __name__).test_cases.items()}
for _case in (suite | interpreted).values():
    for _cuda in [name for name in vars(_case) if name.endswith("_cuda")]:
        delattr(_case, _cuda)
    for _name, _reason in known_failures().items():
        if hasattr(_case, f"{_name}_cpu"):
            # A random case passes now and then.
            _mark = pytest.mark.xfail(strict=not _reason.startswith("random"), reason=_reason)
            setattr(_case, f"{_name}_cpu", _mark(getattr(_case, f"{_name}_cpu")))
globals().update({name: pytest.mark.slow(case) for name, case in (suite | interpreted).items()})


def test_suite_has_every_case_and_the_list_names_cases_of_it():
    names = [name.removesuffix("_cpu") for case in suite.values() for name in vars(case) if name.endswith("_cpu")]
    assert len(names) == 2033
    assert set(known_failures()) <= set(names)
