"""Images sampled at points and in boxes."""

from __future__ import annotations

import numpy as np

from whorl.errors import LoadError
from whorl.formats.onnx.importing import OnnxNode
from whorl.formats.onnx.microsoft.formula import Formula, contributed
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.graph import Value

_MODES = {"bilinear": "linear", "bicubic": "cubic", "nearest": "nearest"}


@contributed("GridSample")
def grid_sample(node: OnnxNode, f: Formula) -> Value:
    """GridSample of ONNX with its first names of the modes."""
    mode = node.attribute("mode", "bilinear")
    attributes = {"padding_mode": node.attribute("padding_mode", "zeros")}
    return f(
        "GridSample",
        node.required(0),
        node.required(1),
        mode=_MODES.get(mode, mode),
        align_corners=node.attribute("align_corners", 0),
        **attributes,
    )


@contributed("CropAndResize")
def crop_and_resize(node: OnnxNode, f: Formula) -> Value:
    """Boxes of images at a size, linear between pixels or the nearest one; a value outside of the image."""
    x, boxes, images, size = (node.required(k) for k in range(4))
    mode = node.attribute("mode", "bilinear")
    if mode not in ("bilinear", "nearest"):
        raise LoadError(f"mode {mode!r} is not known", node.title, "bilinear or nearest")
    images = f("Unsqueeze", f.cast(images, INT64), [1, 2])
    rows, row_is_in = _coordinates(f, x, boxes, size, 0)
    columns, column_is_in = _coordinates(f, x, boxes, size, 1)
    rows, columns = f("Unsqueeze", rows, [2]), f("Unsqueeze", columns, [1])
    pixels = f("Transpose", x, perm=(0, 2, 3, 1))
    if mode == "nearest":
        y = _pixels(f, pixels, images, f("Round", rows), f("Round", columns))
    else:
        y = _between(f, pixels, images, rows, columns)
    is_in = f("And", f("Unsqueeze", row_is_in, [2]), f("Unsqueeze", column_is_in, [1]))
    outside = np.array(node.attribute("extrapolation_value", 0.0), np.float32)
    return f("Transpose", f("Where", f("Unsqueeze", is_in, [3]), y, outside), perm=(0, 3, 1, 2))


def _coordinates(f: Formula, x: Value, boxes: Value, size: Value, axis: int) -> tuple[Value, Value]:
    """Coordinates in each box [boxes, size] along an axis, and which are in the image; the middle if the size is 1."""
    last = f("Sub", f.cast(f.length(x, 2 + axis), FLOAT32), 1)
    count = f.cast(f.slice(size, axis, axis + 1, 0), INT64)
    low, high = (f("Mul", f.slice(boxes, k, k + 1, 1), last) for k in (axis, axis + 2))
    steps = f("Sub", f.cast(count, FLOAT32), 1)
    spread = f("Div", f("Sub", high, low), f("Max", steps, np.ones(1, np.float32)))
    many = f("Add", low, f("Mul", f("Unsqueeze", f.cast(f.range(count), FLOAT32), [0]), spread))
    middle = f("Mul", f("Add", low, high), 0.5)
    point = f("Where", f("Greater", count, 1), many, middle)
    is_in = f("And", f("GreaterOrEqual", point, 0), f("LessOrEqual", point, last))
    return f("Where", is_in, point, np.zeros((), np.float32)), is_in


def _pixels(f: Formula, pixels: Value, images: Value, rows: Value, columns: Value) -> Value:
    """The pixels [boxes, height, width, channels] at rows [boxes, height, 1] and columns [boxes, 1, width]."""
    index = [images, f.cast(rows, INT64), f.cast(columns, INT64)]
    total = f("Add", f("Add", index[0], index[1]), index[2])
    parts = [f("Unsqueeze", f("Expand", part, f("Shape", total)), [3]) for part in index]
    return f("GatherND", pixels, f("Concat", *parts, axis=3))


def _between(f: Formula, pixels: Value, images: Value, rows: Value, columns: Value) -> Value:
    """Linear between the four pixels around each point."""
    top, left = f("Floor", rows), f("Floor", columns)
    down, right = (f("Unsqueeze", f("Sub", a, b), [3]) for a, b in ((rows, top), (columns, left)))
    lines = []
    for row in (top, f("Ceil", rows)):
        first, second = (_pixels(f, pixels, images, row, column) for column in (left, f("Ceil", columns)))
        lines.append(f("Add", first, f("Mul", f("Sub", second, first), right)))
    return f("Add", lines[0], f("Mul", f("Sub", lines[1], lines[0]), down))
