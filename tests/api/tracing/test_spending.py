"""A profile as a table."""

from __future__ import annotations

from whorl.api.tracing.spending import RunProfile, Spent

INSIDE = [
    Spent("MatMul 'm'", "native", 1000, 0.008, 0.8, 512, "'w' is an input of the model"),
    Spent("Identity 'h'", "too short", 1000, 0.0, 0.0, 1),
    Spent("Tanh 't'", "too short", 1000, 0.0, 0.0, 512),
    Spent("end of the iteration", "native", 1000, 0.001, 0.1),
]
PROFILE = RunProfile(0.01, 0.25, [Spent("Loop 'y'", "native", 1, 0.009, 0.9, 512, inside=INSIDE)])


def test_table_has_a_line_for_each_node_and_one_for_all_that_take_little() -> None:
    assert PROFILE.lines() == [
        "a run takes 10.000 ms, the first one, which compiles, 250.000 ms",
        "  share         ms     times     ns each     bytes  how         node",
        "  90.0%      9.000         1   9000000.0       512  native      Loop 'y'",
        "  80.0%      8.000      1000      8000.0       512  native        MatMul 'm'",
        f"{'':68}'w' is an input of the model",
        "  10.0%      1.000      1000      1000.0            native        end of the iteration",
        f"   0.0%      0.000{'':46}  2 others",
    ]
    assert repr(PROFILE).startswith("<whorl.RunProfile>\na run takes 10.000 ms")


def test_node_that_never_ran_took_nothing_each_time() -> None:
    assert Spent("Neg 'w'", "not reached", 0).each == 0.0
