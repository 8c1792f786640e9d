"""Why something has no native form, or none that can be used: the interpreter then serves.

A fault of whorl's own looks the same to a run, which goes on interpreted; it is logged with its traceback, and raised
where WHORL_DEBUG says strict.
"""

from __future__ import annotations

from msgspec import Struct

from whorl.debug import debug
from whorl.errors import TypeRuleError
from whorl.lowering.expressions import LoweringFault, Unsupported


class Refusal(Struct, frozen=True):
    """The reason. `position`: the number of the node that has no native form, if it is one; `parts`: how many programs
    it takes, where it is too long for one.

    `traceback` is set where the reason is a fault of whorl's own.
    """

    reason: str
    position: int | None = None
    parts: int = 1
    traceback: str = ""


def refusal_of(error: Exception, title: str, position: int | None = None) -> Refusal:
    """Why lowering or compiling `title` ended with an exception.

    An unforeseen one is logged with its traceback, and raised where WHORL_DEBUG says strict.
    """
    if isinstance(error, Unsupported | TypeRuleError) and not isinstance(error, LoweringFault):
        return Refusal(str(error), position)
    cause = error.cause if isinstance(error, LoweringFault) else error
    if debug().is_strict:
        raise cause
    import logging
    import traceback

    reason = f"a fault of whorl's own: {type(cause).__name__}: {cause}"
    logging.getLogger("whorl").warning("%s is interpreted, because compiling it met %s", title, reason, exc_info=cause)
    return Refusal(reason, position, 1, "".join(traceback.format_exception(cause)))
