"""Predicates over counters and values."""

import pytest
from mdf.schedule.test_scheduler import chain, condition

from whorl.errors import RunError
from whorl.mdf.schedule.scheduler import Schedule


@pytest.mark.parametrize(
    ("comparator", "threshold", "is_met"),
    [("<", 2, False), ("<=", 2, True), ("==", 2.05, True), ("!=", 2.05, False), (">", 1, True), (">=", 2.5, False)],
)
def test_threshold_compares_one_element_within_tolerance(comparator, threshold, is_met):
    end = condition(
        "Threshold", dependency="A", parameter="o", threshold=threshold, comparator=comparator, indices=[1], atol=0.1
    )
    (reading,) = Schedule(chain("A", end=end)).plan.readings
    assert reading.is_met([7.0, 2.0]) is is_met


def test_threshold_of_an_array_is_refused():
    end = condition("Threshold", dependency="A", parameter="o", threshold=1, comparator=">")
    with pytest.raises(RunError, match=r"needs one number, and 'o' of node 'A' holds \[1, 2\]"):
        list(Schedule(chain("A", end=end), read=lambda reading: [1, 2]).call())
