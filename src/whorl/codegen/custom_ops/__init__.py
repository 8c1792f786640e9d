"""Custom ops of onnxruntime: programs as kernels, in a library that a session registers.

- `interface`: onnxruntime's C API, as far as kernels need it: slots of its table of functions, and its codes.
- `kernel`: the function that runs a program for a node: inputs checked, outputs allocated by onnxruntime, failures.
- `operator`: the table that describes an op, and the functions it points to.
- `sharing`, `times`: threads of onnxruntime's that share the steps of a nest, where that is faster.
- `registration`: `RegisterCustomOps`, and functions that kernels of one library share.

A library has no state but the domain that it registers, and kernels, one for each session, no other than how many
threads that has: any number of sessions and threads may run it at once.
"""
