"""Statuses of onnxruntime's with texts that have numbers of the run."""

from __future__ import annotations

from whorl.codegen.custom_ops.interface import Code, Slot, call
from whorl.llvm.function import Function
from whorl.llvm.text import add_string
from whorl.llvm.value import Value

LONGEST_MESSAGE = 4096
"""Bytes of an error's text, the zero at its end too."""


class Statuses:
    """Writes returns of statuses into a function; `title` begins their texts."""

    def __init__(self, f: Function, api: Value, title: str) -> None:
        self.f, self.api, self.title = f, api, title
        self.texts = 0
        self.buffer = f.slot(f"[{LONGEST_MESSAGE} x i8]")

    def refuse(self, text: str, *numbers: Value, code: Code = Code.INVALID_ARGUMENT) -> None:
        """Return a status whose text is that of printf's for these numbers."""
        f = self.f
        self.texts += 1
        name = add_string(f.module, f"{f.name}_text{self.texts}", f"{printable(self.title)}: {text}")
        pattern, size = Value(f, "ptr", f.refer(name)), f.index(LONGEST_MESSAGE)
        print_text = f.module.declare("@snprintf", "i32", ["ptr", "i64", "ptr", "..."])
        f.call(print_text, "i32 (ptr, i64, ptr, ...)", self.buffer, size, pattern, *numbers)
        f.give(call(f, self.api, Slot.CREATE_STATUS, f.number(code, "i32"), self.buffer))


def printable(text: str) -> str:
    """A text as printf takes it."""
    return text.replace("%", "%%")
