"""Functions of files that are no expressions, by their names: ONNX operators and those of ACT-R."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import whorl.formats.mdf.control_calls
from whorl.formats.mdf.actr import ACTR
from whorl.formats.mdf.onnx_calls import Precision, call_named
from whorl.formats.mdf.onnx_names import is_onnx
from whorl.runtime.limits import Limits

assert whorl.formats.mdf.control_calls

Special = Callable[[dict[str, Any], Mapping[str, Any]], Any]
"""A function of all names that it may see, arguments included, and of the arguments as the file has them."""


def find_special(name: str, precision: Precision = "float64", limits: Limits | None = None) -> Special | None:
    """The function of a name; None where it is no such function. `limits` are those of one call."""
    if is_onnx(name):
        return lambda names, args: call_named(name, names, args, precision, limits)
    function = ACTR.get(name.removeprefix("actr."))
    if function is None:
        return None
    return lambda names, args: function(*(names[id] for id in args))
