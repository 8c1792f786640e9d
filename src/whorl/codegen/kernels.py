"""The routine of each kernel that a program calls."""

from __future__ import annotations

from whorl.codegen import products
from whorl.codegen.convolutions import convolution
from whorl.codegen.formulas import Library
from whorl.codegen.planes import plane_windows, split_phases
from whorl.codegen.routine import AS_WRITTEN
from whorl.kernel.program import Call

_WRITERS = {
    "split_phases": split_phases,
    "convolution": convolution,
    "convolution_sum": convolution,
    "plane_sums": plane_windows,
    "plane_maxima": plane_windows,
}


def require_kernel(call: Call, library: Library) -> str:
    """The name of the function for a call; its text is added to the library."""
    if call.kernel not in _WRITERS:
        return products.require_kernel(call, library)
    library.setdefault("!as_written", AS_WRITTEN)
    library.setdefault("@llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
    return _WRITERS[call.kernel](call, library)
