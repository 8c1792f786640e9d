"""docs/ops.md is what its generator writes, and names every operator of onnx."""

import importlib.util
from pathlib import Path

import onnx

DOCS = Path(__file__).parents[2] / "docs"


def written() -> str:
    return (DOCS / "ops.md").read_text(encoding="utf-8")


def test_ops_page_is_what_its_generator_writes() -> None:
    spec = importlib.util.spec_from_file_location("make_ops", DOCS / "make_ops.py")
    assert spec is not None and spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    assert generator.page() == written(), "run `make docs`"


def test_ops_page_names_every_operator_and_refuses_no_version() -> None:
    page = written()
    names = {schema.name for schema in onnx.defs.get_all_schemas_with_history()}
    assert not [name for name in names if f"\n| {name} | " not in page]
    assert "refused" not in page
