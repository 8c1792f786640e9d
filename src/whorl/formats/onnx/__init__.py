"""ONNX files: models of every opset as modules of the hub, and back.

Reading goes by graph (`reader`), node (`importing`, with one file a family in `versions` where versions differ) and
tensor (`tensors`, `external`). Names of outer graphs become captured operands (`scope`).

- Folding while reading (`folding`): a node of constants is computed by name before it would become a node; what
  inference knows of shapes counts as constant. Checks of structurally equal nodes are memoised (`node_cache`).
- Protobuf parses a model without its large tensors (`wire`), which are copied once, from the file's bytes to arrays.
  For `optimize` they stay in the model file; it must not change while the module is used.
- Writing streams (`saving`, `writer`). A constant that repeats a part, or counts in steps, is written as Expand or
  Range where that is smaller (`recipes`), so folding makes no file grow.
"""
