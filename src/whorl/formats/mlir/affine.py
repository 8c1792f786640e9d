"""Affine maps of MLIR: `affine_map<(d0, d1) -> (d0 floordiv 32, d0 mod 32, d1)>` applied to all indices of a shape."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

_MAP = re.compile(r"affine_map<\s*\(([^()]*)\)\s*->\s*\((.*)\)\s*>", re.DOTALL)
_TOKEN = re.compile(r"\s*(\d+|[A-Za-z_]\w*|[-+*(),]|\Z)")
_LARGEST = 1 << 31
_MOST_TOKENS = 1000
_MOST_NESTED = 100


def read_affine_map(text: str, lengths: Sequence[int]) -> list[np.ndarray]:
    """The results of a map for each index of a tensor of these lengths. Errors: ValueError."""
    match = _MAP.fullmatch(text.strip())
    if match is None:
        raise ValueError("expected affine_map<(dims) -> (expressions)>, without symbols")
    names = [name.strip() for name in match[1].split(",") if name.strip()]
    if len(names) != len(lengths) or len(set(names)) != len(names):
        raise ValueError(f"it has the dims ({', '.join(names)}) for {len(lengths)} axes")
    grids = np.indices(lengths, np.int64)
    parser = _Parser(_tokens(match[2]), dict(zip(names, grids, strict=True)), np.zeros(lengths, np.int64))
    return parser.results()


def _tokens(text: str) -> list[str]:
    tokens, position = [], 0
    while True:
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"{text[position : position + 20].strip()!r} is not understood")
        if not match[1]:
            return tokens
        tokens.append(match[1])
        position = match.end()
        if len(tokens) > _MOST_TOKENS:
            raise ValueError(f"it has more than {_MOST_TOKENS} parts")


class _Parser(Struct):
    """Evaluates while it parses: sums of products; `*`, `floordiv`, `ceildiv` and `mod` bind alike, from the left."""

    tokens: list[str]
    dims: dict[str, np.ndarray]
    zero: np.ndarray
    at: int = 0
    depth: int = 0

    def results(self) -> list[np.ndarray]:
        """All expressions."""
        match: list[np.ndarray] = []
        while self.at < len(self.tokens):
            match.append(self._sum())
            if self.at < len(self.tokens):
                self._expect(",")
        return match

    def _next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _expect(self, mark: str) -> None:
        if self._next() != mark:
            raise ValueError(f"{mark!r} is expected behind {' '.join(self.tokens[: self.at - 1])!r}")

    def _sum(self) -> np.ndarray:
        value = self._product()
        while self._peek() in ("+", "-"):
            sign = 1 if self._next() == "+" else -1
            value = _bounded(value + sign * self._product())
        return value

    def _product(self) -> np.ndarray:
        value = self._factor()
        while self._peek() in ("*", "floordiv", "ceildiv", "mod"):
            kind, other = self._next(), self._factor()
            if kind != "*" and (other <= 0).any():
                raise ValueError(f"{kind} needs a positive divisor")
            match kind:
                case "*":
                    value = _bounded(value * other)
                case "floordiv":
                    value = value // other
                case "ceildiv":
                    value = -(-value // other)
                case "mod":
                    value = value % other
                case _:
                    pass
        return value

    def _factor(self) -> np.ndarray:
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise ValueError(f"it is nested deeper than {_MOST_NESTED}")
        value = self._operand()
        self.depth -= 1
        return value

    def _operand(self) -> np.ndarray:
        token = self._next()
        if token == "-":
            return -self._factor()
        if token == "(":
            value = self._sum()
            self._expect(")")
            return value
        if token.isdigit() and len(token) < len(str(_LARGEST)):
            return self.zero + int(token)
        if token not in self.dims:
            raise ValueError(f"{token!r} is no dim and no number")
        return self.dims[token]


def _bounded(value: np.ndarray) -> np.ndarray:
    """The value, if no later product of two such can wrap."""
    if value.size and max(-int(value.min()), int(value.max())) >= _LARGEST:
        raise ValueError("an index is too large")
    return value
