"""docs/cli.md is what its generator writes, and names every verb."""

import importlib.util
import re
from pathlib import Path

from whorl.api.check import check
from whorl.cli.verbs import VERBS

DOCS = Path(__file__).parents[2] / "docs"


def written() -> str:
    return (DOCS / "cli.md").read_text(encoding="utf-8")


def test_cli_page_is_what_its_generator_writes() -> None:
    spec = importlib.util.spec_from_file_location("make_cli", DOCS / "make_cli.py")
    assert spec is not None and spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert generator.page() == written(), "run `make docs`"


def test_cli_page_explains_every_code_of_check() -> None:
    folder = Path(check.__code__.co_filename).parent
    source = "".join((folder / name).read_text(encoding="utf-8") for name in ("check.py", "contradictions.py"))
    codes = set(re.findall(r'Problem\(\s*"([\w-]+)", "(\w+)"', source))
    assert codes == set(re.findall(r"^\| `([\w-]+)` \| (\w+) \|", written(), re.MULTILINE))


def test_cli_page_has_a_section_for_every_verb() -> None:
    assert all(f"\n## {verb}\n" in written() for verb in VERBS)
