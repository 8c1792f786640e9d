"""Writes src/whorl/formats/onnx/signatures.txt: what onnx's schemas say of the operators of all versions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import onnx
from onnx.defs import OpSchema

TABLE = Path(__file__).parents[1] / "src" / "whorl" / "formats" / "onnx" / "signatures.txt"
MARKS = {"Single": "", "Optional": "?"}


def main() -> None:
    TABLE.write_text(table(), encoding="utf-8")


def table() -> str:
    """The whole file."""
    schemas = sorted(onnx.defs.get_all_schemas_with_history(), key=lambda s: (s.domain, s.name, s.since_version))
    return "\n".join([*lines(schemas), ""])


def lines(schemas: list[OpSchema]) -> Iterator[str]:
    for domain in sorted({schema.domain for schema in schemas}):
        newest = max(schema.since_version for schema in schemas if schema.domain == domain)
        released = onnx.defs.onnx_opset_version() if domain == "" else newest
        yield f"[{domain}] {max(newest, released)}"
        yield from (line(schema) for schema in schemas if schema.domain == domain)


def line(schema: OpSchema) -> str:
    inputs, outputs = (" ".join(map(parameter, each)) for each in (schema.inputs, schema.outputs))
    attributes = " ".join(
        f"{name}{'!' if attribute.required else ''}:{attribute.type.name}"
        for name, attribute in sorted(schema.attributes.items())
    )
    function = "function" if schema.has_function or schema.has_context_dependent_function else ""
    return "|".join([f"{schema.name} {schema.since_version}", inputs, outputs, attributes, function])


def parameter(formal: OpSchema.FormalParameter) -> str:
    return formal.name + MARKS.get(formal.option.name, f"*{formal.min_arity}")


if __name__ == "__main__":
    sys.exit(main())
