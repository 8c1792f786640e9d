"""The site that `make site` builds: no warnings, a page for every public name, whole links, nothing from elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

import whorl

CHECKOUT = Path(__file__).parents[2]
LOADING = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src")}
OUTSIDE = "http:", "https:", "mailto:", "//", "data:"
RELATIONS = "stylesheet", "icon", "preload"


class Page(HTMLParser):
    """What a page links to, what it loads, and the names it gives to places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.anchors |= {value for key in ("id", "name") if (value := attributes.get(key))}
        for key in ("href", "src"):
            target = attributes.get(key)
            if target is None or (tag == "link" and attributes.get("rel") not in RELATIONS):
                continue
            (self.loads if (tag, key) in LOADING else self.links).append(target)


def build(folder: Path) -> dict[Path, Page]:
    """The pages of the site, which it writes into a folder."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}


def lacks_page(site: Path, name: str) -> bool:
    path = site / "reference" / f"{name}.html"
    return not path.is_file() or 'class="doc doc-contents' not in path.read_text(encoding="utf-8")


def is_broken(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    """Whether a link of the page at a path leads to no file of the site, or to no anchor of it."""
    target, anchor = urldefrag(link)
    file = (path.parent / unquote(target)).resolve() if target else path
    file = file / "index.html" if file.is_dir() else file
    return not file.is_file() or (file in pages and unquote(anchor) not in pages[file].anchors)


@pytest.mark.slow
def test_site_has_every_public_name_whole_links_and_all_that_it_loads(tmp_path: Path) -> None:
    for package in ("mkdocs", "material", "mkdocstrings", "skl2onnx"):
        pytest.importorskip(package)
    pages = build(tmp_path)
    assert not [name for name in whorl.__all__ if lacks_page(tmp_path, name)]
    gallery = {path.stem for path in pages if path.parent.name == "gallery"}
    assert gallery >= {"index", "nearest-neighbours", "neuron", "neuron.explorer", "torchscript-decoder"}
    loads = {load for page in pages.values() for load in page.loads}
    assert loads
    assert not [load for load in loads if load.startswith(OUTSIDE)]
    links = {(path, link) for path, page in pages.items() for link in [*page.links, *page.loads]}
    inside = [(path, link) for path, link in links if not link.startswith(OUTSIDE) and path.name != "404.html"]
    assert len(inside) > 2000
    assert not [f"{path.name}: {link}" for path, link in inside if is_broken(link, path, pages)]
    styles = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.css")]
    assert styles
    assert not [style for style in styles if "url(http" in style or "@import" in style]


def test_pages_of_public_names_differ_where_a_file_system_ignores_case() -> None:
    assert len({name.lower() for name in whorl.__all__}) == len(whorl.__all__)
