"""Windows of iterations."""

from __future__ import annotations

from whorl.passes.expose.windows import Span, only


def test_window_of_one_iteration_of_each_loop() -> None:
    assert only({"a": 3, "a/b": 0}) == {"a": (Span(3, 4),), "a/b": (Span(0, 1),)}
