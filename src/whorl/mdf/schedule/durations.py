"""Durations as exact fractions of a second: `5 ms`, `0.25s`, `3 minutes`, or a number with a unit beside it."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from whorl.errors import LoadError

PREFIXES = {
    "": 0, "d": -1, "c": -2, "m": -3, "u": -6, "µ": -6, "μ": -6, "n": -9, "p": -12, "f": -15, "a": -18,
    "da": 1, "h": 2, "k": 3, "M": 6, "G": 9, "T": 12,
    "deci": -1, "centi": -2, "milli": -3, "micro": -6, "nano": -9, "pico": -12, "femto": -15, "atto": -18,
    "deca": 1, "deka": 1, "hecto": 2, "kilo": 3, "mega": 6, "giga": 9, "tera": 12,
}  # fmt: skip
SECOND = ("s", "sec", "second", "seconds")
LONGER = {
    60: ("min", "minute", "minutes"),
    3600: ("h", "hr", "hour", "hours"),
    86400: ("d", "day", "days"),
    604800: ("week", "weeks"),
}
UNITS = {prefix + name: Fraction(10) ** power for prefix, power in PREFIXES.items() for name in SECOND}
UNITS |= {name: Fraction(seconds) for seconds, names in LONGER.items() for name in names}

SHORTEST, LONGEST = 1e-30, 1e30
MAX_LENGTH = 60
TEXT = re.compile(r"\s*(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)?\s*\*?\s*(?P<unit>[^\W\d]+)?\s*")


def unit_of(name: object) -> Fraction:
    """A unit of time in seconds."""
    if not isinstance(name, str) or name not in UNITS:
        raise LoadError(f"{name!r} is not a unit of time", fix="s with an SI prefix (ms, us), min, hour, day or week")
    return UNITS[name]


def duration(value: object, unit: object = "ms") -> Fraction:
    """`value` in seconds; `unit` is for values that name none."""
    if isinstance(value, str):
        match = TEXT.fullmatch(value) if len(value) <= MAX_LENGTH else None
        if match is None or not (match["number"] or match["unit"]):
            raise refusal(value)
        return exact(match["number"] or "1", value) * unit_of(match["unit"] or unit)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refusal(value)
    return exact(value, value) * unit_of(unit)


def exact(number: str | float, value: object) -> Fraction:
    """A number as it is written; one that is far from all times is refused, since exact numbers can be long."""
    try:
        size = abs(float(number))
    except OverflowError:
        raise refusal(value) from None
    if not SHORTEST < size < LONGEST and (size or not is_zero(number)):
        raise refusal(value)
    return Fraction(str(number)) if size else Fraction(0)


def is_zero(number: str | float) -> bool:
    return not set(str(number).lower().partition("e")[0]) & set("123456789")


def refusal(value: object) -> LoadError:
    is_long = isinstance(value, int) and value.bit_length() > 128
    shown = "a number of so many digits" if is_long else repr(value)[:40]
    return LoadError(f"{shown} is not a duration", fix="write a number and a unit of time, such as '5 ms'")


def common_measure(durations: list[Fraction]) -> Fraction:
    """The longest duration of which all given ones are multiples."""
    below = math.lcm(*(each.denominator for each in durations))
    return Fraction(math.gcd(*(int(each * below) for each in durations)), below)
