"""From hub nodes to a `document.Net`.

`net` writes a region node by node, each by its function in `exporter`'s registry, else by its decomposition, else by
the function of simpler ops that ONNX defines (`onnx_functions`). `sequences` stores sequences as tensors, `dims`
computes named dims from the shapes at hand, `opaque` writes back layers of unknown types, `dce` drops layers that no
Result needs.
"""
