"""What op families share.

`base` holds broadcasting and the elementwise base class, `contents` and `lazy` what ops say of constants without
running, `writer` short names for writing an op as simpler nodes; `work`, `aside` and `pieces` bound how long an op of
NumPy keeps limits and Ctrl-C waiting; `reference` is the door to onnx's reference kernels, `opaque` an op of an unknown
kind."""
