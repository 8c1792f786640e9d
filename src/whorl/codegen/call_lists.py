"""Lists of arrays in a direct call: feeds are read, the program's cells take their sizes, and results are made."""

from __future__ import annotations

from whorl.codegen.call_cells import (
    ARE_STRINGS,
    ARRAYS,
    AXES,
    BLOCK,
    COMPARE,
    ENLARGE,
    EXPECTED,
    FEED_CELLS,
    FEEDS,
    FORM_CELLS,
    FORM_COUNT,
    FORMS,
    GROUP_CELLS,
    GROUP_COUNT,
    GROUPS,
    GROWN_CELLS,
    IS_ROWS,
    ITEM,
    LEAST,
    LENGTH_CELLS,
    LENGTHS,
    LIST,
    LIST_TYPE,
    LONG,
    MADE,
    MADE_COUNT,
    MAKE,
    MEMORY,
    MOST,
    RANK,
    READ,
    READER,
    SEEN,
    SHORT,
    SIZE,
    SMALL,
    STRINGS,
    TOTAL,
    UNLIKE,
    address,
    decline,
    decline_unless,
    exists,
    is_set,
    python,
)
from whorl.codegen.call_strings import decode, encode
from whorl.codegen.lists import MADE_RANK, NO_ROOM, READ_COUNT, READ_TABLE
from whorl.codegen.objects import WORD, Layout
from whorl.llvm.function import Function
from whorl.llvm.value import Index, Value


def read_list(f: Function, known: Layout, feed: Value, record: Value, fed: Value, seen: Value) -> None:
    """Read what is fed as a list into the feed's arrays, note what it shows, and go the long way where it is another.

    Where there is no room, the next run of its size has some.
    """
    cells = f["cells"]
    decline_unless(f, f.compare("eq", f.load("ptr", f.offset(fed, "i8", known.type)), address(f, cells, LIST_TYPE)))
    reader = address(f, record, READER)
    answer = f.index(f.call_pointer(address(f, cells, READ), "i64", reader, fed))
    with f.leave_when(answer < 0):
        with f.when(answer.equals(NO_ROOM)):
            done = f.call_pointer(python(f, "PyObject_CallNoArgs"), "ptr", address(f, record, ENLARGE))
            with f.when(exists(f, done)):
                f.run_pointer(python(f, "Py_DecRef"), done)
        f.give(decline(f))
    count, total = (f.load_index(f.offset(reader, "i64", READ_COUNT + n)) for n in range(2))
    least, short, small = (f.load_index(f.offset(record, "i64", n)) for n in (LEAST, SHORT, SMALL))
    for size, cell in ((count, ARRAYS), (total, TOTAL)):
        decline_unless(f, f.least(size, least).equals(f.load_index(f.offset(record, "i64", cell))))
    decline_unless(f, total < f.load_index(f.offset(record, "i64", MOST)))
    is_unlike = f.choose((answer & 1).equals(0), f.index(UNLIKE), 0)
    is_long = f.choose((count >= short) | (total > small), f.index(LONG), 0)
    f.store(f.load("i64", seen) | is_unlike | is_long, seen)
    with f.when(is_set(f, record, IS_ROWS)):
        decline_unless(f, is_unlike.equals(0))
        row, bytes = address(f, reader, READ_TABLE), f.load_index(f.offset(feed, "i64", RANK)) * WORD
        shape = f.offset(row, "i64", 1), address(f, feed, LENGTHS)
        difference = f.call_pointer(address(f, cells, COMPARE), "i32", *shape, bytes)
        decline_unless(f, f.compare("eq", difference, f.number(0, "i32")))
    _encode_list(f, known, feed, reader, total)


def _encode_list(f: Function, known: Layout, feed: Value, reader: Value, total: Index) -> None:
    """Put the numbers of strings where their addresses were read."""
    with f.when(is_set(f, feed, STRINGS)):
        elements = address(f, reader, READ_TABLE + 1)
        encode(f, known, elements, elements, total)


def leave_large(f: Function, cells: Value) -> None:
    """Go the long way from now on where a list has as many elements as in the last run."""
    expected = address(f, cells, EXPECTED)
    with f.loop(0, f.load_index(f.offset(cells, "i64", FEEDS))) as n:
        record = address(f, f.offset(expected, "i64", n * FEED_CELLS), LIST)
        with f.when(exists(f, record)):
            total = f.load("i64", f.offset(address(f, record, READER), "i64", READ_COUNT + 1))
            f.store(total, f.offset(record, "i64", MOST))


def first_seen(f: Function) -> Value:
    """A variable with what lists have shown before any is read."""
    return f.variable(f.load("i64", f.offset(f["cells"], "i64", SEEN)))


def check_seen(f: Function, seen: Value) -> None:
    """Go the long way where the lists are rather rows."""
    decline_unless(f, f.compare("ne", f.load("i64", seen), f.index(LONG)))


def write_sizes(f: Function) -> None:
    """Write the cells of the program that follow from the sizes of lists."""
    forms = address(f, f["cells"], FORMS)
    with f.loop(0, f.load_index(f.offset(f["cells"], "i64", FORM_COUNT))) as n:
        record = f.offset(forms, "i64", n * FORM_CELLS)
        size = f.load_index(address(f, record, 1))
        number, times = (f.load_index(f.offset(record, "i64", k)) for k in (2, 3))
        f.store(number + size * times, address(f, record, 0))


