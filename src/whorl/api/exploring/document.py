"""All that a page shows, as one text: the model, its bodies, and traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, to_builtins

from whorl.api.exploring.comparing import compare_traces
from whorl.api.exploring.costs import add_costs
from whorl.api.exploring.graphs import bodies_of
from whorl.api.exploring.packing import Packer
from whorl.api.exploring.recorded import BUDGETS, SERVED, choose_detail, pack_traces
from whorl.api.tracing.spending import RunProfile
from whorl.api.tracing.value_trace import ValueTrace
from whorl.ir.graph import Module


class Shown(Struct, frozen=True, kw_only=True):
    """What a page is about."""

    title: str
    module: Module
    traces: Sequence[ValueTrace] = ()
    names: Sequence[str] = ()
    profile: RunProfile | None = None
    is_served: bool = False


LARGEST = 1_750_000
"""Characters of a document: with the program the page stays below two megabytes."""


def seal_document(shown: Shown) -> str:
    """The document with its arrays, compressed, as text in base64.

    It has as much of the traces as keeps it small; of a page that is served all that a browser can show.
    """
    document: dict[str, Any] = {"title": shown.title, "bodies": bodies_of(shown.module)}
    if len(shown.traces) == 2:
        document["differences"] = compare_traces(shown.module, *shown.traces)
    if shown.profile is not None:
        document["costs"] = to_builtins(add_costs(shown.module, shown.profile, document["bodies"]))
    text = ""
    budgets = (SERVED,) if shown.is_served else BUDGETS
    for detail in dict.fromkeys(choose_detail(shown.traces, budget) for budget in budgets):
        packer = Packer()
        if shown.traces:
            document["traces"] = pack_traces(shown.traces, shown.names, packer, detail)
        text = packer.seal(document)
        if len(text) <= LARGEST:
            break
    return text
