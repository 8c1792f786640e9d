"""A progress bar for long loops: each loop has one, which goes when the run ends."""

from typing import Any

import pytest
import tqdm

from whorl.cli.progress import progress_bar


class Bar:
    """What a bar was told."""

    def __init__(self, **options: Any) -> None:
        self.options, self.n, self.is_closed = options, 0, False
        BARS.append(self)

    def update(self, count: int) -> None:
        self.n += count

    def close(self) -> None:
        self.is_closed = True


BARS: list[Bar] = []


@pytest.fixture(autouse=True)
def bars(monkeypatch: pytest.MonkeyPatch) -> None:
    BARS.clear()
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
