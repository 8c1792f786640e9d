"""Strings in a direct call: a program has their numbers, which a dictionary and an array of strings know.

What the dictionary does not have goes the long way, where it is learned. Python's lock is held.
"""

from __future__ import annotations

from whorl.codegen.call_cells import NUMBERS, STRING_TYPE, TEXTS, address, decline, decline_unless, exists, python
from whorl.codegen.objects import Layout
from whorl.llvm.function import Function
from whorl.llvm.value import Index, Value


def encode(f: Function, known: Layout, source: Value, target: Value, count: Index) -> None:
    """Write the numbers of strings that an array has; go the long way where an element has none."""
    cells = f["cells"]
    most = f.load_index(f.offset(address(f, cells, TEXTS), "i64", 1))
    with f.loop(0, count) as n:
        text = f.load("ptr", f.offset(source, "ptr", n))
        decline_unless(f, exists(f, text))
        type = f.load("ptr", f.offset(text, "i8", known.type))
        decline_unless(f, f.compare("eq", type, address(f, cells, STRING_TYPE)))
        entry = f.call_pointer(python(f, "PyDict_GetItemWithError"), "ptr", address(f, cells, NUMBERS), text)
        decline_unless(f, exists(f, entry))
        number = f.index(f.call_pointer(python(f, "PyLong_AsLongLong"), "i64", entry))
        decline_unless(f, number < most)
        f.store(number, f.offset(target, "i64", n))


def decode(f: Function, source: Value, target: Value, count: Index, made: Value, *, is_new: bool) -> None:
    """Write references, new ones or not, to the strings of numbers; without `made`, the long way if one has none."""
    texts = address(f, f["cells"], TEXTS)
    strings, most = f.load("ptr", texts), f.load("i64", f.offset(texts, "i64", 1))
    with f.loop(0, count) as n:
        number = f.load("i64", f.offset(source, "i64", n))
        with f.leave_when(f.compare("uge", number, most)):
            f.run_pointer(python(f, "Py_DecRef"), made)
            f.give(decline(f))
        text = f.load("ptr", f.offset(strings, "ptr", number))
        if is_new:
            f.run_pointer(python(f, "Py_IncRef"), text)
        f.store(text, f.offset(target, "ptr", n))
