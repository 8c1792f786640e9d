"""Strides, dilations and padding of windows, as fields of hub ops and as attributes of layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from whorl.errors import SaveError
from whorl.formats.openvino.reading.importer import IrNode

_AUTO_PADS = {"explicit": "NOTSET", "same_upper": "SAME_UPPER", "same_lower": "SAME_LOWER", "valid": "VALID"}
_NAMES = {hub: name for name, hub in _AUTO_PADS.items()}


class Windowed(Protocol):
    """An op with windows."""

    @property
    def strides(self) -> tuple[int, ...] | None: ...
    @property
    def dilations(self) -> tuple[int, ...] | None: ...
    @property
    def pads(self) -> tuple[int, ...] | None: ...


def auto_pad(node: IrNode) -> str:
    """The hub's name of how an op pads."""
    names = _AUTO_PADS | {"notset": "NOTSET"}
    return names[node.text("auto_pad", "explicit", tuple(names))]


def window_fields(node: IrNode) -> dict[str, Any]:
    """The hub's fields; explicit padding only where it has an effect."""
    pad = auto_pad(node)
    pads = node.integers("pads_begin", ()) + node.integers("pads_end", ())
    fields = {"strides": node.integers("strides"), "dilations": node.integers("dilations", ()) or None, "auto_pad": pad}
    return fields | {"pads": pads if pad == "NOTSET" and any(pads) else None}


def window_attributes(
    op: Windowed, rank: int, pads: Sequence[int] | None = None, pad: str = "NOTSET"
) -> dict[str, Any]:
    """The attributes of a layer; padding is the op's own by default."""
    ends = tuple(pads or op.pads or (0,) * (2 * rank))
    return {
        "strides": op.strides or (1,) * rank,
        "dilations": op.dilations or (1,) * rank,
        "pads_begin": ends[:rank],
        "pads_end": ends[rank:],
        "auto_pad": _NAMES[pad],
    }


def require_spatial(count: int) -> None:
    """Refuse what the CPU plugin has no kernel for."""
    if not 1 <= count <= 3:
        raise SaveError(f"has {count} spatial axes", fix="OpenVINO takes one to three")
