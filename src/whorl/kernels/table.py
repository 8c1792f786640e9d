"""The kernels that programs call, by name: a row joins the facets of one."""

from __future__ import annotations

from whorl.kernels.clock.llvm import define_count_ticks
from whorl.kernels.clock.meaning import COUNT_TICKS
from whorl.kernels.convolution.llvm import define_convolution, define_convolution_sum
from whorl.kernels.convolution.meaning import CONVOLUTION, CONVOLUTION_DOTS, CONVOLUTION_SUM
from whorl.kernels.kernel import Kernel
from whorl.kernels.plane.llvm import define_plane_maxima, define_plane_sums, define_split_phases
from whorl.kernels.plane.meaning import PLANE_MAXIMA, PLANE_SUMS, SPLIT_PHASES
from whorl.kernels.product.llvm import define_packed_matmul, define_vector_matmul
from whorl.kernels.product.meaning import PACKED_DOTS, PACKED_MATMUL, VECTOR_MATMUL

KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel("vector_matmul", VECTOR_MATMUL, define_vector_matmul),
        Kernel("packed_matmul", PACKED_MATMUL, define_packed_matmul),
        Kernel("packed_dots", PACKED_DOTS, define_packed_matmul),
        Kernel("convolution", CONVOLUTION, define_convolution),
        Kernel("convolution_sum", CONVOLUTION_SUM, define_convolution_sum),
        Kernel("convolution_dots", CONVOLUTION_DOTS, define_convolution),
        Kernel("split_phases", SPLIT_PHASES, define_split_phases),
        Kernel("plane_sums", PLANE_SUMS, define_plane_sums),
        Kernel("plane_maxima", PLANE_MAXIMA, define_plane_maxima),
        Kernel("count_ticks", COUNT_TICKS, define_count_ticks),
    )
}
