"""Readers and writers: the only layer that knows names, versions and quirks of the outside.

Each package reads into the hub IR and writes from it; none computes. `onnx` is the vocabulary that all share,
`openvino` and `mlir` are second syntaxes of models that the hub can say, `mdf` is models over time. `writing` and
`collector` are what they share.
"""
