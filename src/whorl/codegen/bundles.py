"""Bundles: modules that become one object file.

LLVM takes longer to begin with a module, and the system with a file, than what is not optimised takes itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from whorl.llvm.module import Effort, Source

_NEXT = "\f"
"""What stands between the texts of two modules."""


def bundle(sources: Sequence[Source]) -> Source:
    """Sources as one that is not optimised; other definitions of what is in all but the first prevail over these."""
    return Source(_NEXT.join(source.text for source in sources), Effort.GLUE)


def parse_bundle(llvm: Any, text: str, context: Any) -> Any:
    """The text of a source, a bundle or not, as a verified module."""
    whole, *parts = _parsed(llvm, text, context)
    for part in parts:
        for function in part.functions:
            if not function.is_declaration and function.linkage == llvm.value.Linkage.external:
                function.linkage = llvm.value.Linkage.weak_any
        whole.link_in(part)
    return whole


def _parsed(llvm: Any, text: str, context: Any) -> Iterator[Any]:
    for part in text.split(_NEXT):
        module = llvm.parse_assembly(part, context)
        module.verify()
        yield module
