"""Windows that slide over spatial axes: convolution, its transpose, pooling and unpooling.

`geometry` says how many windows there are and which elements they read; the `native_*` files hold the native forms."""
