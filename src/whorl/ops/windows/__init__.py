"""Windows that slide over spatial axes: convolution, its transpose, pooling and unpooling.

`geometry` says how many windows there are and which elements they read, `packed_filters` how native kernels lay filters
and images out; the `native_*` files hold the native forms."""
