"""Settings of property tests: so many examples, the same ones in every run."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings


def drawn(count: int, start: int) -> Callable[[Any], Any]:
    """Settings for so many programs, drawn from a start."""

    def decorate(test: Any) -> Any:
        quick = settings(
            max_examples=count,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        return seed(start)(quick(test))

    return decorate
