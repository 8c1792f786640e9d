"""Names that the package defines and only tests use, or nothing at all: `python tests/dead_code.py`.

A name is a function, class or constant of a module, or a method of a class. It is in use where `src`, `bench`, `docs`
or `examples` reads, imports or quotes it anywhere: names are compared as text, so a use covers all namesakes. What
others call is exempt: the public API, dunder names, what a decorator or a base class from elsewhere calls, and op
classes, which register themselves.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORD = re.compile(r"[A-Za-z_]\w*")
PUBLIC = "src/whorl/api/", "src/whorl/formats/mdf/execution_engine.py", "src/whorl/conformance/pytest_plugin.py"
"""Modules whose names users or pytest call."""
EXEMPT = {
    "parse_module": "docs/text-form.md: tests and debugging read modules as text",
    "parse_region": "docs/text-form.md: tests and debugging read modules as text",
    "print_region": "docs/text-form.md: tests and debugging read modules as text",
    "to_xarray": "a method of what `whorl.load` returns for MDF",
    **dict.fromkeys(
        ("_dense", "_sparse", "_dense_resource"), "`parse_attribute` of MLIR calls `_` and the word it reads"
    ),
    "is_compiled": "a property of what `whorl.load` returns for MDF",
}
PASSIVE_DECORATORS = {
    "dataclass",
    "property",
    "cached_property",
    "cache",
    "lru_cache",
    "staticmethod",
    "classmethod",
    "contextmanager",
    "override",
    "final",
}
"""Decorators that neither register nor call what they decorate; any other one may."""
FOREIGN_BASES = {
    "Attribute",
    "Data",
    "ParametrizedAttribute",
    "Structure",
    "Item",
    "File",
    "ContentHandler",
    "Transformer",
}
"""Bases of other packages, which call methods and read fields by name."""


def definitions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The names that a module and its classes define, with their lines."""
    for node in tree.body:
        yield from _defined(node)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield node.lineno, name
            case ast.ClassDef(bases=bases, body=body) if not FOREIGN_BASES.intersection(map(_name, bases)):
                for member in body:
                    yield from _defined(member)


def _defined(node: ast.stmt) -> Iterator[tuple[int, str]]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            if PASSIVE_DECORATORS.issuperset(map(_name, node.decorator_list)):
                yield node.lineno, name


def _name(node: ast.expr) -> str:
    match node:
        case ast.Call(func=inner) | ast.Subscript(value=inner):
            return _name(inner)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def op_classes(tree: ast.Module) -> set[str]:
    """The classes of a module that may be ops: those with a base."""
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.bases}


def uses(tree: ast.Module) -> Iterator[str]:
    """What a module reads, imports or quotes outside of docstrings."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
                yield name
            case ast.alias(name=name):
                yield from name.split(".")
            case ast.keyword(arg=str(name)):
                yield name
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                yield from WORD.findall(text)
            case ast.MatchClass(kwd_attrs=names):
                yield from names


def dead(root: Path = ROOT) -> list[str]:
    """`file:line: name` of each name that nothing uses."""
    files = [path for folder in ("src", "bench", "docs", "examples") for path in sorted((root / folder).rglob("*.py"))]
    trees = {path.relative_to(root).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in files}
    used = {name for tree in trees.values() for name in uses(tree)} | EXEMPT.keys()
    return [
        f"{path}:{line}: {name}"
        for path, tree in trees.items()
        if path.startswith("src/") and not path.startswith(PUBLIC)
        for line, name in definitions(tree)
        if name not in used and not name.startswith("__")
        if not (path.startswith("src/whorl/ops/") and name in op_classes(tree))
    ]


if __name__ == "__main__":
    print("\n".join(dead()))
