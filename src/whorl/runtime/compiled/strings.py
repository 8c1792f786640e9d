"""The border between arrays of strings and the numbers that programs have for them.

A table learns strings that runs bring until it is full. What is new to it then is numbered for one run alone, behind
all that it can learn.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from whorl.ir.dtypes import INT64, STRING
from whorl.ir.forking import renew_in_children
from whorl.lowering.graph_program import Strings

MOST_LEARNED, LONGEST_LEARNED = 1 << 12, 64
"""Strings that a table learns, and the characters that one may have."""


class StringTable:
    """The strings of a program by their numbers, and their numbers; any number of runs may use it at once."""

    def __init__(self, strings: Strings) -> None:
        self.strings = strings
        self.texts = _array(strings.texts)
        self.numbers = {text: n for n, text in enumerate(strings.texts)}
        self.learned: list[str] = []
        self.end = len(self.texts) + MOST_LEARNED
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """A free lock: that of a fork's parent may be taken."""
        self.lock = threading.Lock()

    def encode(self, arrays: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[str]] | None:
        """The inputs of a program with numbers for strings, and the strings of this run alone, in order of theirs.

        None where an element is no string.
        """
        result, own = [*arrays], dict[str, int]()
        try:
            for position in self.strings.inputs:
                result[position] = self.encode_array(arrays[position], own)
        except TypeError:
            return None
        return result, [*own]

    def encode_array(self, x: np.ndarray, own: dict[str, int]) -> np.ndarray:
        """The numbers of a tensor of strings; `own` are those of this run. Errors: TypeError where one is no string."""
        texts, numbers = x.ravel().tolist(), np.empty(x.shape, INT64)
        pack = partial(struct.pack_into, f"{len(texts)}q", numbers.data, 0)
        try:
            pack(*map(self.numbers.get, texts))
        except struct.error:  # None is no number
            pack(*self._numbers_of(texts, own))
        return numbers

    def _numbers_of(self, texts: Sequence[str], own: dict[str, int]) -> list[int]:
        """The numbers of strings of which some are new. Errors: TypeError where one is no string."""
        self._add(set(texts).difference(self.numbers, own), own)
        known = map(self.numbers.get, texts)
        return [own[text] if n is None else n for n, text in zip(known, texts, strict=True)]

    def _add(self, texts: Iterable[str], own: dict[str, int]) -> None:
        """Learn strings, or number them for one run. Errors: TypeError where one is none."""
        with self.lock:
            for text in texts:
                if type(text) is not str:
                    raise TypeError
                if text in self.numbers:  # another thread has been here
                    continue
                if len(self.learned) < MOST_LEARNED and len(text) <= LONGEST_LEARNED:
                    self.learned.append(text)
                    self.numbers[text] = len(self.texts) + len(self.learned) - 1
                else:
                    own[text] = self.end + len(own)

    def decode(self, results: list[np.ndarray], own: Sequence[str]) -> None:
        """Put strings in the place of the numbers in the outputs of a program."""
        for position in self.strings.outputs:
            results[position] = self.decode_array(results[position], own)

    def decode_array(self, numbers: np.ndarray, own: Sequence[str]) -> np.ndarray:
        """The strings of numbers; `own` are those of one run alone."""
        texts = np.empty(numbers.shape, STRING)
        self.texts.take(numbers, out=texts, mode="clip")
        is_later = numbers >= len(self.texts)
        if is_later.any():
            texts[is_later] = _array([self._text(number, own) for number in numbers[is_later].tolist()])
        return texts

    def _text(self, number: int, own: Sequence[str]) -> str:
        """The string of a number that is none of the program's."""
        return own[number - self.end] if number >= self.end else self.learned[number - len(self.texts)]


def _array(texts: Sequence[str]) -> np.ndarray:
    array = np.empty(len(texts), STRING)
    array[:] = texts
    return array
