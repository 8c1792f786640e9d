"""The border between arrays of strings and the numbers that programs have for them.

A table learns strings that runs bring until it is full. What is new to it then is numbered for one run alone, behind
all that it can learn.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

import numpy as np

from whorl.ir.dtypes import INT64, STRING
from whorl.ir.forking import renew_in_children
from whorl.lowering.graph_program import Strings

MOST_LEARNED, LONGEST_LEARNED = 1 << 12, 64
"""Strings that a table learns, and the characters that one may have."""


class StringTable:
    """The strings of a program by their numbers, and their numbers; any number of runs may use it at once.

    Machine code reads in `cells` where the strings lie and how many there are.
    """

    def __init__(self, strings: Strings) -> None:
        self.strings = strings
        self.texts = _array(strings.texts)  # and room for more
        self.numbers = {text: n for n, text in enumerate(strings.texts)}
        self.count = len(self.texts)
        self.cells = np.array([self.texts.ctypes.data, self.count], INT64)
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
        try:
            numbers = np.fromiter(map(self.numbers.get, x.flat), INT64, x.size)
        except TypeError:  # None is no number
            numbers = np.array(self._numbers_of(x.ravel().tolist(), own), INT64)
        return numbers.reshape(x.shape)

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
                if self.count < self.end and len(text) <= LONGEST_LEARNED:
                    self._learn(text)
                else:
                    own[text] = self.end + len(own)

    def decode(self, results: list[np.ndarray], own: Sequence[str]) -> None:
        """Put strings in the place of the numbers in the outputs of a program."""
        for position in self.strings.outputs:
            results[position] = self.decode_array(results[position], own)

    def decode_array(self, numbers: np.ndarray, own: Sequence[str]) -> np.ndarray:
        """The strings of numbers; `own` are those of one run alone."""
        if not own and numbers.ndim:
            return self.texts[numbers]
        texts = np.empty(numbers.shape, STRING)
        self.texts.take(numbers, out=texts, mode="clip")
        is_own = numbers >= self.end
        positions: list[int] = (numbers[is_own] - self.end).tolist()
        texts[is_own] = _array([own[position] for position in positions])
        return texts

    def _learn(self, text: str) -> None:
        """Give a string the next number; its text is there before anybody can meet the number."""
        if self.count == len(self.texts):
            texts = np.concatenate([self.texts, np.empty(max(1, len(self.texts)), STRING)])
            self.cells[0] = texts.ctypes.data  # before the old ones go
            self.texts = texts
        self.texts[self.count] = text
        self.numbers[text] = self.count
        self.count += 1
        self.cells[1] = self.count


def _array(texts: Sequence[str]) -> np.ndarray:
    array = np.empty(len(texts), STRING)
    array[:] = texts
    return array
