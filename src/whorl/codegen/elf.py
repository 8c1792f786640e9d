"""A linker of object files: what LLVM makes for Linux on x86-64, in the large code model, becomes code in memory.

LLVM's own linker does the same, but loading LLVM takes longer than most small models take to run, and code from the
disk needs nothing else of it. What is not known here, `link` leaves to LLVM: it answers None.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum

from msgspec import Struct

from whorl.codegen.memory import Pages, address_of, is_supported, whole_pages
from whorl.debug import name_code

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_MAGIC, _RELOCATABLE, _X86_64 = b"\x7fELF\x02\x01", 1, 62
_PROGBITS, _SYMTAB, _RELA, _NOBITS, _UNWIND = 1, 2, 4, 8, 0x70000001
_WRITABLE, _ALLOCATED, _EXECUTABLE, _THREAD_LOCAL = 1, 2, 4, 0x400
_LOCAL, _WEAK = 0, 2
_NO_TYPE, _OBJECT, _FUNCTION, _OF_SECTION = range(4)
_UNDEFINED, _ABSOLUTE, _RESERVED = 0, 0xFFF1, 0xFF00
_TABLE = "_GLOBAL_OFFSET_TABLE_"
"""The symbol of the table of addresses that code in the large model finds other objects' functions in."""


class Kind(IntEnum):
    """What a relocation puts into eight bytes of code or data, by ELF's numbers."""

    ADDRESS = 1
    """The symbol's address."""
    DISTANCE = 24
    """The symbol's address less that of the bytes."""
    FROM_TABLE = 25
    """The symbol's address less that of the table."""
    ENTRY = 27
    """The offset of the symbol's address in the table."""
    TO_TABLE = 29
    """The table's address less that of the bytes."""


class UnknownForm(Exception):
    """An object file has something that is not known here."""


class _Head(Struct, frozen=True):
    """What the file says of a section, in ELF's order."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int

    def body(self, data: bytes) -> bytes:
        return data[self.offset : self.offset + self.size]


class Section(Struct, frozen=True):
    """A section that becomes memory."""

    is_code: bool
    contents: bytes
    alignment: int


class Symbol(Struct, frozen=True):
    """A name; `section` is the number of the one that defines it, at an offset in it."""

    name: str
    section: int
    value: int
    size: int
    is_local: bool
    is_weak: bool


class Relocation(Struct, frozen=True):
    """Eight bytes of a section that depend on a symbol's address."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


class ObjectFile(Struct, frozen=True):
    """What an object file holds; sections by their numbers."""

    sections: Mapping[int, Section]
    symbols: Sequence[Symbol]
    relocations: Sequence[Relocation]


def parse(data: bytes) -> ObjectFile:
    """The parts of an object file that running it needs: none for unwinding. Errors: UnknownForm."""
    header = _HEADER.unpack_from(data)
    if not data.startswith(_MAGIC) or header[1:3] != (_RELOCATABLE, _X86_64):
        raise UnknownForm("it is no object file of x86-64")
    start, count = header[6], header[12]
    heads = [_Head(*_SECTION.unpack_from(data, start + k * _SECTION.size)) for k in range(count)]
    sections: dict[int, Section] = {}
    for number, head in enumerate(heads):
        if not head.flags & _ALLOCATED or head.kind == _UNWIND:
            continue
        if head.kind not in (_PROGBITS, _NOBITS) or head.flags & (_WRITABLE | _THREAD_LOCAL):
            raise UnknownForm(f"section {number} is of kind {head.kind} and flags {head.flags}")
        contents = bytes(head.size) if head.kind == _NOBITS else head.body(data)
        sections[number] = Section(bool(head.flags & _EXECUTABLE), contents, max(head.alignment, 1))
    symbols: list[Symbol] = []
    relocations: list[Relocation] = []
    for head in heads:
        if head.kind == _SYMTAB:
            symbols += _symbols(head.body(data), heads[head.link].body(data))
        elif head.kind == _RELA and head.info in sections:
            relocations += (
                Relocation(head.info, offset, info & 0xFFFFFFFF, info >> 32, addend)
                for offset, info, addend in _RELOCATION.iter_unpack(head.body(data))
            )
    return ObjectFile(sections, symbols, relocations)


def _symbols(body: bytes, names: bytes) -> Iterator[Symbol]:
    for name, info, _, section, value, size in _SYMBOL.iter_unpack(body):
        if info & 15 > _OF_SECTION and section != _ABSOLUTE:
            raise UnknownForm(f"a symbol is of kind {info & 15}")
        if section >= _RESERVED and section != _ABSOLUTE:
            raise UnknownForm(f"a symbol lies in section {section}")
        text = names[name : names.index(0, name)].decode()
        yield Symbol(text, section, value, size, info >> 4 == _LOCAL, info >> 4 == _WEAK)


