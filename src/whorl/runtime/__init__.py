"""Running modules: interpreter, compiled subgraphs and loops, sessions, limits.

A session makes a plan of its main region (`interpreter.Plan`) and partitions it: consecutive nodes whose values are
tensors of element types with native code are one subgraph (`stretches`), which is compiled for each shape signature
that it meets (`segments`, the program cache); the rest is interpreted (`steps`). Loops that run for long are programs
of their own (`native`), run in slices. The interpreter is the meaning, and the oracle of every test.

- Failures of native code have a status and no text. The interpreter runs the same nodes again from the same inputs, or
  the loop from the state at the start of the slice, and raises the error with its location. A program that asks for
  more memory than `max_memory` leaves goes the same way. So there is one wording and one meaning of errors.
- Limits and Ctrl-C: native loops stop between slices, and any program that may run for long polls (`callers`,
  `kernel.polls`); ops of NumPy and the compiler run aside (`ops.aside`). Iterations are counted only outside of
  subgraphs: where a limit counts them, or progress is asked for, loops leave their subgraph.
- Backends: "native" compiles when it first meets a signature, "auto" does so in a thread of its own while the
  interpreter serves (`background`), "interpreter" never. What runs once (`whorl.run`) compiles long loops only. Without
  llvmlite everything is interpreted. `credit` bounds what one run compiles.
- Memory: a run borrows scratch memory and gives it back; `recycled` reuses the pages of large results; `blocks` holds
  carried values that grow.
- `refusals` says why something has no native form, `explain` what ran natively, `trace` when.
"""
