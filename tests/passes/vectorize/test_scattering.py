"""Tensors that iterations write rows of: one ScatterND."""

import numpy as np
import pytest
from passes.vectorize.programs import check, kinds, reason

BODY = """main(%h: {type}[k, 2], %x: {type}[n, 2], %at: int64[n]) {{
  %r: {type}[k, 2] = Loop(_, _, %h, %x, %at) {{carried = 1, scanned = (Scanned(), Scanned())}}
  body(%i: int64[], %g: bool[], %s: {type}[k, 2], %v: {type}[2], %j: int64[]) {{
    %shape: int64[2] = Constant() {{value = int64[2] <1 1>}}
    %one: int64[1] = Constant() {{value = int64[1] <1>}}
    %first: int64[1] = Constant() {{value = int64[1] <0>}}
    %row: {type}[1, 2] = Unsqueeze(%v, %first)
    {index}
    %m: int64[1, 1] = Reshape(%p, %shape)
    %t: {type}[k, 2] = ScatterND(%s, %m, %row) {{reduction = "{how}"}}
    return %g, %t
  }}
  return r = %r
}}"""


def text(index: str, how: str = "none", type: str = "float32") -> str:
    return BODY.format(index=index, how=how, type=type)


def feeds(dtype: type, count: int) -> dict[str, np.ndarray]:
    x = np.arange(2 * count, dtype=dtype).reshape(count, 2)
    return {"h": np.ones((6, 2), dtype), "x": x, "at": np.arange(count) % 3}


@pytest.mark.parametrize("index", ["%p: int64[] = Add(%i, %one)", "%p: int64[] = Add(%i, %first)"])
def test_rows_at_iteration_numbers_are_written_at_once(index):
    index = index.replace("int64[]", "int64[1]")
    module = check(text(index), *(feeds(np.float32, count) for count in (0, 1, 5)))
    assert "ScatterND" in kinds(module)


@pytest.mark.parametrize("how", ["add", "mul", "max", "min"])
def test_integers_are_reduced_at_any_indices(how):
    index = "%p: int64[] = Add(%j, %first)".replace("int64[]", "int64[1]")
    check(text(index, how, "int64"), *(feeds(np.int64, count) for count in (0, 1, 5)))


@pytest.mark.parametrize(
    ("index", "how"),
    [
        ("%p: int64[1] = Add(%j, %first)", "none"),
        ("%p: int64[1] = Sub(%i, %one)", "none"),
        ("%p: int64[1] = Mul(%i, %first)", "none"),
        ("%p: int64[1] = Add(%j, %first)", "add"),
    ],
)
def test_writes_that_may_meet_and_sums_of_floats_keep_the_loop(index, how):
    assert reason(text(index, how)) == "carried value 's' has no closed form"
