"""Hook of mkdocs: files of the checkout that a page links to become pages, so that the site is whole without it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]
LINK = re.compile(r"(\]\()(?P<target>(?:\.\./)+[^)#\s]+)")
LANGUAGES = {".py": "python", ".c": "c", ".json": "json", ".onnxtxt": "text"}


def outside(markdown: str, folder: Path) -> dict[str, Path]:
    """The targets of links that leave docs, with the files they name."""
    docs = CHECKOUT / "docs"
    files = {match["target"]: Path(os.path.normpath(folder / match["target"])) for match in LINK.finditer(markdown)}
    return {target: path for target, path in files.items() if docs not in path.parents and path.is_file()}


def _folder(file: Any) -> Path:
    """Where a page lies, or would lie if the site had not made it."""
    return (CHECKOUT / "docs" / file.src_uri).parent


def uri(path: Path) -> str:
    """Where the page of a file lies in the site."""
    return f"source/{path.relative_to(CHECKOUT).as_posix()}.md"


def content(path: Path) -> str:
    """The page of a file: its text, as it is or in a block of code."""
    text = path.read_text(encoding="utf-8")
    title = path.relative_to(CHECKOUT).as_posix()
    if path.suffix == ".md":
        return re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]+\)", r"\1", text)
    return f"# {title}\n\n`````{LANGUAGES.get(path.suffix, 'text')}\n{text}\n`````\n"


def on_files(files: Any, config: Any) -> None:
    """Add a page for each file that a link names."""
    from mkdocs.structure.files import File, InclusionLevel

    paths: dict[str, Path] = {}
    for file in files.documentation_pages():
        named = outside(file.content_string, _folder(file)).values()
        paths |= {uri(path): path for path in named}
    for where, path in sorted(paths.items()):
        files.append(File.generated(config, where, content=content(path), inclusion=InclusionLevel.NOT_IN_NAV))


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Send links that leave docs to those pages."""
    root = "../" * page.file.src_uri.count("/")
    targets = outside(markdown, _folder(page.file))
    return LINK.sub(
        lambda match: f"{match[1]}{root}{uri(targets[match['target']])}" if match["target"] in targets else match[0],
        markdown,
    )
