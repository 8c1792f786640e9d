"""Squared distances of the rows of two matrices as a product, and the bound of their error."""

import numpy as np
import pytest
from passes.bits import copied, interpreted
from passes.programs import optimized, read

TEXT = """main(%x: {dtype}[{left}], %y: {dtype}[{right}]) {{
  %axes: int64[1] = Constant() {{value = int64[1] <{axis}>}}
  %two: {dtype}[] = Constant() {{value = {dtype}[] <2>}}
  %d: {dtype}[*] = {op}(%x, %y)
  {square}
  return r = %r
}}"""
SQUARES = {
    "ReduceSumSquare": "%r: {dtype}[*] = ReduceSumSquare(%d, %axes) {{keepdims = {keepdims}}}",
    "Mul": "%s: {dtype}[*] = Mul(%d, %d)\n %r: {dtype}[*] = ReduceSum(%s, %axes) {{keepdims = {keepdims}}}",
    "Pow": "%s: {dtype}[*] = Pow(%d, %two)\n %r: {dtype}[*] = ReduceSum(%s, %axes) {{keepdims = {keepdims}}}",
}
COLUMN, ROW, ROWS = "5, 1, 8", "7, 8", "1, 7, 8"


def program(square="ReduceSumSquare", left=COLUMN, right=ROW, op="Sub", dtype="float32", keepdims=0, axis=-1):
    text = SQUARES[square].format(dtype=dtype, keepdims=keepdims)
    return read(TEXT.format(square=text, left=left, right=right, op=op, dtype=dtype, axis=axis))


def feeds(left, right, dtype, near):
    draw = np.random.default_rng(len(left) + near)
    shapes = [tuple(map(int, text.split(", "))) for text in (left, right)]
    return {name: (draw.normal(size=s) + near).astype(dtype) for name, s in zip("xy", shapes, strict=True)}


@pytest.mark.parametrize("square", SQUARES)
@pytest.mark.parametrize(("left", "right"), [(COLUMN, ROW), (ROW, COLUMN), (COLUMN, ROWS), (ROWS, COLUMN)])
@pytest.mark.parametrize("op", ["Sub", "Add"])
@pytest.mark.parametrize("near", [0, 100])
def test_error_is_within_what_the_rule_says(square, left, right, op, near):
    for dtype, keepdims, axis in (("float32", 0, -1), ("float64", 1, 2)):
        module = program(square, left, right, op, dtype, keepdims, axis)
        better = optimized(module, fast_math=True)
        assert "MatMul" in [node.op.name for node in better.nodes()]
        arrays = feeds(left, right, dtype, near)
        (expected,), (actual,) = interpreted(copied(module), arrays), interpreted(better, arrays)
        sizes = [np.sum(np.square(x, dtype=np.float64), -1) for x in arrays.values()]
        bound = (8 + 4) * np.finfo(dtype).eps * (sizes[0].max() + sizes[1].max())
        assert expected.shape == actual.shape and np.abs(expected - actual).max() <= bound


@pytest.mark.parametrize(
    "other",
    [
        {"left": "5, 8", "right": "5, 8"},
        {"left": "5, 1, 3", "right": "7, 3"},
        {"left": "1, 1, 8", "right": "1, 1, 8"},
        {"op": "Mul"},
        {"axis": 1},
        {"dtype": "float16"},
    ],
    ids=str,
)
def test_what_is_no_distance_of_rows_from_rows_remains(other):
    better = optimized(program(**other), distances=True)
    assert "MatMul" not in [node.op.name for node in better.nodes()]


def test_bits_remain_unless_they_may_change():
    assert "MatMul" not in [node.op.name for node in optimized(program()).nodes()]
