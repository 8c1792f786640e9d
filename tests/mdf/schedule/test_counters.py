"""The counters of a schedule are its whole state."""

from mdf.schedule.test_scheduler import PASSES, chain, condition, text

from whorl.mdf.schedule.scheduler import Schedule


def test_state_is_integers_that_can_be_put_back():
    schedule = Schedule(chain("AB", {"B": condition("EveryNPasses", n=3, time_scale="LIFE")}, PASSES))
    list(schedule.call())
    before = list(schedule.state)
    second = text(schedule.call())
    assert all(type(each) is int for each in before) and before != schedule.state
    schedule.restore(before)
    assert text(schedule.call()) == second
