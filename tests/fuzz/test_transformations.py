"""Random nests of Loop, Scan and If through each transformation alone and through all, against the oracle.

`WHORL_FUZZ_EXAMPLES` sets how many programs are drawn, anew each time; without it they are the same 60. A failure
prints what reproduces it.
"""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

import whorl
from fuzz.programs import programs
from fuzz.test_loops import assert_same, expected_of, noted, options
from fuzz.transformations import TRANSFORMATIONS
from whorl.ir.text import print_module
from whorl.ir.types import TensorType
from whorl.ir.verify import verify

pytestmark = pytest.mark.slow
fuzz = settings(
    max_examples=int(os.environ.get("WHORL_FUZZ_EXAMPLES", "60")),
    deadline=None,
    database=None,
    print_blob=True,
    derandomize="WHORL_FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)


def run(module, feeds):
    inputs = {value.name for value in module.main.arguments}
    feeds = {name: value for name, value in feeds.items() if name in inputs}
    return whorl.InferenceSession(module, options("interpreter")).run(None, feeds)


@fuzz
@given(programs())
def test_transformed_program_gives_what_the_oracle_gives(program):
    block, inputs = program
    model, expected = noted(block), expected_of(block, inputs)
    assume(expected is not None)
    module = whorl.load(model)
    for name, transform in TRANSFORMATIONS.items():
        note(name)
        other = transform(module, inputs)
        verify(other)
        assert_same(expected, run(other, inputs))


@fuzz
@given(programs(), st.sampled_from((0, 1, 3)))
def test_repeated_program_gives_what_the_oracle_gives_for_each_row(program, count):
    block, inputs = program
    assume(expected_of(block, inputs) is not None)
    module = whorl.load(noted(block))
    tensors = [value.name for value in module.main.arguments if isinstance(value.type, TensorType)]
    assume(tensors and all(isinstance(value.type, TensorType) for value in module.main.results))
    rows = [{name: turned(x, k) for name, x in inputs.items()} for k in range(count)]
    expected = [expected_of(block, row) for row in rows]
    assume(all(outputs is not None for outputs in expected))
    shapes = [[x.shape for x in outputs] for outputs in expected]
    assume(all(each == shapes[0] for each in shapes))
    loop = whorl.to_loop(module, scan=tensors)
    verify(loop)
    assert print_module(whorl.to_step(loop)) == print_module(module)
    whole = [np.asarray(x)[None].repeat(count, 0) for name, x in inputs.items() if name in tensors]
    feeds = inputs | dict(zip(tensors, whole, strict=True))
    for k, row in enumerate(rows):
        for name in tensors:
            feeds[name][k] = row[name][()]
    for position, got in enumerate(run(loop, feeds)):
        for k in range(count):
            assert_same(expected[k][position], got[k, ...])
        assert len(got) == count


def turned(x, k):
    """Another value of the type of a tensor."""
    return np.roll(x, k) if isinstance(x, np.ndarray) else x
