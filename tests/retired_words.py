"""Identifiers with retired words: `python tests/retired_words.py [--write] [FOLDER...]`.

A retired word means too many things or none that the field knows: `place` was a location, an index, a storage and an
address. `tests/retired_words.txt` counts, for each folder, the names that still have one; it may only shrink.
Names are those that a file defines: functions, classes, parameters, variables, attributes, and the file itself.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = "src", "tests", "bench", "docs", "examples"
LIST = Path(__file__).with_suffix(".txt")
RETIRED = frozenset(
    [
        "place",
        "places",
        "placed",
        "told",
        "said",
        "given",
        "found",
        "holds",
        "held",
        "kept",
        "those",
        "nobody",
        "whoever",
        "joined",
        "settled",
        "stays",
        "stretch",
        "stretches",
        "looks",
        "barren",
        "unread",
        "asked",
        "wanted",
    ]
)


def retired(name: str) -> set[str]:
    """The retired words of an identifier, in snake case or camel case.

    >>> sorted(retired("GivenPlaces")), retired("placeholder")
    (['given', 'places'], set())
    """
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")) & RETIRED


def defined_names(source: str) -> Iterator[tuple[int, str]]:
    """The names that a module defines, with their lines."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield node.lineno, name
            case ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from ((node.lineno, alias.asname) for alias in aliases if alias.asname)


def uses(path: Path) -> list[str]:
    """The names of a file that have a retired word, as `line: name`; the file's own name stands at line 0."""
    names = [(0, path.stem), *defined_names(path.read_text(encoding="utf-8"))]
    return [f"{line}: {name}" for line, name in names if retired(name)]


def counts(root: Path = ROOT) -> dict[str, int]:
    """How many names with a retired word each folder has, where there are any."""
    numbers: dict[str, int] = {}
    for path in (path for top in FOLDERS for path in sorted((root / top).rglob("*.py"))):
        folder = path.parent.relative_to(root).as_posix()
        numbers[folder] = numbers.get(folder, 0) + len(uses(path))
    return {folder: count for folder, count in sorted(numbers.items()) if count}


def text_of(numbers: dict[str, int]) -> str:
    return "".join(f"{folder} {count}\n" for folder, count in numbers.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the counts to tests/retired_words.txt")
    parser.add_argument("folder", nargs="*", type=Path, help="list the names of these folders instead")
    options = parser.parse_args()
    if options.write:
        LIST.write_text(text_of(counts()), encoding="utf-8")
    for path in (path for folder in options.folder for path in sorted(folder.rglob("*.py"))):
        for use in uses(path):
            print(f"{path}:{use}")
    if not options.folder:
        numbers = counts()
        print(f"{text_of(numbers)}{sum(numbers.values())} names with a retired word")


if __name__ == "__main__":
    main()
