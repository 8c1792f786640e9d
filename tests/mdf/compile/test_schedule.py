"""Schedules inside a program: calls that repeat, and whether the loop must count them."""

import pytest
from mdf.schedule.test_scheduler import chain, condition

from whorl.mdf.compile.schedule import TracedSchedule

SOON, LATE = ({"B": condition("AfterNEnvironmentStateUpdates", n=n)} for n in (2, 6))
ONE_PASS = condition("AfterNPasses", n=1)


@pytest.mark.parametrize(("specific", "is_counted", "lead"), [(None, False, 0), (SOON, False, 3), (LATE, True, 7)])
def test_calls_repeat_after_a_lead(specific, is_counted, lead):
    schedule = TracedSchedule(chain("AB", specific, ONE_PASS))
    assert schedule.is_counted is is_counted
    assert len(schedule.period.lead) == lead
    assert is_counted or [schedule.is_periodic(calls) for calls in range(5)] == [calls >= lead for calls in range(5)]


def test_schedule_on_values_has_no_period():
    end = condition("Threshold", dependency="A", parameter="o", threshold=2, comparator=">=")
    schedule = TracedSchedule(chain("A", end=end))
    assert schedule.schedule.has_threshold and not schedule.is_counted
