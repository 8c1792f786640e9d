"""The kernels that programs call, by name: a row joins the facets of one."""

from __future__ import annotations

from collections.abc import Callable

from whorl.ir.forking import import_whole
from whorl.kernels.clock.llvm import define_count_ticks
from whorl.kernels.clock.meaning import COUNT_TICKS
from whorl.kernels.convolution.meaning import (
    CONVOLUTION,
    CONVOLUTION_DOTS,
    CONVOLUTION_SUM,
    NORMALIZED_CONVOLUTION,
    NORMALIZED_CONVOLUTION_SUM,
    SAME_CONVOLUTION,
    SAME_CONVOLUTION_SUM,
)
from whorl.kernels.depthwise.meaning import DEPTHWISE_CONVOLUTION, DEPTHWISE_CONVOLUTION_SUM
from whorl.kernels.kernel import Dtypes, Kernel, Numbers
from whorl.kernels.plane.meaning import PLANE_MAXIMA, PLANE_SUMS, SPLIT_PHASES
from whorl.kernels.pooling.meaning import WINDOW_MAXIMA, WINDOW_SUMS
from whorl.kernels.product.llvm import define_packed_matmul, define_vector_matmul
from whorl.kernels.product.meaning import PACKED_DOTS, PACKED_MATMUL, VECTOR_MATMUL
from whorl.kernels.winograd.meaning import WINOGRAD_CONVOLUTION, WINOGRAD_CONVOLUTION_SUM
from whorl.llvm.module import Module


def _later(path: str, name: str) -> Callable[[Module, Dtypes, Numbers], str]:
    """What defines a routine that most models have no use for, imported when one is defined."""

    def define(module: Module, dtypes: Dtypes, numbers: Numbers) -> str:
        return getattr(import_whole(f"whorl.kernels.{path}"), name)(module, dtypes, numbers)

    return define


_define_convolution = _later("convolution.llvm", "define_convolution")

KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel("vector_matmul", VECTOR_MATMUL, define_vector_matmul),
        Kernel("packed_matmul", PACKED_MATMUL, define_packed_matmul),
        Kernel("packed_dots", PACKED_DOTS, define_packed_matmul),
        Kernel("convolution", CONVOLUTION, _define_convolution),
        Kernel("convolution_sum", CONVOLUTION_SUM, _later("convolution.llvm", "define_convolution_sum")),
        Kernel("same_convolution", SAME_CONVOLUTION, _later("convolution.llvm", "define_same_convolution")),
        Kernel("same_convolution_sum", SAME_CONVOLUTION_SUM, _later("convolution.llvm", "define_same_convolution_sum")),
        Kernel(
            "normalized_convolution",
            NORMALIZED_CONVOLUTION,
            _later("convolution.llvm", "define_normalized_convolution"),
        ),
        Kernel(
            "normalized_convolution_sum",
            NORMALIZED_CONVOLUTION_SUM,
            _later("convolution.llvm", "define_normalized_convolution_sum"),
        ),
        Kernel("winograd_convolution", WINOGRAD_CONVOLUTION, _later("winograd.llvm", "define_convolution")),
        Kernel("winograd_convolution_sum", WINOGRAD_CONVOLUTION_SUM, _later("winograd.llvm", "define_convolution_sum")),
        Kernel(
            "depthwise_convolution",
            DEPTHWISE_CONVOLUTION,
            _later("depthwise.llvm", "define_depthwise_convolution"),
        ),
        Kernel(
            "depthwise_convolution_sum",
            DEPTHWISE_CONVOLUTION_SUM,
            _later("depthwise.llvm", "define_depthwise_convolution_sum"),
        ),
        Kernel("window_maxima", WINDOW_MAXIMA, _later("pooling.llvm", "define_window_maxima")),
        Kernel("window_sums", WINDOW_SUMS, _later("pooling.llvm", "define_window_sums")),
        Kernel("convolution_dots", CONVOLUTION_DOTS, _define_convolution),
        Kernel("split_phases", SPLIT_PHASES, _later("plane.llvm", "define_split_phases")),
        Kernel("plane_sums", PLANE_SUMS, _later("plane.llvm", "define_plane_sums")),
        Kernel("plane_maxima", PLANE_MAXIMA, _later("plane.llvm", "define_plane_maxima")),
        Kernel("count_ticks", COUNT_TICKS, define_count_ticks),
    )
}
