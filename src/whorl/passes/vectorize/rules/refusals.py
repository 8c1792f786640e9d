"""Ops that cannot be computed for many rows at once, and why."""

from __future__ import annotations

from collections.abc import Mapping

from whorl.ir.graph import Op
from whorl.ops.core.custom import CustomOp, ImpureCustomOp
from whorl.ops.image.decoding import ImageDecoder
from whorl.ops.image.detection import NonMaxSuppression
from whorl.ops.ml.labels import CastMap, DictVectorizer, ZipMap
from whorl.ops.ml.training import Gradient
from whorl.ops.movement.filling import ConstantOfShape, Range
from whorl.ops.movement.selection import NonZero, Unique
from whorl.ops.sequence.optionals import Optional, OptionalGetElement, OptionalHasElement
from whorl.ops.sequence.sequences import (
    ConcatFromSequence,
    SequenceConstruct,
    SequenceEmpty,
    SequenceErase,
    SequenceInsert,
    SequenceLength,
    SplitToSequence,
)
from whorl.ops.signal.spectral import BlackmanWindow, HammingWindow, HannWindow, MelWeightMatrix
from whorl.ops.text.strings import StringNormalizer, StringSplit
from whorl.ops.text.tokens import Tokenizer

_OF_ANY_LENGTH: tuple[type[Op], ...] = (
    NonZero,
    Unique,
    NonMaxSuppression,
    StringSplit,
    StringNormalizer,
    Tokenizer,
    Range,
    ConstantOfShape,
    BlackmanWindow,
    HammingWindow,
    HannWindow,
    MelWeightMatrix,
    ImageDecoder,
)
_OF_SEQUENCES: tuple[type[Op], ...] = (
    ConcatFromSequence,
    SequenceConstruct,
    SequenceEmpty,
    SequenceErase,
    SequenceInsert,
    SequenceLength,
    SplitToSequence,
)
_OF_OPTIONALS: tuple[type[Op], ...] = (Optional, OptionalGetElement, OptionalHasElement)

REASONS: Mapping[type[Op], str] = {
    **dict[type[Op], str].fromkeys(_OF_ANY_LENGTH, "results of rows may differ in length"),
    **dict[type[Op], str].fromkeys(_OF_SEQUENCES, "a sequence has no axis for rows"),
    **dict[type[Op], str].fromkeys(_OF_OPTIONALS, "an optional has no axis for rows"),
    **dict[type[Op], str].fromkeys((CastMap, DictVectorizer, ZipMap), "a map has no axis for rows"),
    **dict[type[Op], str].fromkeys((CustomOp, ImpureCustomOp), "what it computes of many rows is not registered"),
    Gradient: "the graph that it derives is not among its inputs",
}
