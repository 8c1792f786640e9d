"""Choosing among overlapping boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whorl.errors import RunError
from whorl.ir.dims import UNKNOWN, Dim
from whorl.ir.dtypes import FLOAT32, INT64
from whorl.ir.graph import Op
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.view import Operands, View
from whorl.ir.types import Fact, TensorType, tensor
from whorl.ops.core.base import check_types, dims_of, one_element, require_dtype, unify_lengths
from whorl.ops.image.native_detection import Suppression, suppress_overlaps
from whorl.ops.native.index_maps import as_length, clamp_index, fit, read_element, read_int64


class NonMaxSuppression(Op, frozen=True):
    """Boxes by falling score, each kept unless it overlaps one that was kept before, for every image and class apart.

    Inputs: boxes [N, boxes, 4] as two opposite corners (y1, x1, y2, x2), or around the centre (x, y, width, height)
    with `center_point_box`; scores [N, classes, boxes]; the most boxes to keep of a class (0 where omitted); the
    overlap (area of intersection / area of union) above which a box goes (0); the score that a box must exceed (none).
    Output: rows (image, class, box). The first of equal scores wins. Source: ONNX NonMaxSuppression-11.
    """

    any_length = True

    center_point_box: int = 0

    def infer(
        self,
        boxes: Fact,
        scores: Fact,
        most: Fact | None = None,
        overlap: Fact | None = None,
        threshold: Fact | None = None,
    ) -> TensorType:
        for fact in (boxes, scores, overlap, threshold):
            if fact is not None:
                require_dtype(tensor(fact).dtype, frozenset((FLOAT32,)))
        if most is not None:
            require_dtype(tensor(most).dtype, frozenset((INT64,)))
        batch, count, corners = dims_of(boxes, 3, "boxes")
        rows, _, scored = dims_of(scores, 3, "scores")
        unify_lengths("the batch", batch, rows)
        unify_lengths("the number of boxes", count, scored)
        unify_lengths("the length of a box", corners, 4)
        return TensorType(INT64, (UNKNOWN, 3))

    def run(
        self,
        boxes: np.ndarray,
        scores: np.ndarray,
        most: np.ndarray | None = None,
        overlap: np.ndarray | None = None,
        threshold: np.ndarray | None = None,
    ) -> np.ndarray:
        check_types(self, boxes, scores, most, overlap, threshold)
        limit = _number(most, "max_output_boxes_per_class", 0)
        allowed = np.float32(_number(overlap, "iou_threshold", 0.0))
        if not 0 <= allowed <= 1:
            raise RunError(f"iou_threshold is {allowed}, expected a number between 0 and 1")
        least = _number(threshold, "score_threshold", None)
        chosen = []
        for n, (image, classes) in enumerate(zip(self._corners(boxes), scores, strict=True)):
            for c, row in enumerate(classes):
                chosen += [(n, c, box) for box in _suppress_overlaps(image, row, limit, allowed, least)]
        return np.array(chosen, np.int64).reshape(-1, 3)

    def lower(self, k: NativeBuilder, inputs: Operands, outputs: Sequence[TensorType]) -> Sequence[View] | None:
        boxes, scores = inputs[:2]
        numbers = [inputs.optional(n) for n in (2, 3, 4)]
        if any(view is not None and view.size not in (0, 1) for view in numbers) or not _agree(k, boxes, scores):
            return None
        most, overlap, threshold = (view if view is not None and view.size else None for view in numbers)
        allowed = k.const(0.0, FLOAT32) if overlap is None else k.let(read_element(k, overlap))
        for compare, bound in (("ge", 0.0), ("le", 1.0)):
            k.fail_unless(k.compare(compare, allowed, k.const(bound, FLOAT32)))
        least = None if threshold is None else k.let(read_element(k, threshold))
        limit = 0 if most is None else _limit(k, most, scores.shape[2])
        return [suppress_overlaps(k, boxes, scores, Suppression(limit, allowed, least, bool(self.center_point_box)))]

    def _corners(self, boxes: np.ndarray) -> np.ndarray:
        """[N, boxes, 4]: the least and the largest coordinates of both axes."""
        if self.center_point_box:
            centre, half = boxes[..., :2], boxes[..., 2:] / np.float32(2)
            return np.concatenate([centre - half, centre + half], axis=-1)
        first, second = boxes[..., :2], boxes[..., 2:]
        return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=-1)


def _agree(k: NativeBuilder, boxes: View, scores: View) -> bool:
    """Whether there is a score for each box; the program fails where only the run tells that there is not."""
    images, count, corners = boxes.shape
    return fit(k, (images, count, corners), (scores.shape[0], scores.shape[2], 4))


def _limit(k: NativeBuilder, most: View, count: Dim) -> Dim:
    """The most boxes to keep, which are no more than there are."""
    number = k.number(read_int64(k, most))
    if isinstance(number, int):
        return max(0, number)
    return as_length(k, clamp_index(k, read_int64(k, most), 0, count))


def _number(value: np.ndarray | None, what: str, default: Any) -> Any:
    """The single element of an input that may be omitted or empty."""
    return default if value is None or not value.size else one_element(value, what)


def _suppress_overlaps(
    boxes: np.ndarray, scores: np.ndarray, limit: int, allowed: np.floating, least: float | None
) -> list[int]:
    """The boxes of one class that stay, the best first."""
    order = np.argsort(-scores, kind="stable")
    order = order if least is None else order[scores[order] > np.float32(least)]
    selected: list[int] = []
    while order.size and len(selected) < limit:
        best, order = order[0], order[1:]
        selected.append(int(best))
        order = order[~(_overlaps(boxes[best], boxes[order]) > allowed)]
    return selected


def _overlaps(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of a box with others; 0 where an area is not positive."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    common = np.maximum(sides, 0).prod(axis=1)
    area, areas = (box[2:] - box[:2]).prod(), (others[:, 2:] - others[:, :2]).prod(axis=1)
    union = area + areas - common
    proper = (common > 0) & (area > 0) & (areas > 0) & (union > 0)
    return np.divide(common, union, out=np.zeros_like(common), where=proper)
