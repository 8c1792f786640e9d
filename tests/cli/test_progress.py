"""Progress: bars for long loops, which go when the run ends, and a line for what else takes long; on terminals only."""

import argparse
import io
import sys
import threading
from typing import Any

import pytest
import tqdm

from whorl.cli import progress as drawing
from whorl.cli.progress import progress_bar, shows_progress, status_line


class Bar:
    """What a bar was told."""

    def __init__(self, **options: Any) -> None:
        self.options, self.n, self.is_closed = options, 0, False
        self.start_t, self.texts = 0.0, [options["desc"]]
        BARS.append(self)

    def update(self, count: int) -> None:
        self.n += count

    def set_description_str(self, text: str) -> None:
        self.texts.append(text)
        DRAWN.set()

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.is_closed = True


BARS: list[Bar] = []
DRAWN = threading.Event()


@pytest.fixture(autouse=True)
def bars(monkeypatch: pytest.MonkeyPatch) -> None:
    BARS.clear()
    DRAWN.clear()
    monkeypatch.setattr(tqdm, "tqdm", Bar)


def test_no_bar_unless_it_is_enabled() -> None:
    with progress_bar(False) as progress:
        assert progress is None
    assert BARS == []


def test_each_loop_has_a_bar_that_stands_at_what_is_done() -> None:
    with progress_bar(True) as progress:
        assert progress is not None
        for loop, done, total in (("a", 2, 10), ("b", 1, None), ("a", 7, 10)):
            progress(loop, done, total)
        assert [(bar.options["desc"], bar.options["total"], bar.n) for bar in BARS] == [("a", 10, 7), ("b", None, 1)]
    assert all(bar.is_closed for bar in BARS)


def test_bars_go_where_the_run_fails() -> None:
    with pytest.raises(KeyboardInterrupt), progress_bar(True) as progress:
        assert progress is not None
        progress("a", 1, 2)
        raise KeyboardInterrupt
    assert BARS[0].is_closed


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "term", "json", "disabled", "expected"),
    [
        (Terminal, "xterm", False, "0", True),
        (io.StringIO, "xterm", False, "0", False),
        (Terminal, "dumb", False, "0", False),
        (Terminal, "xterm", True, "0", False),
        (Terminal, "xterm", False, "1", False),
    ],
)
def test_progress_is_for_terminals_that_draw_a_line_anew_and_never_beside_a_document(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], term: str, json: bool, disabled: str, expected: bool
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("TQDM_DISABLE", disabled)
    monkeypatch.setattr(sys, "stderr", stream())
    assert shows_progress(argparse.Namespace(json=json)) is expected


def test_line_says_what_goes_on_as_it_changes_and_goes_where_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "DELAY", 0.0)
    monkeypatch.setattr(drawing, "PERIOD", 0.001)
    steps = ["reading"]
    with pytest.raises(KeyboardInterrupt), status_line(True, lambda: steps[-1]):
        for step in ("searching", "writing"):
            assert DRAWN.wait(60)
            steps.append(step)
            DRAWN.clear()
        assert DRAWN.wait(60)
        raise KeyboardInterrupt
    (bar,) = BARS
    assert list(dict.fromkeys(bar.texts))[:2] == ["reading ", "searching "] and bar.is_closed


@pytest.mark.parametrize("enabled", [True, False])
def test_short_work_and_pipes_have_no_line(enabled: bool) -> None:
    with status_line(enabled, lambda: "reading"):
        pass
    assert BARS == []
