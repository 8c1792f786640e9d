"""Hook of mkdocs: a page for each public name, an index of them, and links to them from other pages."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct

import whorl

HOMES = {name: module for module, names in whorl._NAMES.items() for name in names}
MODULES = "backend", "capi"
"""Public names that are modules: their pages list what is in them."""
MENTION = re.compile(r"(?<![\[`])`whorl\.(?P<name>\w+)(?P<rest>\([^`]*\)|\.[\w.]+(\(\))?)?`(?![\]`])")
FENCE = re.compile(r"^ *(```|~~~)")
KINDS = "Functions", "Classes", "Errors", "Modules"


def path(name: str) -> str:
    """Where the page of a public name lies."""
    return f"reference/{name}.md"


def kind(name: str) -> str:
    """Which part of the reference a public name belongs to."""
    value = getattr(whorl, name)
    if name in MODULES:
        return "Modules"
    if not inspect.isclass(value):
        return "Functions" if inspect.isroutine(value) else "Classes"
    return "Errors" if issubclass(value, BaseException) else "Classes"


def summary(name: str) -> str:
    """The first sentence of what a public name's docstring says."""
    value = getattr(whorl, name)
    described = inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value)
    text = (value.__doc__ or "") if described else _text_below(name)
    paragraph = " ".join(inspect.cleandoc(text).split("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z])", paragraph)[0].replace("|", "\\|")


def _text_below(name: str) -> str:
    """The string that follows the assignment to a name, for what has no docstring."""
    source = Path(importlib.import_module(HOMES[name]).__file__ or "").read_text(encoding="utf-8")
    body = ast.parse(source).body
    for statement, below in pairwise(body):
        match statement, below:
            case ast.Assign(targets=[ast.Name(id=str(target))]), ast.Expr(value=ast.Constant(value=str(text))):
                if target == name:
                    return text
    return ""


def page(name: str) -> str:
    """The page of a public name: what mkdocstrings makes of its docstring."""
    home = f"whorl.{name}" if name in MODULES else f"{HOMES[name]}.{name}"
    fields = "\n    options:\n      show_if_no_docstring: true" if has_fields(getattr(whorl, name)) else ""
    return f"# whorl.{name}\n\n::: {home}{fields}\n"


def has_fields(value: object) -> bool:
    """Whether the docstring of a class says what its fields are, as that of a struct does."""
    return inspect.isclass(value) and (issubclass(value, Struct | Enum) or dataclasses.is_dataclass(value))


def index() -> str:
    """The page that lists all public names, by kind."""
    lines = [
        "# Reference",
        "",
        "Every public name, made from its docstring. `import whorl` loads none of them until it is used.",
    ]
    for each in KINDS:
        lines += ["", f"## {each}", "", "| name | what it is |", "|---|---|"]
        lines += [f"| [`{name}`]({name}.md) | {summary(name)} |" for name in names_of(each)]
    return "\n".join([*lines, ""])


def names_of(kind_of: str) -> list[str]:
    return sorted((name for name in whorl.__all__ if kind(name) == kind_of), key=str.lower)


def on_config(config: Any) -> None:
    """Add the reference to the navigation."""
    sections = [{each: [{name: path(name)} for name in names_of(each)]} for each in KINDS]
    config.nav.append({"Reference": ["reference/index.md", *sections]})


def on_files(files: Any, config: Any) -> None:
    """Add the pages."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "reference/index.md", content=index()))
    for name in whorl.__all__:
        files.append(File.generated(config, path(name), content=page(name)))


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Make mentions of public names, such as `whorl.load`, links to their pages."""
    if page.file.src_uri.startswith("reference/"):
        return markdown
    root = "../" * page.file.src_uri.count("/")
    lines, fenced = [], False
    for line in markdown.split("\n"):
        fenced ^= bool(FENCE.match(line))
        lines.append(line if fenced or line.startswith(("#", "    ")) else linked(line, root))
    return "\n".join(lines)


def linked(line: str, root: str) -> str:
    def link(mention: re.Match[str]) -> str:
        name = mention["name"]
        return f"[{mention[0]}]({root}{path(name)})" if name in whorl.__all__ else mention[0]

    return MENTION.sub(link, line)
