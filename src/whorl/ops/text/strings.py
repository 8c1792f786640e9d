"""Text: joining, cleaning, splitting and matching strings."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import BOOL, INT64, STRING, name_of
from whorl.ir.graph import Op
from whorl.ir.types import UNRANKED, AnyShape, Fact, Shape, TensorType, tensor
from whorl.ops.core.base import Elementwise
from whorl.ops.ml.tabular import strings_of
from whorl.ops.text.re2 import matcher
from whorl.ops.text.re2_syntax import PatternError


def _strings(fact: Fact) -> TensorType:
    operand = tensor(fact)
    if operand.dtype != STRING:
        raise TypeRuleError(f"does not accept {name_of(operand.dtype)}, expected string")
    return operand


class StringConcat(Elementwise, frozen=True):
    """The text of x followed by that of y, broadcast. Source: ONNX StringConcat-20."""

    dtypes: ClassVar[frozenset[np.dtype]] = frozenset((STRING,))

    def run(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(x + y, dtype=STRING)


_CASES = {"NONE": lambda text: text, "LOWER": str.lower, "UPPER": str.upper}


class StringNormalizer(Op, frozen=True):
    """The strings that are no stop words, in lower or upper case; one empty string where none is left.

    Shapes: [C] or [1, C]. Case follows Unicode, whatever `locale` says. Source: ONNX StringNormalizer-10.
    """

    case_change_action: str = "NONE"
    is_case_sensitive: int = 0
    locale: str | None = None
    stopwords: tuple[str, ...] = ()

    def infer(self, x: Fact) -> TensorType:
        operand = _strings(x)
        if self.case_change_action not in _CASES:
            raise TypeRuleError(f"case_change_action {self.case_change_action!r} is none of {', '.join(_CASES)}")
        return operand.with_shape(self._shape(operand.shape))

    def _shape(self, shape: Shape) -> Shape:
        if isinstance(shape, AnyShape):
            return UNRANKED
        if len(shape) not in (1, 2) or (len(shape) == 2 and isinstance(shape[0], int) and shape[0] != 1):
            raise TypeRuleError(f"input has shape {list(shape)}, expected [C] or [1, C]")
        count = shape[-1] if not self.stopwords and isinstance(shape[-1], int) and shape[-1] else UNKNOWN
        return (*(1,) * (len(shape) - 1), count)

    def run(self, x: np.ndarray) -> np.ndarray:
        if x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[0] != 1):
            raise RunError(f"input has shape {list(x.shape)}, expected [C] or [1, C]")
        compared = str if self.is_case_sensitive else str.lower
        stops = {compared(word) for word in self.stopwords}
        change = _CASES[self.case_change_action]
        remaining = [change(text) for text in x.reshape(-1) if compared(text) not in stops] or [""]
        return strings_of(remaining, (1,) * (x.ndim - 1) + (len(remaining),))


class StringSplit(Op, frozen=True):
    """The parts of each string on a new last axis, filled up with "", and how many there are.

    An empty delimiter splits at runs of white space and drops it at both ends; `maxsplit` leaves the rest as one part.
    Source: ONNX StringSplit-20.
    """

    delimiter: str | None = None
    maxsplit: int | None = None

    def infer(self, x: Fact) -> tuple[TensorType, TensorType]:
        operand = _strings(x)
        shape = UNRANKED if isinstance(operand.shape, AnyShape) else (*operand.shape, UNKNOWN)
        return operand.with_shape(shape), operand.with_dtype(INT64)

    def run(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        limit = -1 if self.maxsplit is None else self.maxsplit
        parts = [text.split(self.delimiter or None, limit) for text in x.reshape(-1)]
        counts = np.array([len(pieces) for pieces in parts], np.int64)
        width = int(counts.max(initial=0))
        cells = [cell for pieces in parts for cell in (*pieces, *[""] * (width - len(pieces)))]
        return strings_of(cells, (*x.shape, width)), counts.reshape(x.shape)


class RegexFullMatch(Op, frozen=True):
    """Whether the RE2 `pattern` describes the whole string. Takes time linear in the text, whatever the pattern.

    Errors: not RE2, or a part of it that `re2_syntax` leaves out. Source: ONNX RegexFullMatch-20.
    """

    pattern: str = ""

    def infer(self, x: Fact) -> TensorType:
        try:
            matcher(self.pattern)
        except PatternError as error:
            raise TypeRuleError(f"pattern {self.pattern!r}: {error}") from None
        return _strings(x).with_dtype(BOOL)

    def run(self, x: np.ndarray) -> np.ndarray:
        matches = matcher(self.pattern).fullmatch
        return np.array([matches(text) for text in x.reshape(-1)], np.bool_).reshape(x.shape)
