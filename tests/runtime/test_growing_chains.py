"""Random bodies on a carried value that grows and shrinks: native code gives what the interpreter gives.

Crosses the ops that take any length with each other, with first lengths 0, 1 and more, and with growth at either end.
"""

import random

import numpy as np
import pytest
from onnx import parser

import whorl

CONSTANTS = """
    zero = Constant <value_ints = [0]> ()
    one = Constant <value_ints = [1]> ()
    two = Constant <value_ints = [2]> ()
    last = Constant <value_ints = [-1]> ()
    far = Constant <value_ints = [1000000]> ()
    flat = Constant <value_ints = [-1]> ()
    three = Constant <value_ints = [-1, 3]> ()
    half = Constant <value_float = 0.5> ()
    row = Constant <value_floats = [0.25, -1.0, 2.0]> ()
    weights = Constant <value = float[3, 3] {0.5, -0.25, 0.125, 0.5, 0.25, -0.5, 0.25, 0.125, 0.5}> ()
"""
MATRICES = [
    "{y} = Mul ({x}, half)",
    "{y} = Add ({x}, row)",
    "{y} = Tanh ({x})",
    "{y} = Relu ({x})",
    "{y} = Identity ({x})",
    "{y} = MatMul ({x}, weights)",
    "{y} = Softmax <axis = 0> ({x})",
    "{y} = Softmax <axis = 1> ({x})",
    "{y}t = Transpose <perm = [1, 0]> ({x})\n    {y} = Transpose <perm = [1, 0]> ({y}t)",
    "{y}f = Reshape ({x}, flat)\n    {y} = Reshape ({y}f, three)",
    "{y}a = Slice ({x}, one, far, zero)\n    {y} = Concat <axis = 0> ({y}a, {y}a)",
    "{y} = Slice ({x}, last, zero, zero, last)",
    "{y}r = ReduceSum <keepdims = 1> ({x}, zero)\n    {y} = Concat <axis = 0> ({y}r, {x})",
    "{y}m = ReduceMax <keepdims = 1> ({x}, one)\n    {y} = Sub ({x}, {y}m)",
    "{y}s = Shape <end = 1> ({x})\n    {y}c = Cast <to = 1> ({y}s)\n    {y} = Mul ({x}, {y}c)",
    "{y}n = Size ({x})\n    {y}c = Cast <to = 1> ({y}n)\n    {y} = Add ({x}, {y}c)",
    "{y}t = Transpose ({x})\n    {y}p = MatMul ({x}, {y}t)\n    {y}q = MatMul ({y}p, {x})\n    {y} = Tanh ({y}q)",
    "{y}k = ReduceSum <keepdims = 0> ({x}, one)\n    {y}b = Greater ({y}k, half)\n"
    "    {y} = Compress <axis = 0> ({x}, {y}b)",
    "{y}b = Less ({x}, half)\n    {y} = Where ({y}b, {x}, row)",
    "{y}s = Shape ({x})\n    {y}z = ConstantOfShape ({y}s)\n    {y} = Add ({x}, {y}z)",
    "{y}s = Shape ({x})\n    {y} = Expand (row, {y}s)",
    "{y}u = Unsqueeze ({x}, zero)\n    {y} = Squeeze ({y}u, zero)",
    "{y}a = Slice ({x}, zero, two, zero)\n    {y} = Concat <axis = 0> ({y}a, {x}, {y}a)",
    "{y}c = CumSum ({x}, first)\n    {y} = Tanh ({y}c)",
]
CLAMPED = "    capped = Slice ({x}, zero, limit, zero)\n"
LOOP = """
main (int64 n, float[k,3] x, int64[1] limit) => (float[m,3] y, float[t] sums) {{
  y, sums = Loop (n, "", x) <body = step (int64 i, bool go, float[a,3] h) => (bool on, float[c,3] next, float s) {{
{constants}    first = Constant <value_int = 0> ()
{body}{clamped}    on = Identity (go)
    f = Cast <to = 1> (i)
    r = Mul (row, f)
    u = Unsqueeze (r, zero)
    next = Concat <axis = 0> ({parts})
    s = ReduceSum <keepdims = 0> (capped)
  }}>
}}
"""


def program(seed: int) -> str:
    draw = random.Random(seed)
    x, lines = "h", []
    for number in range(draw.randint(1, 5)):
        y = f"v{number}"
        lines.append("    " + draw.choice(MATRICES).format(x=x, y=y) + "\n")
        x = draw.choice([y, y, y, "h"])
    parts = draw.choice(["capped, u", "u, capped", "h, u", "u, capped, u"])
    return LOOP.format(constants=CONSTANTS, body="".join(lines), clamped=CLAMPED.format(x=x), parts=parts)


def run(text: str, backend: str, feeds: dict):
    options = whorl.SessionOptions()
    options.backend = backend
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]>\n{text}')
    try:
        return whorl.InferenceSession(model.SerializeToString(), options).run(None, feeds), None
    except whorl.RunError as error:
        return None, str(error)


@pytest.mark.parametrize("seed", range(24))
def test_random_bodies_on_lengths_that_change(seed):
    text, rng = program(seed), np.random.default_rng(seed)
    for first, trips in ((0, 20), (1, 33), (5, 40)):
        x = rng.uniform(-1, 1, (first, 3)).astype(np.float32)
        feeds = {"n": np.array(trips), "x": x, "limit": np.array([9])}
        expected, refused = run(text, "interpreter", feeds)
        actual, error = run(text, "native", feeds)
        assert error == refused
        for e, f in zip(expected or [], actual or [], strict=True):
            assert e.dtype == f.dtype
            np.testing.assert_allclose(f, e, rtol=1e-3, atol=1e-4, err_msg=f"seed {seed}\n{text}")
