"""Arguments of conditions."""

import pytest
from mdf.schedule.test_scheduler import chain, condition

from whorl.errors import LoadError
from whorl.mdf.schedule.scheduler import Schedule


def test_conditions_that_lie_too_deep_are_refused():
    deep = condition("Always")
    for _ in range(2000):
        deep = condition("Not", condition=deep)
    with pytest.raises(LoadError, match="condition of node 'A' in graph 'g': conditions lie more than 64 deep"):
        Schedule(chain("A", {"A": deep}))
