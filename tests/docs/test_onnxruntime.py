"""docs/onnxruntime.md is what its generator writes, and covers every public name of onnxruntime."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("make_onnxruntime", DOCS / "make_onnxruntime.py")
assert spec is not None and spec.loader is not None
generator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generator)


def test_onnxruntime_page_is_what_its_generator_writes() -> None:
    assert generator.page() == (DOCS / "onnxruntime.md").read_text(encoding="utf-8"), "run `make docs`"


def test_names_that_whorl_lacks_have_a_reason() -> None:
    names = generator.names()
    assert [name for name in names if generator.is_there(name) == (name in generator.ABSENT)] == []
    assert not {*generator.ABSENT, *generator.DIFFERS} - {*names}
    assert len(names) > 120
