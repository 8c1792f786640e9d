"""Functions of files that are no expressions, by their names: registered operators and the functions of ACT-R."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from whorl.mdf.functions.actr import ACTR
from whorl.mdf.functions.operators import Precision, find_operators
from whorl.mdf.model import Datum
from whorl.runtime.limits import Limits

Special = Callable[[dict[str, Datum], Mapping[str, Datum]], Datum]
"""A function of all names that it may see, arguments included, and of the arguments as the file has them."""


def find_special(name: str, precision: Precision = "float64", limits: Limits | None = None) -> Special | None:
    """The function of a name; None where it is no such function. `limits` are those of one call."""
    operators = find_operators(name)
    if operators is not None:
        return lambda names, args: operators.call(name, names, args, precision, limits)
    function = ACTR.get(name.removeprefix("actr."))
    if function is None:
        return None
    return lambda names, args: function(*(names[id] for id in args))
