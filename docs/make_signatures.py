"""Writes what schemas say of operators: onnx's to signatures.txt, those that onnxruntime adds to contributed.txt.

Both files are in src/whorl/formats/onnx/.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
from onnx.defs import OpSchema
from onnxruntime.capi import onnxruntime_pybind11_state

FOLDER = Path(__file__).parents[1] / "src" / "whorl" / "formats" / "onnx"
TABLE = FOLDER / "signatures.txt"
CONTRIBUTED_TABLE = FOLDER / "contributed.txt"
EARLY = "LayerNormalization", "SimplifiedLayerNormalization", "ThresholdedRelu"
"""Operators that onnxruntime has in the domain of onnx since version 1, and onnx later or not at all."""
MARKS = {"Single": "", "Optional": "?"}


def main() -> None:
    TABLE.write_text(table(), encoding="utf-8")
    CONTRIBUTED_TABLE.write_text(contributed_table(), encoding="utf-8")


def contributed_table() -> str:
    """The file of operators that onnxruntime adds."""
    everything: list[Any] = onnxruntime_pybind11_state.get_all_operator_schema()
    early = [s for s in everything if s.domain == "" and s.name in EARLY and s.since_version == 1]
    own = [s for s in everything if s.domain == "com.microsoft"]
    texts = [["[] 1", *contributed_lines(early)], ["[com.microsoft] 1", *contributed_lines(own)]]
    return "\n".join([*(text for section in texts for text in section), ""])


def contributed_lines(schemas: list[Any]) -> list[str]:
    return [contributed_line(schema) for schema in sorted(schemas, key=lambda schema: schema.name)]


def contributed_line(schema: Any) -> str:
    """onnxruntime's records say the least number of inputs and outputs of the node, not of a variadic parameter."""
    parameters = [
        " ".join(
            formal.name + MARKS.get(formal.option.name, f"*{max(0, least - len(formals) + 1)}") for formal in formals
        )
        for formals, least in ((schema.inputs, schema.min_input), (schema.outputs, schema.min_output))
    ]
    attributes = " ".join(
        f"{name}{'!' if attribute.required else ''}:{attribute.type.name.replace('???', 'UNDEFINED')}"
        for name, attribute in sorted(schema.attributes.items())
    )
    return "|".join([f"{schema.name} {schema.since_version}", *parameters, attributes, ""])


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
