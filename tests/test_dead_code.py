"""Nothing in the package is there for tests alone, or for nothing at all."""

import ast

import dead_code
import pytest


def test_package_uses_what_it_defines() -> None:
    assert dead_code.dead() == []


def test_exempt_names_exist() -> None:
    files = (dead_code.ROOT / "src").rglob("*.py")
    names = {name for path in files for _, name in dead_code.definitions(ast.parse(path.read_text(encoding="utf-8")))}
    assert dead_code.EXEMPT.keys() <= names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("X = 1\nY: int = 2", ["X", "Y"]),
        ("def f():\n  x = 1\nclass A:\n  field: int\n  def g(self): pass", ["f", "A", "g"]),
        ("@register(1)\ndef f(): pass\n@cache\ndef g(): pass\n@dataclass(frozen=True)\nclass A: pass", ["g", "A"]),
        ("class A(NodeVisitor, Transformer):\n  def visit(self): pass", ["A"]),
    ],
)
def test_defined_names(source: str, names: list[str]) -> None:
    assert [name for _, name in dead_code.definitions(ast.parse(source))] == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("f(a.b, c=d)\ne = g", {"f", "a", "b", "c", "d", "g"}),
        ("from x.y import z\nimport u.v", {"z", "u", "v"}),
        ('"""doc f."""\nLIST = ["one two"]', {"one", "two"}),
        ("match v:\n  case A(b=1): pass", {"v", "A", "b"}),
    ],
)
def test_used_names(source: str, names: set[str]) -> None:
    assert {*dead_code.uses(ast.parse(source))} == names


def test_name_that_only_a_test_uses_is_dead(tmp_path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "src" / "a.py").write_text("def used(): pass\ndef unused(): pass\nTOP = used()\nprint(TOP)")
    (tmp_path / "tests" / "b.py").write_text("from a import unused")
    assert dead_code.dead(tmp_path) == ["src/a.py:2: unused"]
