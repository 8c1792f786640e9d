"""Pages opened in Chromium, where it is installed."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from whorl.api.exploring.page import Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator:
    """A browser; skips where there is none, as there is no such package on PyPI."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium to open pages in (on Debian: apt install chromium)")
    with pytest.importorskip("playwright.sync_api").sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Opener:
    """Opens pages from their files, and collects what goes wrong in them or is read from elsewhere."""

    def __init__(self, context: Any, folder: Path) -> None:
        self.context, self.folder = context, folder
        self.faults: list[str] = []

    def __call__(self, page: Page) -> Any:
        path = self.folder / "page.html"
        page.save(path)
        tab = self.blank()
        tab.goto(path.as_uri())
        tab.wait_for_function("document.documentElement.dataset.ready === 'true'")
        return tab

    def blank(self) -> Any:
        tab = self.context.new_page()
        tab.on("console", lambda message: self.faults.append(message.text))
        tab.on("pageerror", lambda error: self.faults.append(str(error)))
        tab.on("dialog", lambda dialog: self.faults.append(dialog.message))
        tab.on("request", self._request)
        return tab

    def _request(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "about:")):
            self.faults.append(request.url)


@pytest.fixture
def open_page(chromium, tmp_path) -> Iterator[Opener]:
    """Opens a page; at the end nothing may have gone wrong in it."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    opener = Opener(context, tmp_path)
    yield opener
    context.close()
    assert not opener.faults
