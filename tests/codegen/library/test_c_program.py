"""Models such as exporters write, compiled to libraries that a C program calls by their headers with any lengths."""

from __future__ import annotations

import numpy as np
import pytest
from exports.harness import compare
from onnx_text import ROLLOUT

import whorl
from codegen.library.c_program import CProgram
from codegen.library.common_models import COMMON

LENGTHS = (5, 1, 12, 0, 3, 64, 5)


@pytest.mark.parametrize("name", COMMON)
def test_c_program_gives_what_the_interpreter_gives_at_any_length(name, tmp_path) -> None:
    common = COMMON[name]
    options = whorl.SessionOptions()
    options.backend = "interpreter"
    oracle, program = whorl.InferenceSession(common.proto, options), CProgram(common.proto, tmp_path)
    feeds = [common.draw(np.random.default_rng(n), length) for n, length in enumerate(LENGTHS)]
    for each, outputs in zip(feeds, program.run(feeds), strict=True):
        try:
            expected = oracle.run(None, each)
        except whorl.RunError as error:
            assert isinstance(outputs, str) and outputs.rpartition(": ")[0] in str(error)
            continue
        assert [e.dtype for e in expected] == [f.dtype for f in outputs]
        compare(expected, outputs, 1.0, str(each))


def test_c_program_learns_what_failed(tmp_path) -> None:
    program = CProgram(ROLLOUT, tmp_path)
    table = np.arange(12, dtype=np.float32)
    total, message, again = program.run([{"count": np.array(n), "table": table} for n in (4, 13, 12)])
    assert [a.tolist() for a in (*total, *again)] == [6, 66]
    assert message.startswith("Gather 'read_row' in body of Loop 'rollout' (iteration {0}): ")
