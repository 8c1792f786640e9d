"""docs/glossary.md is short, sorted, one line an entry, and names what exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
GLOSSARY = (CHECKOUT / "docs" / "glossary.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"^- \*\*(?P<word>[^*]+)\*\*: (?P<meaning>.+)$")
IDENTIFIER = re.compile(r"`([A-Za-z_]\w*)`")
MOST_ENTRIES = 60


def entries() -> list[re.Match[str]]:
    """The entries; every line from the first one on must be one."""
    lines = GLOSSARY[GLOSSARY.index("\n- ") + 1 :].splitlines()
    actual = [ENTRY.match(line) for line in lines]
    assert None not in actual, [line for line, entry in zip(lines, actual, strict=True) if entry is None]
    return [entry for entry in actual if entry is not None]


def names(path: Path) -> Iterator[str]:
    """What a file defines or takes as a parameter."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef(name=str(name)) | ast.ClassDef(name=str(name)) | ast.arg(arg=str(name)):
                yield name
            case ast.Name(id=str(name), ctx=ast.Store()) | ast.Attribute(attr=str(name), ctx=ast.Store()):
                yield name


def test_glossary_has_at_most_sixty_entries_of_one_line() -> None:
    assert 30 <= len(entries()) <= MOST_ENTRIES
    assert max(len(entry[0]) for entry in entries()) <= 140


def test_glossary_is_sorted_and_explains_each_word_once() -> None:
    words = [entry["word"].lower() for entry in entries()]
    assert words == sorted(set(words))


def test_glossary_names_identifiers_that_the_code_has() -> None:
    named = {name for entry in entries() for name in IDENTIFIER.findall(entry["meaning"])}
    known = {name for path in (CHECKOUT / "src").rglob("*.py") for name in names(path)}
    assert len(named) > 40
    assert named <= known, sorted(named - known)
