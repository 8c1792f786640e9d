"""What an older opset cannot say of a node: element types, and axes counted from the end."""

from __future__ import annotations

from whorl.errors import SaveError
from whorl.formats.onnx.exporting import NodeWriter
from whorl.formats.onnx.schemas import require_type
from whorl.ir.graph import Value
from whorl.ir.types import tensor


def require_element_type(value: Value | None, op_type: str, write: NodeWriter, index: int = 0) -> None:
    """Refuse an element type that the target's version of an op does not take as an input, the first unless said."""
    assert value is not None
    require_type(value.type, write.schema(op_type, ""), index)


def require_result_type(value: Value, op_type: str, write: NodeWriter) -> None:
    """Refuse an element type that the target's version of an op does not give as its first output."""
    require_type(value.type, write.schema(op_type, ""), result=True)


def axis_for(axis: int, value: Value | None, write: NodeWriter, since: int = 11) -> int:
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