def add_lists(f: Function, items: Value, made: Value) -> None:
    """Make the lists of arrays that the program has computed, and put them among the items of the list `made`."""
    cells = f["cells"]
    with f.loop(0, f.load_index(f.offset(cells, "i64", MADE_COUNT))) as n:
        record = f.offset(address(f, cells, MADE), "i64", n * GROWN_CELLS)
        write_lengths(f, record)
        _decode(f, record, made)
        arrays = f.call_pointer(address(f, cells, MAKE), "ptr", address(f, record, MEMORY))
        with f.leave_when(f.compare("eq", arrays, f.null())):
            f.run_pointer(python(f, "Py_DecRef"), made)
            f.give(decline(f))
        f.store(arrays, f.offset(items, "ptr", f.load_index(f.offset(record, "i64", ITEM))))


def _decode(f: Function, record: Value, made: Value) -> None:
    """Put strings where their numbers are; the arrays that are made of them count references of their own."""
    with f.when(is_set(f, record, ARE_STRINGS)):
        maker = address(f, record, MEMORY)
        elements, table = (f.load("ptr", address(f, maker, n)) for n in range(2))
        total = _total(f, maker, table, f.load_index(address(f, maker, 2)))
        decode(f, elements, elements, total, made, is_new=False)


def _total(f: Function, maker: Value, table: Value, count: Index) -> Index:
    """How many elements the arrays of a list have: all rows of its table are one, or the last says where its begin."""
    rank, step = (f.load_index(f.offset(maker, "i64", n)) for n in (MADE_RANK, MADE_RANK + 1))
    row = f.offset_outside(table, "i64", (count - 1) * step)
    result = f.variable(f.index(0))
    with f.when(count > 0):
        size = f.variable(f.index(1))
        with f.loop(0, rank) as axis:
            f.store(f.load_index(size) * f.load_index(f.offset(row, "i64", axis + 1)), size)
        before = f.choose(step.equals(0), (count - 1) * f.load_index(size), f.load_index(row))
        f.store(before + f.load_index(size), result)
    return f.load_index(result)


def measure(f: Function, record: Value) -> Index:
    """The bytes of an output, whose lengths are written down where its record has them."""
    write_lengths(f, record)
    lengths = address(f, record, LENGTHS)
    bytes = f.variable(f.load_index(f.offset(record, "i64", SIZE)))
    with f.loop(0, f.load_index(f.offset(record, "i64", RANK))) as axis:
        f.store(f.load_index(bytes) * f.load_index(f.offset(lengths, "i64", axis)), bytes)
    return f.load_index(bytes)


def write_lengths(f: Function, record: Value) -> None:
    """Write the lengths of an output that the program says where its record has them."""
    lengths, pairs = address(f, record, LENGTHS), address(f, record, LENGTH_CELLS)
    block = address(f, f["cells"], BLOCK)
    with f.loop(0, f.load_index(f.offset(record, "i64", AXES))) as n:
        axis, cell = (f.load_index(f.offset(pairs, "i64", n * 2 + k)) for k in range(2))
        f.store(f.load("i64", f.offset(block, "i64", cell)), f.offset(lengths, "i64", axis))


def group(f: Function, known: Layout, items: Value, made: Value) -> Value:
    """The list `made`, or, where some of its items are arrays of lists, a list with these."""
    cells = f["cells"]
    count, groups = f.load_index(f.offset(cells, "i64", GROUP_COUNT)), address(f, cells, GROUPS)
    result = f.variable(made)
    with f.when(count > 0):
        outer = f.call_pointer(python(f, "PyList_New"), "ptr", count)
        _leave_unless_made(f, outer, [made])
        f.store(outer, result)
        targets = f.load("ptr", f.offset(outer, "i8", known.items))
        with f.loop(0, count) as n:
            first, end = (f.load_index(f.offset(groups, "i64", n * GROUP_CELLS + k)) for k in range(2))
            item = _slice(f, items, made, first, end)
            _leave_unless_made(f, item, [outer, made])
            f.store(item, f.offset(targets, "ptr", n))
        f.run_pointer(python(f, "Py_DecRef"), made)
    return f.load("ptr", result)


def _slice(f: Function, items: Value, made: Value, first: Index, end: Index) -> Value:
    """A new list of some arrays, or, where `end` is 0, a reference to one of them; null if there is no memory."""
    result = f.variable(f.null())
    with f.when(end > 0):
        f.store(f.call_pointer(python(f, "PyList_GetSlice"), "ptr", made, first, end), result)
    with f.when(end.equals(0)):
        one = f.load("ptr", f.offset(items, "ptr", first))
        f.run_pointer(python(f, "Py_IncRef"), one)
        f.store(one, result)
    return f.load("ptr", result)


def _leave_unless_made(f: Function, object: Value, others: list[Value]) -> None:
    """Go the long way where there is no memory for an object, which then needs others no longer."""
    with f.leave_when(f.compare("eq", object, f.null())):
        for other in others:
            f.run_pointer(python(f, "Py_DecRef"), other)
        f.give(decline(f))
