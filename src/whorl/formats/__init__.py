"""Readers and writers: the only layer that knows names, versions and quirks of the outside.

Each package reads into the hub IR and writes from it; none computes. `onnx` is the vocabulary that all share,
`openvino` and `mlir` are second syntaxes of models that the hub can express, `mdf` is models over time.

`registry` has a record of each and imports its package when a file needs it; `options` says how files are read and
written; `writing` is what the packages share.
"""
