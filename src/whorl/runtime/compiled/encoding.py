"""Structs as bytes, of known classes only: what is read back can be nothing else, and runs nothing.

An object that several others refer to is written once, and is one object again: expressions, variables and buffers
compare by identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum

import msgspec
import numpy as np
from msgspec import Struct

from whorl.ir.dims import UNKNOWN, Unknown
from whorl.ir.dtypes import BY_NAME, NAMES
from whorl.ir.guards import is_dict, is_list, is_tuple
from whorl.ir.types import UNRANKED, AnyShape


class Kind(IntEnum):
    """What the items that follow are; from `FIRST` on, the parts of an object of the class of that number."""

    NONE, PLAIN, TUPLE, LIST, DICT, DTYPE, AGAIN, UNKNOWN, UNRANKED, FIRST = range(10)


_NONE, _PLAIN, _TUPLE, _LIST, _DICT, _DTYPE, _AGAIN, _UNKNOWN, _UNRANKED, _FIRST = map(int, Kind)
"""As numbers: to find a member of an enumeration takes longer than all else that is done for a value."""
_PLAIN_TYPES = frozenset((bool, int, float, str, bytes))
_NO_VALUE = "the bytes are no value"
Item = int | float | str | bytes | bool


class Encoder:
    """Writes objects as a list of plain items, each object's kind and size before its parts."""

    def __init__(self, classes: Iterable[type[Struct]]) -> None:
        self.numbers = {cls: n for n, cls in enumerate(classes, int(Kind.FIRST))}

    def encode(self, value: object) -> bytes:
        """The bytes of a value. Raises TypeError for what is of no known class."""
        items: list[Item] = []
        self._write(value, items, {}, [])
        return msgspec.msgpack.encode(items)

    def _write(self, value: object, items: list[Item], known: dict[int, int], alive: list[object]) -> None:
        if type(value) in _PLAIN_TYPES:
            items += (_PLAIN, value)  # type: ignore[arg-type]
        elif isinstance(value, Struct) and type(value) in self.numbers:
            if id(value) in known:
                items += (_AGAIN, known[id(value)])
                return
            items.append(self.numbers[type(value)])
            for name in value.__struct_fields__:
                self._write(getattr(value, name), items, known, alive)
            known[id(value)] = len(known)
            alive.append(value)
        else:
            self._write_other(value, items, known, alive)

    def _write_other(self, value: object, items: list[Item], known: dict[int, int], alive: list[object]) -> None:
        match value:
            case None:
                items.append(_NONE)
            case np.dtype() if value in NAMES:
                items += (_DTYPE, NAMES[value])
            case Unknown():
                items.append(_UNKNOWN)
            case AnyShape():
                items.append(_UNRANKED)
            case int() | float() | str() | bytes():
                items += (_PLAIN, value)
            case _:
                self._write_several(value, items, known, alive)

    def _write_several(self, value: object, items: list[Item], known: dict[int, int], alive: list[object]) -> None:
        if is_tuple(value) or is_list(value):
            items += (_TUPLE if is_tuple(value) else _LIST, len(value))
            parts: Iterable[object] = value
        elif is_dict(value):
            items += (_DICT, len(value))
            parts = (part for pair in value.items() for part in pair)
        else:
            raise TypeError(f"{type(value).__name__} cannot be written")
        for part in parts:
            self._write(part, items, known, alive)


class Decoder:
    """Reads what an encoder of the same classes has written."""

    def __init__(self, classes: Iterable[type[Struct]]) -> None:
        self.classes = list(classes)

    def decode(self, data: bytes | memoryview) -> object:
        """The value. Raises ValueError for bytes that no encoder has written."""
        try:
            items: list[Item] = msgspec.msgpack.decode(data)
            return self._read(iter(items), [])
        except (msgspec.DecodeError, StopIteration, IndexError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(_NO_VALUE) from error

    def _read(self, items: Iterator[Item], known: list[Struct]) -> object:
        kind = next(items)
        if kind == _PLAIN:
            return next(items)
        if not isinstance(kind, int) or kind < 0:
            raise ValueError(_NO_VALUE)
        if kind >= _FIRST:
            cls = self.classes[kind - _FIRST]
            value = cls(*[self._read(items, known) for _ in cls.__struct_fields__])
            known.append(value)
            return value
        if kind == _AGAIN:
            return known[_count(items)]
        if kind == _TUPLE:
            return tuple([self._read(items, known) for _ in range(_count(items))])
        if kind == _LIST:
            return [self._read(items, known) for _ in range(_count(items))]
        if kind == _DICT:
            return {self._read(items, known): self._read(items, known) for _ in range(_count(items))}
        if kind == _DTYPE:
            return BY_NAME[str(next(items))]
        return {_NONE: None, _UNKNOWN: UNKNOWN, _UNRANKED: UNRANKED}[kind]


def _count(items: Iterator[Item]) -> int:
    count = next(items)
    if not isinstance(count, int) or count < 0:
        raise ValueError(_NO_VALUE)
    return count
