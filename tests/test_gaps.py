"""Source files with behaviour have a test file of their name; the list of those that have none only shrinks."""

from __future__ import annotations

import gaps
import pytest


def test_list_names_the_files_without_a_test_of_their_name() -> None:
    missing, listed = set(gaps.gaps()), set(gaps.LIST.read_text(encoding="utf-8").split())
    assert not missing - listed, f"tests are missing: {sorted(map(gaps.test_path, missing - listed))}"
    assert not listed - missing, f"tested, moved or gone, but still listed: {sorted(listed - missing)}; {gaps.__doc__}"


@pytest.mark.parametrize(
    "source",
    ["def f(x): return x", "class A:\n  def f(self): return 1", "if X:\n  def f(): return 1", "async def f(): g()"],
)
def test_module_with_a_function_that_acts_has_behaviour(source: str) -> None:
    assert gaps.has_behaviour(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""Text."""',
        "from a import b\nX = {1: lambda x: x}",
        "class P(Protocol):\n  def f(self): return 1",
        "class P(Protocol[T]):\n  def f(self): return 1",
        "@dataclass\nclass A:\n  x: int = field(default_factory=list)",
        'class A:\n  def f(self):\n    """Text."""\n    ...\n  def g(self): raise NotImplementedError',
    ],
)
def test_module_of_data_or_signatures_has_no_behaviour(source: str) -> None:
    assert not gaps.has_behaviour(source)


def test_file_whose_test_is_missing_is_a_gap(tmp_path) -> None:
    package, tests = tmp_path / "package", tmp_path / "tests"
    for file in (package / "a/b.py", package / "a/__init__.py", package / "c.py"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("def f(): return 1")
    (tests / "a").mkdir(parents=True)
    (tests / "a/test_b.py").touch()
    assert gaps.gaps(package, tests) == ["a/__init__.py", "c.py"]
    (tests / "a/test_init.py").touch()
    assert gaps.gaps(package, tests) == ["c.py"]
