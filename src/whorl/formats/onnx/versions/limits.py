"""What an older opset cannot say of a node: element types, and axes counted from the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whorl.errors import SaveError
from whorl.formats.onnx.schemas import NEWEST, schema_for
from whorl.ir.graph import Value
from whorl.ir.types import tensor, type_string

if TYPE_CHECKING:
    from whorl.formats.onnx.writer import GraphWriter


def require_element_type(value: Value | None, op_type: str, write: GraphWriter, index: int = 0) -> None:
    """Refuse an element type that the target's version of an op does not take as an input, the first unless said."""
    assert value is not None
    schema, text = write.schema(op_type, ""), type_string(value.type)
    if text in schema.inputs[index].types:
        return
    later = (schema_for(op_type, "", version) for version in range(write.opset + 1, NEWEST[""] + 1))
    first = next((s.since_version for s in later if text in s.inputs[index].types), None)
    raise SaveError(
        f"input {index} is {text}, which version {schema.since_version} of {op_type} does not take",
        fix=f"opset {first} or later can say it" if first else "no version takes it; cast the input",
    )


def require_result_type(value: Value, op_type: str, write: GraphWriter) -> None:
    """Refuse an element type that the target's version of an op does not give as its first output."""
    schema, text = write.schema(op_type, ""), type_string(value.type)
    if text in schema.outputs[0].types:
        return
    later = (schema_for(op_type, "", version) for version in range(write.opset + 1, NEWEST[""] + 1))
    first = next((s.since_version for s in later if text in s.outputs[0].types), None)
    raise SaveError(
        f"gives {text}, which version {schema.since_version} of {op_type} does not",
        fix=f"opset {first} or later can say it" if first else "no version gives it",
    )


def axis_for(axis: int, value: Value | None, write: GraphWriter, since: int = 11) -> int:
    """An axis as the target can say it: opsets below `since` only count from the front."""
    assert value is not None
    if axis >= 0 or write.opset >= since:
        return axis
    rank = tensor(value).rank
    if rank is None:
        raise SaveError(
            f"axis {axis} counts from the end of a tensor of unknown rank", fix=f"opset {since} or later can say it"
        )
    return axis + max(rank, 1)
