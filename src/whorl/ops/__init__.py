"""What an op means: one frozen dataclass an op, one family a package. Importing the package registers every op.

An op's fields are its attributes. Its methods answer all that the compiler asks: `infer` (types; the only place that
checks ranks, dims and dtypes), `run` (the meaning, in NumPy), `lazily` (constants that wait), `scalar` or `lower` (the
native form, written with a kernel builder `k`, so that no op names LLVM) and `decompose` (simpler nodes instead of a
native form). Facts about it serve passes: `bounds` (intervals of results), `moves_elements`, `is_identity`, and of
elementwise ops `neutral`, `absorbing`, `idempotent`. Passes, the text form and the support table ask these methods and
hold no lists of op names.

Rooms: `core` holds what families share; `control` is the only control flow; a family's `native_*` files hold native
forms that are longer than a line, and `native` those that families share.
"""

import importlib
import pkgutil

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
