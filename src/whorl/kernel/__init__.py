"""The loop-nest program between tensors and the machine: buffers, loops, loads, stores and scalar expressions."""
