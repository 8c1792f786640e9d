"""Constants that lie in a model's files, or are laid out from there, as bytes that say where and how."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from whorl.ir.constants import as_array
from whorl.ir.elements.file_views import FileView
from whorl.lowering.block_convolution import FilterBlocks
from whorl.lowering.deferred import Computed, Origin, array_from
from whorl.lowering.products import InPanels
from whorl.runtime.compiled.encoding import Decoder, Encoder

_CLASSES = (FileView, Computed, InPanels, FilterBlocks)


def write(origins: Mapping[int, Origin | None], files: frozenset[str]) -> tuple[set[int], bytes]:
    """Which of numbered constants can be had from these files alone, and how, in the order of their numbers."""
    external = {n: origin for n, origin in origins.items() if origin is not None and _can_be_had(origin, files)}
    return set(external), Encoder(_CLASSES).encode([external[n] for n in sorted(external)]) if external else b""


def _can_be_had(origin: Origin, files: frozenset[str]) -> bool:
    if isinstance(origin, FileView):
        return origin.path in files
    steps = origin.op.steps if isinstance(origin.op, FilterBlocks) else ()
    return not steps and all(_can_be_had(each, files) for each in origin.inputs)


def read(origins: bytes, shared: dict[object, np.ndarray]) -> list[np.ndarray]:
    """The constants, those that programs share once; none where a file is gone or another one now."""
    try:
        listed: list[Origin] = Decoder(_CLASSES).decode(origins)  # type: ignore[assignment]
        for each in listed:
            if each not in shared:
                shared[each] = as_array(array_from(each))
    except (OSError, ValueError):
        return []
    return [shared[each] for each in listed]
