"""Native forms of draws: the Mersenne Twister MT19937 as NumPy's `RandomState` runs it, to the last bit.

Two words of 32 bits make a number of 53 bits; two of those in the unit circle make two normal numbers, of which the
second waits for the next draw. The logarithm is the C library's, as NumPy's is.
Sources: Matsumoto and Nishimura, Mersenne Twister (1998); Marsaglia and Bray, A convenient method (1964); NumPy's
`legacy-distributions.c`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from whorl.ir.dims import Dim
from whorl.ir.dtypes import BY_NAME, FLOAT64, INT64
from whorl.ir.native.builder import NativeBuilder
from whorl.ir.native.expressions import Buffer, Expr, Var
from whorl.ir.native.view import View

WORDS, _NEAR = 624, 397
"""Words of the state, and the distance at which they are combined."""
_WORD, _WHOLE = BY_NAME["uint32"], BY_NAME["uint64"]
_SHIFT = 32


class _Words(Struct, frozen=True):
    """The words of a stream in memory that may be written, and the position of the next one in a register."""

    k: NativeBuilder
    buffer: Buffer
    position: Var

    @classmethod
    def of(cls, k: NativeBuilder, stream: View) -> _Words:
        """The words of a stream."""
        buffer, position = k.writable(stream), k.variable(INT64, "position", once=False)
        k.assign(position, k.cast(k.load(buffer, (k.const(WORDS),)), INT64))
        return cls(k, buffer, position)

    def close(self) -> View:
        """The stream behind what was drawn."""
        self.k.store(self.buffer, (self.k.const(WORDS),), self.k.cast(self.position, _WORD))
        return self.k.view_of(self.buffer)

    def number(self) -> Expr:
        """The next number of [0, 1), of 53 bits."""
        k, position = self.k, self.position
        with k.when(k.compare("ge", position, k.const(WORDS))):
            self._twist()
            k.assign(position, k.const(0))
        high, low = self._word(position, 5), self._word(k.add(position, k.const(1)), 6)
        value = k.let(k.mul(k.add(k.mul(high, k.const(2.0**26, FLOAT64)), low), k.const(2.0**-53, FLOAT64)))
        k.assign(position, k.add(position, k.const(2)))
        return value

    def _word(self, position: Expr, dropped: int) -> Expr:
        """A word, tempered, without its lowest bits, as a float."""
        k = self.k
        word = k.let(k.load(self.buffer, (position,)))
        for how, count, mask in (("shr", 11, -1), ("shl", 7, 0x9D2C5680), ("shl", 15, 0xEFC60000), ("shr", 18, -1)):
            moved = self._move(how, word, count)
            word = k.let(k.apply("xor", word, moved if mask < 0 else k.apply("and", moved, k.const(mask, _WORD))))
        return k.cast(k.cast(self._move("shr", word, dropped), INT64), FLOAT64)

    def _move(self, how: str, word: Expr, count: int) -> Expr:
        return self.k.apply(how, word, self.k.const(count, _WORD))

    def _twist(self) -> None:
        """The next words, each from itself, its neighbour and one at a distance."""
        k, far = self.k, WORDS - _NEAR
        with k.loop(far) as n:
            self._combine(n, k.add(n, k.const(1)), k.add(n, k.const(_NEAR)))
        with k.loop(WORDS - 1 - far) as n:
            own = k.add(n, k.const(far))
            self._combine(own, k.add(own, k.const(1)), n)
        self._combine(k.const(WORDS - 1), k.const(0), k.const(_NEAR - 1))

    def _combine(self, own: Expr, neighbour: Expr, distant: Expr) -> None:
        k = self.k
        first, second, other = (k.load(self.buffer, (n,)) for n in (own, neighbour, distant))
        high = k.apply("and", first, k.const(1 << 31, _WORD))
        mixed = k.let(k.apply("or", high, k.apply("and", second, k.const((1 << 31) - 1, _WORD))))
        is_odd = k.compare("ne", k.apply("and", mixed, k.const(1, _WORD)), k.const(0, _WORD))
        magic = k.select(is_odd, k.const(0x9908B0DF, _WORD), k.const(0, _WORD))
        k.store(self.buffer, (own,), k.apply("xor", other, k.apply("xor", self._move("shr", mixed, 1), magic)))


def write_uniform(k: NativeBuilder, stream: View, shape: Sequence[Dim]) -> list[View]:
    """Numbers of [0, 1) in row-major order, and the stream behind them."""
    words, result = _Words.of(k, stream), k.temporary(FLOAT64, shape)
    with k.nest(shape, parallel=False) as index:
        k.store(result, index, words.number())
    return [k.view_of(result, shape), words.close()]


def write_normal(k: NativeBuilder, stream: View, shape: Sequence[Dim]) -> list[View]:
    """Normal numbers in row-major order, and the stream behind them.

    With u and v spread over [-1, 1), s = u^2 + v^2 in (0, 1) and f = sqrt(-2 log(s) / s): f v, then f u.
    """
    words, result = _Words.of(k, stream), k.temporary(FLOAT64, shape)
    has_left, left = k.variable(INT64, "has_left", once=False), k.variable(FLOAT64, "left", once=False)
    value, squares = k.variable(FLOAT64, "value", once=False), k.variable(FLOAT64, "squares", once=False)
    first, second = k.variable(FLOAT64, "first", once=False), k.variable(FLOAT64, "second", once=False)
    low, high = (k.cast(k.load(words.buffer, (k.const(WORDS + n),)), _WHOLE) for n in (2, 3))
    k.assign(has_left, k.cast(k.load(words.buffer, (k.const(WORDS + 1),)), INT64))
    bits = k.apply("or", k.apply("shl", high, k.const(_SHIFT, _WHOLE)), low)
    k.assign(left, k.apply("bits", bits, dtype=FLOAT64))
    zero, one, two = (k.const(n, FLOAT64) for n in (0.0, 1.0, 2.0))

    with k.nest(shape, parallel=False) as index:
        k.assign(value, left)
        with k.when(k.compare("eq", has_left, k.const(0))):
            for variable in (squares, first, second):
                k.assign(variable, zero)
            with k.repeat_while(lambda: k.apply("or", k.compare("ge", squares, one), k.compare("eq", squares, zero))):
                k.assign(first, k.sub(k.mul(two, words.number()), one))
                k.assign(second, k.sub(k.mul(two, words.number()), one))
                k.assign(squares, k.add(k.mul(first, first), k.mul(second, second)))
            ratio = k.div(k.mul(k.const(-2.0, FLOAT64), k.apply("c_log", squares)), squares)
            factor = k.let(k.apply("sqrt", ratio))
            k.assign(left, k.mul(factor, first))
            k.assign(value, k.mul(factor, second))
        k.assign(has_left, k.sub(k.const(1), has_left))
        k.store(result, index, value)
    k.store(words.buffer, (k.const(WORDS + 1),), k.cast(has_left, _WORD))
    # NumPy forgets the number that is no longer left over.
    rest = k.let(k.apply("bits", k.select(k.compare("eq", has_left, k.const(0)), zero, left), dtype=_WHOLE))
    k.store(words.buffer, (k.const(WORDS + 2),), k.cast(rest, _WORD))
    k.store(words.buffer, (k.const(WORDS + 3),), k.cast(k.apply("shr", rest, k.const(_SHIFT, _WHOLE)), _WORD))
    return [k.view_of(result, shape), words.close()]


def write_classes(k: NativeBuilder, stream: View, x: View, count: int, dtype: np.dtype) -> list[View]:
    """Class numbers of each row, and the stream behind them: how many cumulated weights are not above a number."""
    words, (rows, classes) = _Words.of(k, stream), x.shape
    result, levels = k.temporary(dtype, (rows, count)), k.temporary(FLOAT64, (classes,))
    zero, lowest = k.const(0.0, FLOAT64), k.const(-np.inf, FLOAT64)
    x = k.materialise_reread(x)
    with k.loop(rows) as row:
        highest = k.reduce(
            (classes,), lowest, lambda most, index: k.apply("max", most, k.cast(x.at((row, *index)), FLOAT64))
        )
        total = k.variable(FLOAT64, "total", once=False)
        k.assign(total, zero)
        with k.loop(classes) as n:
            k.assign(total, k.add(total, k.apply("exp", k.sub(k.cast(x.at((row, n)), FLOAT64), highest))))
            k.store(levels, (n,), total)
        k.fail_unless(k.compare("gt", total, zero))
        with k.loop(count) as draw:
            target = k.let(k.mul(words.number(), total))

            def add_below(below: Expr, index: Sequence[Expr], target: Expr = target) -> Expr:
                return k.add(below, k.cast(k.compare("le", k.load(levels, tuple(index)), target), INT64))

            k.store(result, (row, draw), k.cast(k.reduce((classes,), k.const(0), add_below), dtype))
    return [k.view_of(result, (rows, count)), words.close()]
