"""Convolutions and pools of many rows. The numbers are small integers, so that every order of a sum gives the same."""

import itertools

import numpy as np
import pytest
from passes.vectorize.programs import check, reason
from passes.vectorize.rules.ops import check_op, program


def whole(*shape):
    return (np.arange(np.prod(shape)) % 7 - 3).reshape(shape).astype(np.float32)


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_rows_are_images_of_the_batch(op):
    check_op(f"{op}({{0}}, {{1}})", [whole(2, 3, 5), whole(3, 3, 2)], [True, False])


KNOWN = """main(%x: float32[{x}], %w: float32[{w}], %b: float32[{b}]) {{
  %r: float32[*] = Loop(_, _, {inputs}) {{scanned = ({scanned},), collected = (Collected(),)}}
  body(%i: int64[], %g: bool[], {arguments}) {{
    %y: float32[*] = {op}(%x, %w, %b) {{group = 2}}
    return %g, %y
  }}
  return r = %r
}}"""


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
@pytest.mark.parametrize("mapped", [m for m in itertools.product((False, True), repeat=3) if m[1] or m[2]])
def test_weights_of_rows_are_groups_of_channels_where_the_number_of_rows_is_known(op, mapped):
    shapes = {"x": (2, 4, 5), "w": (4, 2, 2), "b": (4,)}
    names = sorted(shapes, key=lambda name: not mapped["xwb".index(name)])
    outer = {name: (3, *shapes[name]) if mapped["xwb".index(name)] else shapes[name] for name in shapes}
    text = KNOWN.format(
        **{name: ", ".join(map(str, shape)) for name, shape in outer.items()},
        inputs=", ".join(f"%{name}" for name in names),
        scanned=", ".join(["Scanned()"] * sum(mapped)),
        arguments=", ".join(f"%{name}: float32[{', '.join(map(str, shapes[name]))}]" for name in names),
        op=op,
    )
    check(text, {name: whole(*shape) for name, shape in outer.items()})


def test_weights_of_rows_of_any_number_are_the_reason():
    text = program("Conv({0}, {1})", ["float32[1, 1, 4]", "float32[1, 1, 2]"], "float32[*]", [True, True], {})
    assert reason(text) == "Conv 'y': the weights of a Conv differ by row, and the number of rows is not known"


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_windows_belong_to_a_row(op):
    check_op(f"{op}({{0}}) {{{{kernel_shape = (2,), pads = (1, 0)}}}}", [whole(2, 3, 5)], [True])
    check_op(f"Global{op}({{0}})", [whole(2, 3, 5)], [True])


@pytest.mark.parametrize("length", [4, 1])
def test_indices_of_the_largest_count_within_a_row(length):
    text = """main(%x: float32[n, 2, 2, L]) {
      %p: float32[*], %q: int64[*] = Loop(_, _, %x) {scanned = (Scanned(),), collected = (Collected(), Collected())}
      body(%i: int64[], %g: bool[], %v: float32[2, 2, L]) {
        %a: float32[*], %b: int64[*] = MaxPool(%v) {kernel_shape = (2,), pads = (1, 1), output_count = 2}
        return %g, %a, %b
      }
      return p = %p, q = %q
    }""".replace("L", str(length)).replace(f"{length}oop", "Loop")
    check(text, *({"x": whole(n, 2, 2, length)} for n in (1, 3)))


@pytest.mark.parametrize("mapped", [(True, True), (False, True)])
def test_what_is_unpooled_lands_in_its_row(mapped):
    x, indices = whole(1, 2, 3), np.array([[[0, 3, 5], [6, 9, 11]]])
    check_op("MaxUnpool({0}, {1}) {{kernel_shape = (2,), strides = (2,)}}", [x, indices], mapped)


def test_blocks_of_columns_belong_to_a_row():
    x, image, block = whole(1, 4, 4), np.array([3, 3]), np.array([2, 2])
    check_op("Col2Im({0}, {1}, {2})", [x, image, block], [True, False, False], constants=(1, 2))
