"""Custom-op libraries of onnxruntime as their host: whorl stands where onnxruntime does, and calls their kernels.

- `interface`: the C API as far as libraries call it: slots of its table, their parameters, and the table of an op.
- `objects`: what libraries have handles of: tensors, types, attributes, kernels' descriptions, contexts of calls.
- `failures`: statuses, and functions of Python that give them.
- `tensors`, `descriptions`, `contexts`, `memory`: the functions that libraries call, by what they are about.
- `table`: those functions as a table of addresses, as `OrtGetApiBase` gives it.
- `operators`: an op of a library: which one fits a node, its types, and its kernels.
- `libraries`: libraries loaded, and their ops registered.

A table and the functions it points to live as long as the process, as libraries keep the addresses.
"""
