"""A page: one file that opens anywhere, reads nothing else and runs nothing but its own program."""

from __future__ import annotations

import base64
import hashlib
import html
import os
from functools import cache
from pathlib import Path

from whorl.formats.writing import save_whole

WEB = Path(__file__).parent / "web"
FRAME = 'width="100%" height="640" style="border: 1px solid #8886; border-radius: 6px"'
TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="app"><noscript>This page needs JavaScript.</noscript></div>
<script type="text/plain" id="document">{document}</script>
<script>{program}</script>
</body>
</html>
"""


class Page:
    """A page about a model. `html` is all of it; `save` writes it to a file, and notebooks show it as it is."""

    def __init__(self, title: str, document: str) -> None:
        self.title, self._document = title, document

    @property
    def html(self) -> str:
        """The file's contents."""
        program, style = _asset("explorer.js"), _asset("explorer.css")
        # What the page may do: run this program, use this style. No name in a model can add to it.
        policy = f"default-src 'none'; script-src {_hash(program)}; style-src {_hash(style)}; img-src data: blob:"
        return TEMPLATE.format(
            policy=policy, title=html.escape(self.title), style=style, document=self._document, program=program
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file. Errors: SaveError."""
        save_whole({Path(path): self.html.encode()})

    def __repr__(self) -> str:
        return f"<whorl.Page {self.title!r}>"

    def _repr_html_(self) -> str:
        return f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(self.html)}" {FRAME}></iframe>'


@cache
def _asset(name: str) -> str:
    return (WEB / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
