"""What op families share.

`base` holds broadcasting and the elementwise base class, `contents` and `lazy` what inference and folding know of
constants without a run, `writer` short names for writing an op as simpler nodes; `work`, `aside` and `pieces` bound how
long an op of NumPy delays limits and Ctrl-C; `opaque` is a layer of an unknown type."""
