"""Products of matrices: MatMul and Gemm, Einsum, quantized products, and weights packed for native products."""
