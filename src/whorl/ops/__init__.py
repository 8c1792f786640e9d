"""What an op means: one frozen dataclass an op, one family a file. Importing the package registers every op.

An op's fields are its attributes. Its methods answer all that the compiler asks: `infer` (types; the only place that
checks ranks, dims and dtypes), `run` (the meaning, in NumPy), `lazily` (constants that wait), `scalar` or `lower` (the
native form, written with a kernel builder `k`, so that no op names LLVM) and `decompose` (simpler nodes instead of a
native form). Passes, the text form and the support table ask these methods and hold no lists of op names.

Rooms: `base` holds what families share; `control` and `iteration` are the only control flow; the `native_*` files and
`index_maps` hold native forms that are longer than a line; `panels` and `filters` lay weights out in memory; `aside`,
`work` and `pieces` bound how long an op of NumPy can keep limits and Ctrl-C waiting.
"""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
