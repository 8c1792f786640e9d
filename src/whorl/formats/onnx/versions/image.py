"""Resampling: Upsample and the first Resize, Resize before it had `axes`, GridSample's first names of its modes."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace

from whorl.errors import SaveError, UnsupportedError
from whorl.formats.onnx.exporting import NodeWriter, exporter
from whorl.formats.onnx.importing import OnnxNode, importer, make_op
from whorl.formats.onnx.versions.limits import require_element_type
from whorl.ir.build import Builder
from whorl.ir.constants import Constant, as_array
from whorl.ir.graph import Node, Value
from whorl.ir.types import tensor
from whorl.ops.elementwise.arithmetic import Max, Min
from whorl.ops.image.resize import Resize
from whorl.ops.image.sampling import GridSample
from whorl.ops.movement.blocks import SpaceToDepth

_LINEAR = ("linear", "bilinear", "trilinear")
_SAMPLING = {"bilinear": "linear", "bicubic": "cubic"}
_SAMPLING_16 = {new: old for old, new in _SAMPLING.items()}
_CENTRED = {"round_prefer_floor": "ceil", "floor": "round_prefer_ceil"}
"""How places half an element lower are rounded to the same elements."""


# ---- reading -------------------------------------------------------------------------------------------------------


@importer("Upsample")
def upsample(node: OnnxNode, build: Builder) -> list[Value]:
    """Scales are attributes before 9: of all axes, in version 1 of the height and the width. None is below 1."""
    axes = None
    if node.version >= 9:
        scales = node.required(1)
    elif node.version >= 7:
        scales = build.constant(np.array(node.attribute("scales"), np.float32), "scales")
    else:
        axes = (2, 3)
        factors = [node.attribute("height_scale"), node.attribute("width_scale")]
        scales = build.constant(np.array(factors, np.float32), "scales")
    op = replace(_early_resize(node, "floor"), axes=axes)
    return build.add_many(op, [node.required(0), None, scales], node.outputs, name=node.name)


@importer("Resize", until=10)
def resize_10(node: OnnxNode, build: Builder) -> list[Value]:
    """Nearest elements are found by rounding down along axes that grow and up along those that shrink."""
    x, scales = node.required(0), node.required(1)
    if _early_resize(node, "floor").mode == "nearest":
        constant = _constant(scales)
        if constant is None or (constant < 1).any():
            if constant is None or (constant > 1).any():
                one = build.constant(np.array(1, np.float32), "one")
                x = build.add(_early_resize(node, "floor"), x, None, build.add(Max(), scales, one))
                scales = build.add(Min(), scales, one)
            return build.add_many(_early_resize(node, "ceil"), [x, None, scales], node.outputs, name=node.name)
    return build.add_many(_early_resize(node, "floor"), [x, None, scales], node.outputs, name=node.name)


def _early_resize(node: OnnxNode, rounding: str) -> Resize:
    mode = node.attribute("mode", "nearest")
    if mode != "nearest" and mode not in _LINEAR:
        raise UnsupportedError(f"mode {mode!r} is not known in version {node.version}", node.title)
    mode = "linear" if mode in _LINEAR else mode
    return Resize(coordinate_transformation_mode="asymmetric", mode=mode, nearest_mode=rounding)


def _constant(value: Value) -> np.ndarray | None:
    """The elements of a constant."""
    owner = value.owner
    return as_array(owner.op.value) if isinstance(owner, Node) and isinstance(owner.op, Constant) else None


@importer("Resize", since=11, until=13)
def resize_11(node: OnnxNode, build: Builder) -> list[Value]:
    """`tf_half_pixel_for_nn` puts places half an element higher than `half_pixel`; 13 dropped it, models did not."""
    if node.attribute("coordinate_transformation_mode") != "tf_half_pixel_for_nn":
        return build.add_many(make_op(node), node.inputs, node.outputs, name=node.name)
    rounding = _CENTRED.get(node.attribute("nearest_mode", "round_prefer_floor"))
    if node.attribute("mode", "nearest") != "nearest" or rounding is None:
        raise UnsupportedError("tf_half_pixel_for_nn is known with round_prefer_floor and floor only", node.title)
    op = make_op(node, coordinate_transformation_mode="half_pixel", nearest_mode=rounding)
    return build.add_many(op, node.inputs, node.outputs, name=node.name)


@importer("GridSample", until=16)
def grid_sample_16(node: OnnxNode, build: Builder) -> list[Value]:
    """The modes were called bilinear and bicubic."""
    mode = node.attribute("mode", "bilinear")
    op = make_op(node, mode=_SAMPLING.get(mode, mode))
    return build.add_many(op, node.inputs, node.outputs, name=node.name)


# ---- writing -------------------------------------------------------------------------------------------------------


@exporter("GridSample", until=19)
def write_grid_sample_16(node: Node, write: NodeWriter) -> None:
    """Images only, and the old names of the modes."""
    op, (x, grid) = node.op, node.inputs
    assert isinstance(op, GridSample) and x is not None
    require_element_type(x, op.name, write)
    if tensor(x).rank not in (None, 4):
        raise SaveError(f"samples a tensor of rank {tensor(x).rank}", fix="opset 20 or later can say it")
    attributes = asdict(op) | {"mode": _SAMPLING_16.get(op.mode, op.mode)}
    write.node(op.name, [write.name(x), write.name(grid)], write.outputs(node), name=node.name, **attributes)


@exporter("Resize", until=18)
def write_resize_18(node: Node, write: NodeWriter) -> None:
    """What 19 added is refused; before 18 scales, sizes and roi have an entry for every axis."""
    op = node.op
    assert isinstance(op, Resize)
    x, roi, scales, sizes = (*node.inputs, *(None,) * (4 - len(node.inputs)))
    if op.coordinate_transformation_mode == "half_pixel_symmetric":
        raise SaveError("coordinate_transformation_mode='half_pixel_symmetric' cannot be said", fix="use opset 19")
    attributes = asdict(op)
    if write.opset == 18:
        require_element_type(x, op.name, write)
        operands = [write.name(v) for v in (x, roi, scales, sizes)]
        write.node(op.name, operands, write.outputs(node), name=node.name, **attributes)
        return
    if op.antialias and op.mode != "nearest":
        raise SaveError("antialias=1 cannot be said", fix="opset 18 or later can say it")
    if op.keep_aspect_ratio_policy != "stretch" and sizes is not None:
        raise SaveError(f"keep_aspect_ratio_policy={op.keep_aspect_ratio_policy!r} cannot be said", fix="use opset 18")
    for name in ("antialias", "axes", "keep_aspect_ratio_policy"):
        del attributes[name]
    spread = _Spread(op, x, write)
    if write.opset <= 10:
        _write_early_resize(node, op, spread, write)
        return
    require_element_type(x, op.name, write)
    empty = write.constant(np.empty(0, np.float32), "none") if write.opset < 13 else ""
    operands = [write.name(x), spread.roi(roi) or empty, spread.scales(scales) or empty, spread.sizes(sizes)]
    write.node(op.name, operands, write.outputs(node), name=node.name, **attributes)


class _Spread(Struct, frozen=True):
    """Inputs of a Resize with an entry for some axes, written with an entry for every axis."""

    op: Resize
    x: Value | None
    write: NodeWriter

    def rank(self) -> int:
        rank = None if self.x is None else tensor(self.x).rank
        if rank is None:
            raise SaveError("resizes some axes of a tensor of unknown rank", fix="opset 18 or later can say it")
        return rank

    def scales(self, value: Value | None) -> str:
        """The name of the scales of all axes, empty where there are none."""
        return "" if value is None else self._filled(value, np.ones(1, np.float32), 1)

    def roi(self, value: Value | None) -> str:
        """The name of the regions of all axes, the whole axis where none is given."""
        return "" if value is None else self._filled(value, np.array([0, 1], tensor(value).dtype), 2)

    def sizes(self, value: Value | None) -> str:
        """The name of the sizes of all axes, the lengths of X where none is given."""
        if value is None or self.op.axes is None:
            return self.write.name(value)
        shape = self.write.fresh("shape")
        self.write.node("Shape", [self.write.name(self.x)], [shape])
        return self._scattered(shape, value, 1)

    def constant_scales(self, value: Value | None) -> np.ndarray | None:
        """The scales of all axes, if they are constant."""
        elements = self.write.constant_value(value) if value is not None else None
        if elements is None or self.op.axes is None:
            return elements
        full = np.ones(self.rank(), np.float32)
        full[list(self.op.axes)] = elements
        return full

    def _filled(self, value: Value, defaults: np.ndarray, parts: int) -> str:
        if self.op.axes is None:
            return self.write.name(value)
        return self._scattered(self.write.constant(np.repeat(defaults, self.rank()), "default"), value, parts)

    def _scattered(self, default: str, value: Value, parts: int) -> str:
        axes = [axis % self.rank() + self.rank() * part for part in range(parts) for axis in self.op.axes or ()]
        result = self.write.fresh("spread")
        index = self.write.constant(np.array(axes, np.int64), "axes")
        self.write.node("ScatterElements", [default, index, self.write.name(value)], [result])
        return result


def _write_early_resize(node: Node, op: Resize, spread: _Spread, write: NodeWriter) -> None:
    """Resize-10 with scales, or Upsample with scales of at least 1."""
    x, _, value, *_ = (*node.inputs, None, None, None)
    scales = spread.constant_scales(value)
    later = "opset 11 or later can say it"
    if value is None or op.mode == "cubic" or op.coordinate_transformation_mode != "asymmetric":
        raise SaveError("only scales of asymmetric nearest and linear resizing can be said", fix=later)
    if scales is None and (write.opset < 10 or op.mode == "nearest" or op.axes is not None):
        raise SaveError("only constant scales can be said", fix=later)
    rounding = _early_rounding(scales)
    if op.mode == "nearest" and scales is not None and not np.isin(scales, 1).all() and op.nearest_mode != rounding:
        raise SaveError(f"nearest_mode={op.nearest_mode!r} cannot be said with scales {scales.tolist()}", fix=later)
    name = "Resize" if write.opset == 10 else "Upsample"
    if name == "Upsample" and (scales is None or (scales < 1).any()):
        raise SaveError("scales below 1 cannot be said", fix="opset 10 or later can say them")
    require_element_type(x, name, write)
    inputs = [write.name(x)]
    if write.opset >= 9:
        inputs.append(write.name(value) if scales is None else write.constant(scales, "scales"))
    attributes = _scale_attributes(scales, write) if scales is not None else {}
    write.node(name, inputs, write.outputs(node), name=node.name, mode=op.mode, **attributes)


def _early_rounding(scales: np.ndarray | None) -> str | None:
    """The nearest_mode that the first versions mean with these scales; None where they mix two."""
    if scales is None or (scales >= 1).all():
        return "floor"
    return "ceil" if (scales <= 1).all() else None


def _scale_attributes(scales: np.ndarray, write: NodeWriter) -> dict[str, Any]:
    """Scales as attributes, as Upsample had them before 9: in version 1 of the last two of four axes."""
    if write.opset >= 9:
        return {}
    if write.opset >= 7:
        return {"scales": tuple(scales.tolist())}
    if len(scales) != 4 or (scales[:2] != 1).any():
        raise SaveError(f"scales {scales.tolist()} cannot be said", fix="opset 7 or later can say them")
    return {"height_scale": float(scales[2]), "width_scale": float(scales[3])}


@exporter("SpaceToDepth", until=27)
def space_to_depth_27(node: Node, write: NodeWriter) -> None:
    """Mode CRD: the blocks of every channel for itself, whose channels are then joined."""
    op, (x,) = node.op, node.inputs
    assert isinstance(op, SpaceToDepth) and x is not None
    require_element_type(x, "SpaceToDepth", write)
    source, target = write.name(x), write.outputs(node)
    if op.mode == "DCR":
        write.node("SpaceToDepth", [source], target, name=node.name, blocksize=op.blocksize)
        return
    if write.opset < 15:
        raise SaveError(f"mode {op.mode!r} cannot be said", fix="opset 15 or later can say it")
    single = _fresh(write, "Reshape", [source, _shape(write, [-1, 1], source, start=2)])
    blocks = _fresh(write, "SpaceToDepth", [single], blocksize=op.blocksize)
    count, size = _fresh(write, "Shape", [source], end=1), _fresh(write, "Shape", [blocks], start=2)
    merged = write.constant(np.array([-1], np.int64), "joined")
    shape = _fresh(write, "Concat", [count, merged, size], axis=0)
    write.node("Reshape", [blocks, shape], target, name=node.name)


def _shape(write: NodeWriter, first: list[int], source: str, start: int) -> str:
    """Given lengths, and behind them those of the axes of a tensor from `start` on."""
    lengths = [write.constant(np.array(first, np.int64), "lengths"), _fresh(write, "Shape", [source], start=start)]
    return _fresh(write, "Concat", lengths, axis=0)


def _fresh(write: NodeWriter, type: str, inputs: list[str], **attributes: Any) -> str:
    """The output of a node."""
    name = write.fresh(type)
    write.node(type, inputs, [name], **attributes)
    return name
