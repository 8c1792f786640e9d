"""Program caches of a subgraph by limits on iterations: made when first asked for, the oldest forgotten."""

from __future__ import annotations

import numpy as np
from runtime.native_sessions import DOUBLED, F32, SUM, session, subgraph

from whorl.runtime.compiled.subgraph_programs import MOST_LIMITS


def test_limit_on_iterations_has_a_cache_of_its_own() -> None:
    programs = subgraph(session(DOUBLED)).programs
    values = [np.array(3), np.ones(3, F32)]
    caches = [programs.choose(values, most) for most in (None, 5, 5, 6)]
    assert all(chosen is not None for chosen in caches)
    plain, five, again, six = (chosen[0] for chosen in caches if chosen is not None)
    assert plain is programs.cache
    assert five is again is not six
    assert [cache.most_iterations for cache in programs.caches] == [None, 5, 6]


def test_oldest_limits_are_forgotten() -> None:
    programs = subgraph(session(DOUBLED)).programs
    for most in range(2 * MOST_LIMITS):
        programs.choose([np.array(3), np.ones(3, F32)], most)
    assert [*programs.limited] == [*range(MOST_LIMITS, 2 * MOST_LIMITS)]


def test_subgraph_without_a_loop_has_one_cache_for_all_limits() -> None:
    programs = subgraph(session(SUM)).programs
    x = np.ones(4, F32)
    chosen = programs.choose([x, x], 7)
    assert chosen is not None and chosen[0] is programs.cache


def test_array_of_another_type_has_no_cache() -> None:
    programs = subgraph(session(SUM)).programs
    assert programs.choose([np.ones(4), np.ones(4)], None) is None
