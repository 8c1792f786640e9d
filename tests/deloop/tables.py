"""All models: those that become free of loops with their dims open, and those that keep them."""

from __future__ import annotations

from collections.abc import Mapping

from deloop import remaining
from deloop.cases import Case
from deloop.exits import EXITS
from deloop.maps import MAPS
from deloop.recurrent import RECURRENT
from deloop.reductions import REDUCTIONS

LOOP_FREE: Mapping[str, Case] = MAPS | REDUCTIONS | RECURRENT | EXITS
REMAINING: Mapping[str, Case] = remaining.REMAINING
