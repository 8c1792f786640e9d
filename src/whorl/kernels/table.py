"""The kernels that programs call, by name: a row joins the facets of one."""

from __future__ import annotations

from whorl.kernels.convolution.meaning import CONVOLUTION, CONVOLUTION_SUM
from whorl.kernels.kernel import Kernel
from whorl.kernels.plane.meaning import PLANE_MAXIMA, PLANE_SUMS, SPLIT_PHASES
from whorl.kernels.product.meaning import PACKED_MATMUL, VECTOR_MATMUL

KERNELS = {
    kernel.name: kernel
    for kernel in (
        Kernel("vector_matmul", VECTOR_MATMUL),
        Kernel("packed_matmul", PACKED_MATMUL),
        Kernel("convolution", CONVOLUTION),
        Kernel("convolution_sum", CONVOLUTION_SUM),
        Kernel("split_phases", SPLIT_PHASES),
        Kernel("plane_sums", PLANE_SUMS),
        Kernel("plane_maxima", PLANE_MAXIMA),
    )
}
