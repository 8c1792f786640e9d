"""The sentences of ONNX's specification that decide cases.

A clause stands in the text that the onnx package has of the op, in the version that the case uses, or in ONNX's
docs/IR.md.
"""

from __future__ import annotations

from msgspec import Struct

from whorl.conformance.files import read_json

IR = "IR.md"


class Clause(Struct, frozen=True):
    """A sentence, and the op (or IR.md) whose text it stands in; runs of blanks and line ends count as one blank."""

    source: str
    text: str


CLAUSES = {row["name"]: Clause(row["of"], row["says"]) for row in read_json("suite")["clauses"]}
