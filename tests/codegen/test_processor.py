"""The processor's own answers: the same on every core, and enough to name it."""

import os

import pytest

from whorl.codegen.memory import is_supported
from whorl.codegen.processor import fingerprint
from whorl.codegen.target import _described_by_llvm, _description

pytestmark = pytest.mark.skipif(not is_supported(), reason="the processor is not asked on this system")


def test_answers_are_the_same_on_every_core() -> None:
    allowed = os.sched_getaffinity(0)
    answers = set[str | None]()
    try:
        for core in allowed:
            os.sched_setaffinity(0, {core})
            answers.add(fingerprint())
    finally:
        os.sched_setaffinity(0, allowed)
    (answer,) = answers
    assert answer and all(int(number, 16) >= 0 for number in answer.split())


def test_description_on_disk_is_that_of_llvm() -> None:
    assert _description() == _described_by_llvm()
