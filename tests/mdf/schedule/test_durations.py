"""Durations of files: numbers with units of time, exactly."""

from fractions import Fraction

import pytest

from whorl.errors import LoadError
from whorl.mdf.schedule.durations import common_measure, duration


@pytest.mark.parametrize(
    ("value", "unit", "seconds"),
    [
        ("5 ms", "ms", Fraction(5, 1000)),
        ("5ms", "s", Fraction(5, 1000)),
        ("0.1 s", "ms", Fraction(1, 10)),
        (2, "ms", Fraction(2, 1000)),
        (0.1, "ms", Fraction(1, 10000)),
        ("7", "us", Fraction(7, 10**6)),
        ("ms", "s", Fraction(1, 1000)),
        ("1.5e3 microseconds", "ms", Fraction(15, 10000)),
        ("2 min", "ms", Fraction(120)),
        ("3 * hours", "ms", Fraction(10800)),
        ("1 day", "ms", Fraction(86400)),
        ("0 ms", "ms", Fraction(0)),
        (0, "s", Fraction(0)),
    ],
)
def test_duration_is_exact(value, unit, seconds):
    assert duration(value, unit) == seconds


@pytest.mark.parametrize(
    "value",
    [
        "",
        "5 parsecs",
        "five ms",
        True,
        None,
        [5],
        float("inf"),
        "1 + 1 ms",
        "1e999999999 ms",
        "1e-999999999 ms",
        10**400,
        "0." + "0" * 100 + "1 s",
    ],
)
def test_duration_of_something_else_is_refused(value):
    with pytest.raises(LoadError, match=r"is not a (duration|unit of time)"):
        duration(value)


def test_common_measure_divides_all():
    assert common_measure([Fraction(3, 1000), Fraction(1, 2000)]) == Fraction(1, 2000)
    assert common_measure([Fraction(4), Fraction(6)]) == 2
