"""Running modules: interpreter, compiled code, sessions, limits, states, feeds.

A session makes a plan of its main region (`interpreter`), of which compiled code takes over subgraphs and long loops
(`compiled`). The interpreter is the meaning, and imports nothing of what compiles.

- Failures of native code have a status and no text. The interpreter runs the same nodes again from the same inputs, or
  the loop from the state at the start of the slice, and raises the error with its location. A program that asks for
  more memory than `max_memory` leaves goes the same way. So there is one wording and one meaning of errors.
- Limits and Ctrl-C (`limits`): native loops stop between slices, and any program that may run for long polls
  (`compiled.context`, `kernel.polls`); ops of NumPy and the compiler run aside (`ops.core.aside`). Iterations are
  counted only outside of subgraphs: where a limit counts them, or progress is asked for, loops leave their subgraph.
- Backends: "native" compiles when it first meets a signature, "auto" does so in a thread of its own while the
  interpreter serves, "interpreter" never. What runs once (`whorl.run`) compiles long loops only. Without llvmlite
  everything is interpreted. `credit` bounds what one run compiles.
- Memory: a run borrows scratch memory and gives it back; `buffer_pool` reuses the pages of large results.
- `functional` runs loops and branches over plain arrays, `library` what `whorl compile` made; `trace` says when.
"""
