"""Source files that have behaviour and no test file of their name: `python tests/gaps.py [--write]`.

`src/whorl/a/b.py` is tested by `tests/a/test_b.py`. `tests/gaps.txt` lists the files that are not; it may only shrink.
A file has behaviour if it defines a function or method that does something: a body of more than a docstring, `...`,
`pass` or a `NotImplementedError`, outside of a Protocol. Tables, enums, plain dataclasses, protocols and packages that
only import are data.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterable
from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "whorl"
LIST = TESTS / "gaps.txt"


def has_behaviour(source: str) -> bool:
    """Whether a module defines a function or method that does something."""
    return any(_acts(node) for node in ast.parse(source).body)


def _acts(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            return not all(_is_stub(statement) for statement in body)
        case ast.ClassDef(bases=bases, body=body):
            return not any(_is_protocol(base) for base in bases) and any(_acts(statement) for statement in body)
        case ast.If(body=body, orelse=orelse):
            return any(_acts(statement) for statement in [*body, *orelse])
    return False


def _is_stub(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise(exc=ast.Name(id="NotImplementedError") | ast.Call(func=ast.Name(id="NotImplementedError"))):
            return True
    return False


def _is_protocol(base: ast.expr) -> bool:
    match base:
        case ast.Name(id="Protocol") | ast.Subscript(value=ast.Name(id="Protocol")):
            return True
    return False


def test_path(source: str) -> str:
    """The test file of a source file, relative to `tests`; the source file is relative to the package.

    >>> test_path("ir/dims.py"), test_path("api/__init__.py"), test_path("cli/__main__.py")
    ('ir/test_dims.py', 'api/test_init.py', 'cli/test_main.py')
    """
    path = Path(source)
    return (path.parent / f"test_{path.stem.strip('_')}.py").as_posix()


def sources(package: Path = PACKAGE) -> list[str]:
    """The source files that have behaviour, relative to the package."""
    return [
        path.relative_to(package).as_posix()
        for path in sorted(package.rglob("*.py"))
        if has_behaviour(path.read_text(encoding="utf-8"))
    ]


def gaps(package: Path = PACKAGE, tests: Path = TESTS) -> list[str]:
    """The source files with behaviour that no test file is named after."""
    return [source for source in sources(package) if not (tests / test_path(source)).is_file()]


def text_of(paths: Iterable[str]) -> str:
    return "".join(f"{path}\n" for path in sorted(paths))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the list to tests/gaps.txt")
    missing = gaps()
    if parser.parse_args().write:
        LIST.write_text(text_of(missing), encoding="utf-8")
    else:
        print(text_of(missing), end="")
    total = len(sources())
    print(f"{total - len(missing)} of {total} source files with behaviour have a test of their name")


if __name__ == "__main__":
    main()
