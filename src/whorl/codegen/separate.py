"""Routines taken out of a program's module: each is compiled once, and linked to every program that calls it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ROUTINE = "define weak hidden "
_FUNCTION = "define internal "
_NAME = re.compile(r"@[\w.$]+")
_PARAMETER = re.compile(r" %[\w.]+")
_METADATA = re.compile(r"!\d+")


def separated(source: str) -> tuple[str, list[str]]:
    """A program's module without its routines, and a module for each routine; LLVM IR text."""
    if _ROUTINE not in source:
        return source, []
    main, routines, shared = _items(source)
    declared = {name: _declaration(text) for name, text in routines.items()}
    modules = [_module(text, name, declared, shared) for name, text in routines.items()]
    return "\n".join((*main, *declared.values())) + "\n", modules


def _items(source: str) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """The lines that stay; the routines by name; declarations, functions and tables that they may need, by name."""
    main: list[str] = []
    routines: dict[str, str] = {}
    shared: dict[str, str] = {}
    lines = iter(source.splitlines())
    for line in lines:
        if line.startswith(_ROUTINE):
            routines[_first_name(line)] = _rest(line, lines)
            continue
        if line.startswith("define "):
            item = _rest(line, lines)
            if line.startswith(_FUNCTION):
                shared[_first_name(line)] = item
            main.append(item)
            continue
        if line.startswith(("declare ", "@")):
            shared[_first_name(line)] = line
        elif line.startswith("!"):
            shared[line.split(" ", 1)[0]] = line
        main.append(line)
    return main, routines, shared


def _first_name(line: str) -> str:
    found = _NAME.search(line)
    return found.group() if found else ""


def _rest(line: str, lines: Iterable[str]) -> str:
    """A function, whose first line is given."""
    found = [line]
    for other in lines:
        found.append(other)
        if other == "}":
            break
    return "\n".join(found)


def _declaration(routine: str) -> str:
    head = routine.split("\n", 1)[0]
    name, parameters = head[len(_ROUTINE) :].split("(", 1)
    return f"declare {name}({_PARAMETER.sub('', parameters[: parameters.index(')')])})"


def _module(routine: str, name: str, routines: dict[str, str], shared: dict[str, str]) -> str:
    """A routine with all that it refers to."""
    needed: dict[str, str] = {}
    pending = [routine]
    while pending:
        for other in _references(pending.pop()):
            if other in needed or other == name:
                continue
            text = routines.get(other) or shared.get(other)
            if text is not None:
                needed[other] = text
                pending.append(text)
    return "\n".join((routine.replace(_ROUTINE, "define ", 1), *needed.values())) + "\n"


def _references(text: str) -> list[str]:
    return [*_NAME.findall(text), *_METADATA.findall(text)]
