"""Text in tokens: between separators, by an expression, or character by character."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from whorl.errors import RunError, TypeRuleError
from whorl.ir.dims import UNKNOWN
from whorl.ir.dtypes import STRING, name_of
from whorl.ir.graph import Op
from whorl.ir.types import UNRANKED, AnyShape, Fact, Shape, TensorType, tensor
from whorl.ops.ml.tabular import strings_of
from whorl.ops.text.re2 import Matcher, matcher
from whorl.ops.text.re2_syntax import PatternError

_START, _END = "\x02", "\x03"


class Tokenizer(Op, frozen=True):
    """The tokens of each string on a new last axis, filled up with `pad_value`.

    Tokens are what RE2 `separators`, one after the other, leave between their leftmost-longest matches, else matches of
    `tokenexp`; one separator "" and the expression "." give all characters. Those of fewer than `mincharnum` characters
    are left out. `mark` puts 0x02 before and 0x03 behind the tokens of each string, unless no string has any.
    Shapes: [C] or [N, C]; without elements [0] or [N, 0] comes back. Errors: a separator that matches nothing.
    Source: com.microsoft Tokenizer-1.
    """

    domain: ClassVar[str] = "com.microsoft"

    mark: int = 0
    mincharnum: int = 1
    pad_value: str = ""
    separators: tuple[str, ...] | None = None
    tokenexp: str | None = None

    def infer(self, x: Fact) -> TensorType:
        operand = tensor(x)
        if operand.dtype != STRING:
            raise TypeRuleError(f"does not accept {name_of(operand.dtype)}, expected string")
        self._check()
        return operand.with_shape(_shape(operand.shape))

    def run(self, x: np.ndarray) -> np.ndarray:
        if x.ndim not in (1, 2):
            raise RunError(f"input has shape {list(x.shape)}, expected [C] or [N, C]")
        if not x.size:
            return np.empty((*x.shape[:-1], 0), STRING)
        rows = [self._tokens(text) for text in x.reshape(-1)]
        width = max(map(len, rows))
        if self.mark and width:
            rows, width = [[_START, *row, _END] for row in rows], width + 2
        cells = [cell for row in rows for cell in (*row, *[self.pad_value] * (width - len(row)))]
        return strings_of(cells, (*x.shape, width))

    @property
    def _takes_characters(self) -> bool:
        return self.separators == ("",) if self.separators is not None else self.tokenexp == "."

    def _check(self) -> None:
        """Errors: TypeRuleError for attributes that contradict each other, or are no patterns."""
        if self.mincharnum < 1:
            raise TypeRuleError(f"mincharnum is {self.mincharnum}, expected 1 or more")
        if self._takes_characters:
            if self.mincharnum > 1:
                raise TypeRuleError(f"mincharnum is {self.mincharnum}, but tokens are single characters")
            return
        patterns = self.separators if self.separators is not None else [self.tokenexp] if self.tokenexp else []
        if not patterns:
            raise TypeRuleError("has neither separators nor a tokenexp")
        for pattern in patterns:
            try:
                matches_nothing = matcher(pattern).may_match_nothing
            except PatternError as error:
                raise TypeRuleError(f"pattern {pattern!r}: {error}") from None
            if matches_nothing and self.separators is not None:
                raise TypeRuleError(
                    f"separator {pattern!r} also matches the empty text, so what it separates is not defined"
                )

    def _tokens(self, text: str) -> list[str]:
        if self._takes_characters:
            return list(text)
        if self.separators is None:
            assert self.tokenexp is not None
            return self._matches(matcher(self.tokenexp), text)
        row = [text]
        for separator in self.separators:
            row = [piece for part in row for piece in self._between(matcher(separator), part)]
        return row

    def _between(self, separator: Matcher, text: str) -> list[str]:
        pieces, start = list[str](), 0
        while (match := separator.search(text, start)) is not None:
            pieces.append(text[start : match[0]])
            start = match[1]
        pieces.append(text[start:])
        return [piece for piece in pieces if len(piece) >= self.mincharnum]

    def _matches(self, expression: Matcher, text: str) -> list[str]:
        """After a match that is too short the search goes on at its second character."""
        tokens, start = list[str](), 0
        while start <= len(text) >= self.mincharnum and (match := expression.search(text, start)) is not None:
            begin, end = match
            if end - begin >= self.mincharnum:
                tokens.append(text[begin:end])
                start = end
            else:
                start = begin + 1
        return tokens


def _shape(shape: Shape) -> Shape:
    """An axis more, unless there may be no elements."""
    if isinstance(shape, AnyShape):
        return UNRANKED
    if len(shape) not in (1, 2):
        raise TypeRuleError(f"input has shape {list(shape)}, expected [C] or [N, C]")
    if any(n == 0 for n in shape):
        return (*shape[:-1], 0)
    return (*shape, UNKNOWN) if all(isinstance(n, int) for n in shape) else UNRANKED