class Linked(Struct, frozen=True):
    """Code in memory, and the address of the function that was asked for."""

    pages: Pages
    address: int


def link(objects: Sequence[bytes], function: str) -> Linked | None:
    """The code of object files that call each other and the process; None where that is left to LLVM."""
    if not is_supported():
        return None
    try:
        layout = _Layout([parse(each) for each in objects])
        pages = Pages(layout.size, layout.code)
    except (UnknownForm, OSError):
        return None
    try:
        address = layout.link(pages.address, function)
        pages.fill(layout.contents)
    except (UnknownForm, OSError):
        pages.free()
        return None
    name_code(layout.functions(pages.address))
    return Linked(pages, address)


class _Layout:
    """Where the sections of object files lie: code, data, then the table with the address of every symbol."""

    def __init__(self, objects: Sequence[ObjectFile]) -> None:
        self.objects = objects
        self.offsets: dict[tuple[int, int], int] = {}
        self.contents = bytearray()
        self._append(is_code=True)
        self._align(whole_pages(len(self.contents)))
        self.code = len(self.contents)
        self._append(is_code=False)
        self._align(_aligned(len(self.contents), 8))
        self.table = len(self.contents)
        self.contents.extend(bytes(8 * sum(len(each.symbols) for each in objects)))
        self.size = whole_pages(len(self.contents))

    def _append(self, is_code: bool) -> None:
        for number, each in enumerate(self.objects):
            for section, part in each.sections.items():
                if part.is_code is is_code:
                    self._align(_aligned(len(self.contents), part.alignment))
                    self.offsets[number, section] = len(self.contents)
                    self.contents.extend(part.contents)

    def _align(self, end: int) -> None:
        self.contents.extend(bytes(end - len(self.contents)))

    def link(self, base: int, function: str) -> int:
        """Fill in all that depends on where the contents begin; returns the function's address. Errors: UnknownForm."""
        shared = self._shared(base)
        entry = self.table
        for number, each in enumerate(self.objects):
            addresses = [self._address(number, symbol, base, shared) for symbol in each.symbols]
            struct.pack_into(f"<{len(addresses)}Q", self.contents, entry, *addresses)
            for relocation in each.relocations:
                offset = self.offsets[number, relocation.section] + relocation.offset
                value = self._value(relocation, addresses[relocation.symbol], entry - self.table, base, base + offset)
                struct.pack_into("<Q", self.contents, offset, value % (1 << 64))
            entry += 8 * len(addresses)
        if function not in shared:
            raise UnknownForm(f"no object defines {function}")
        return shared[function]

    def functions(self, base: int) -> Iterator[tuple[int, int, str]]:
        """The address, size and name of each function."""
        for number, each in enumerate(self.objects):
            for symbol in each.symbols:
                offset = self.offsets.get((number, symbol.section), self.code)
                if symbol.size and offset < self.code:
                    yield base + offset + symbol.value, symbol.size, symbol.name

    def _shared(self, base: int) -> dict[str, int]:
        """The addresses of symbols that all object files see."""
        shared: dict[str, int] = {}
        weak: dict[str, int] = {_TABLE: base + self.table}
        for number, each in enumerate(self.objects):
            for symbol in each.symbols:
                if symbol.is_local or (number, symbol.section) not in self.offsets:
                    continue
                known = weak if symbol.is_weak else shared
                if symbol.name in shared and not symbol.is_weak:
                    raise UnknownForm(f"{symbol.name} is defined twice")
                known.setdefault(symbol.name, base + self.offsets[number, symbol.section] + symbol.value)
        return weak | shared

    def _address(self, number: int, symbol: Symbol, base: int, shared: Mapping[str, int]) -> int:
        """The address of a symbol of an object file; 0 for one that stands for no memory of the program."""
        if symbol.section != _UNDEFINED and symbol.is_local:
            offset = self.offsets.get((number, symbol.section))
            return 0 if offset is None else base + offset + symbol.value
        if not symbol.name:
            return 0
        address = shared.get(symbol.name) or address_of(symbol.name)
        if address is None:
            raise UnknownForm(f"nothing defines {symbol.name}")
        return address

    def _value(self, relocation: Relocation, symbol: int, entry: int, base: int, here: int) -> int:
        """What a relocation writes; `entry` is where the entries of the object file's symbols begin in the table."""
        table = base + self.table
        match relocation.kind:
            case Kind.ADDRESS:
                value = symbol
            case Kind.DISTANCE:
                value = symbol - here
            case Kind.FROM_TABLE:
                value = symbol - table
            case Kind.ENTRY:
                value = entry + 8 * relocation.symbol
            case Kind.TO_TABLE:
                value = table - here
            case _:
                raise UnknownForm(f"a relocation is of kind {relocation.kind}")
        return value + relocation.addend


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment
