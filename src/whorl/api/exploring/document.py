"""All that a page shows, as one text: the model, its bodies, and traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from whorl.api.exploring.comparing import compare_traces
from whorl.api.exploring.graphs import bodies_of
from whorl.api.exploring.packing import Packer
from whorl.api.exploring.recorded import BUDGETS, choose_detail, pack_traces
from whorl.api.tracing.value_trace import ValueTrace
from whorl.ir.graph import Module


class Shown(Struct, frozen=True, kw_only=True):
    """What a page is about."""

    title: str
    module: Module
    traces: Sequence[ValueTrace] = ()
    names: Sequence[str] = ()


LARGEST = 1_750_000
"""Characters of a document: with the program the page stays below two megabytes."""


def seal_document(shown: Shown) -> str:
    """The document with its arrays, compressed, as text in base64: with as much of the traces as keeps it small."""
    document: dict[str, Any] = {"title": shown.title, "bodies": bodies_of(shown.module)}
    if len(shown.traces) == 2:
        document["differences"] = compare_traces(shown.module, *shown.traces)
    text = ""
    for detail in dict.fromkeys(choose_detail(shown.traces, budget) for budget in BUDGETS):
        packer = Packer()
        if shown.traces:
            document["traces"] = pack_traces(shown.traces, shown.names, packer, detail)
        text = packer.seal(document)
        if len(text) <= LARGEST:
            break
    return text
