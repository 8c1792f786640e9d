"""The routine that reads the processor's clock."""

from __future__ import annotations

from whorl.kernels.clock.meaning import COLUMNS, FIRST, NATIVE, TICKS
from whorl.kernels.kernel import Dtypes, Numbers
from whorl.llvm.module import Module
from whorl.llvm.routine import Routine


def define_count_ticks(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
    """table[row].ticks += now - table[0], table[row].native += 1, table[0] = now; all int64."""
    name = "@whorl.count_ticks"
    if name in module:
        return name
    f = Routine(module, name, ["_table"], ["row", "rows"], polls=True)
    clock = module.declare("@llvm.readcyclecounter", "i64", ())
    (row,) = f.indices("row")
    now = f.index(f.call(clock, "i64"))
    start = row * COLUMNS + FIRST
    ticks = f.offset(f["table"], "i64", start + TICKS)
    count = f.offset(f["table"], "i64", start + NATIVE)
    f.store(f.load_index(ticks) + (now - f.load_index(f["table"])), ticks)
    f.store(f.load_index(count) + 1, count)
    f.store(now, f["table"])
    f.end()
    return name
