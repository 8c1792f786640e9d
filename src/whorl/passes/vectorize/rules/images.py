"""Batching rules of ops on images: rows are more images of the batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from whorl.ir.build import Builder
from whorl.ir.graph import Op
from whorl.ops.elementwise.arithmetic import Add, Mul
from whorl.ops.image.regions import MaxRoiPool, RoiAlign
from whorl.ops.image.resize import Resize
from whorl.ops.image.sampling import AffineGrid, GridSample
from whorl.ops.movement.axes import Concat, Slice
from whorl.ops.movement.blocks import DepthToSpace, SpaceToDepth
from whorl.passes.vectorize.batched import Batched, Operands, give_all_rows, row_count
from whorl.passes.vectorize.rules.folding import batch_folded, folded, length_along, require_shared, row_numbers
from whorl.passes.vectorize.rules.rule import Rule


def batch_resize(op: Resize, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The axes that are resized are named, so that the one of the rows is not among them."""
    x, *others = operands
    assert x is not None
    rest = [None if o is None else require_shared(o, "the size to which a Resize goes") for o in others]
    named = op.axes if op.axes is not None else range(x.rank)
    return [Batched(build.add(replace(op, axes=tuple(map(x.axis, named))), x.value, *rest))]


def batch_affine_grid(op: AffineGrid, operands: Operands, build: Builder) -> Sequence[Batched]:
    """The size says how many images there are, too."""
    theta, size = operands
    assert theta is not None and size is not None
    rows = row_count(operands, build)
    count = build.add(Mul(), rows, length_along(theta, 0, build), name="images")
    ends = (build.int64(n) for n in (1, 1 << 30))
    lengths = build.add(Slice(), require_shared(size, "the size of an AffineGrid"), *ends, name="size")
    whole = Batched(build.add(Concat(0), count, lengths, name="size"), is_mapped=False)
    return batch_folded(op, [theta, whole], (0, None), None, build)


def batch_roi_align(op: RoiAlign, operands: Operands, build: Builder) -> Sequence[Batched]:
    """Regions lie on images of their row, which are further back among those of all rows."""
    x, regions, images = operands
    assert x is not None and regions is not None and images is not None
    if not x.is_mapped:
        return batch_folded(op, operands, (None, 0, 0), None, build)
    rows = row_count(operands, build)
    before = build.add(Mul(), row_numbers(rows, 2, build), length_along(x, 0, build), name="before")
    moved = Batched(build.add(Add(), give_all_rows(images, rows, build), before, name="images"))
    return batch_folded(op, (x, regions, moved), (0, 0, 0), None, build, length_along(regions, 0, build))


RULES: Mapping[type[Op], Rule] = {
    Resize: batch_resize,
    GridSample: folded(0, 0),
    AffineGrid: batch_affine_grid,
    RoiAlign: batch_roi_align,
    MaxRoiPool: folded(None, 0),
    DepthToSpace: folded(0),
    SpaceToDepth: folded(0),
}
