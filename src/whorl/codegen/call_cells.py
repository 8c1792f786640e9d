"""The cells of a direct call, and how its machine code reads them.

A record is some cells in a row elsewhere; what the code needs several of has records, whose address is in a cell.
"""

from __future__ import annotations

from whorl.llvm.function import Function
from whorl.llvm.value import Value

IS_BUSY, ENTRY, BLOCK, CONTEXT = range(4)
"""Whether a thread is inside, or none is to be any more; addresses of the program, its cells, and its context or 0."""
FEEDS, EXPECTED, INPUTS, SOURCES = range(4, 8)
"""How many feeds there are to be, and the address of their records; how many of the program's cells are written in each
run, and the address of pairs: that of a cell, and that of what it is to have."""
OUTPUTS, RESULTS, GROWN_COUNT, GROWN, MADE_COUNT, MADE = range(8, 14)
"""Numbers and addresses of records: of outputs whose shapes are known before, of those whose lengths the program says,
and of lists that are made after it."""
MOST_BYTES, IS_LARGE, FINISH, GIVE_UP = range(14, 18)
"""How large an output may be that is copied here; the address of a number that is not 0 once the program has much
memory; and Python functions: the list of all that is made after the program, and what follows a failure, or 0."""
READ, MAKE, SEEN, FORM_COUNT, FORMS = range(18, 23)
"""Of lists (`codegen/lists.py`): the addresses of the functions that read and make them, 0 where there are none; what
counts as seen before one is read (`UNLIKE`, `LONG`); and the records of cells that follow from their sizes."""
GROUP_COUNT, GROUPS = range(23, 25)
"""The records of what is answered, where lists of arrays are among it; 0 where the arrays are the answer."""
NUMBERS, TEXTS = range(25, 27)
"""The dictionary of the numbers of strings, and the address of two cells: the address of the strings by their numbers,
and how many there are; 0 where the program has no strings."""
INTERFACE = 27
"""Cells with addresses: None, the types of arrays, lists and strings, NumPy's function for new arrays, `memcmp`,
`memcpy`, and `PYTHON`."""
PYTHON = (
    "PyDict_Size",
    "PyDict_GetItemWithError",
    "PyList_New",
    "PyList_GetSlice",
    "PyObject_CallNoArgs",
    "Py_IncRef",
    "Py_DecRef",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "PyErr_Clear",
    "PyErr_Restore",
    "PyLong_AsLongLong",
)
NONE, TYPE, LIST_TYPE, STRING_TYPE, NEW_ARRAY, COMPARE, COPY, FIRST_OF_PYTHON = range(INTERFACE, INTERFACE + 8)
COUNT = FIRST_OF_PYTHON + len(PYTHON)

NAME, DTYPE, RANK, LENGTHS, BYTES, CONTENTS, LIST, ARRAY, TABLE, STRINGS, FEED_CELLS = range(11)
"""The record of a feed: its name, dtype and rank, the address of its lengths, how many bytes of its elements are known
and where these are, the record of a list, or 0, and in a run the array, or those of a list's elements and table; where
it is strings, how many, whose numbers are then written into the array; of a list, whether. Last: its size."""
READER, ENLARGE, IS_ROWS, ARRAYS, TOTAL, LEAST, SHORT, SMALL, MOST, LIST_CELLS = range(10)
"""The record of a list: the cells for `READ`; what makes room; whether it lies in memory as rows of one shape, which is
then that of the feed; how many arrays and elements there are to be, where `LEAST` stands for as many and for more; from
how many arrays on, and above how many elements, it is long; from how many elements on it has work for several cores.
Last: its size."""
UNLIKE, LONG = 1, 2
"""What lists show: arrays that differ in shape; arrays that are not few and small. The program that reads tables of
shapes is not for lists that are long and have no unlike arrays."""
MAKER, ITEM, OUTPUT, RESULT_CELLS = 0, 4, 5, 6
"""The record of an output: what makes the array, if it is not NumPy; dtype, rank and lengths as a feed's; its item of
the list, and the address of the program's cell for it. Last: its size."""
AXES, LENGTH_CELLS, MEMORY, SIZE, ARE_STRINGS, GROWN_CELLS = 0, 5, 6, 7, 8, 9
"""The record of an output that is copied: how many of its lengths the program says, and the addresses of pairs of an
axis and a number of a cell of the program, and of the cell with the address of its memory; the bytes of an element, and
whether it has the numbers of strings; the rest as an output's. The record of a list that is made has the cells for
`MAKE` for all of a memory. Last: its size."""
FORM_CELLS, GROUP_CELLS = 4, 2
"""The record of a cell that follows from the size of a list: the addresses of both, a number, and how many times the
size is added to it. That of an answer: its first array, and the one behind its last, or 0 where it is an array."""


def python(f: Function, name: str) -> Value:
    """A function of Python's C interface."""
    return _python(f, f["cells"], name)


def _python(f: Function, cells: Value, name: str) -> Value:
    return address(f, cells, FIRST_OF_PYTHON + PYTHON.index(name))


def address(f: Function, cells: Value, number: int) -> Value:
    """The address in a cell."""
    return f.load("ptr", f.offset(cells, "i64", number))


def exists(f: Function, pointer: Value) -> Value:
    return f.compare("ne", pointer, f.null())


def is_set(f: Function, cells: Value, number: int) -> Value:
    """Whether a cell is not 0."""
    return f.compare("ne", f.load("i64", f.offset(cells, "i64", number)), f.index(0))


def decline_unless(f: Function, condition: Value) -> None:
    with f.leave_when(f.select(condition, f.number(0, "i1"), f.number(1, "i1"))):
        f.give(decline(f))


def decline(f: Function) -> Value:
    """None, and no exception: the long way meets its cause again."""
    f.run_pointer(python(f, "PyErr_Clear"))
    return nothing(f, f["cells"])


def nothing(f: Function, cells: Value) -> Value:
    """A new reference to None."""
    none = address(f, cells, NONE)
    f.run_pointer(_python(f, cells, "Py_IncRef"), none)
    return none
