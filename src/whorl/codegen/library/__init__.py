"""What becomes a library of C functions: a program, its inputs and outputs, and the numbers of the C interface.

The program is that of the main region with its loops and branches, as for a compiled subgraph of a session, except that
lengths of inputs may be scalars of the program, which each run gives where `--dim` fixes none.

- Data: constants lie in the object's read-only data; inputs and outputs are arrays of pointers to row-major tensors in
  the model's order; scratch memory is one block, the caller's or the library's own for the time of a run. What grows is
  taken by `realloc` and freed at the end, unless it is an output of which only the run knows the lengths: the caller
  frees that one. Nothing else is written, so any number of threads may run at once.
- Failures: each place that may end the program early has a status, whose message names the node; the counters of the
  loops around it go to an array of the caller's. A session over a loaded library makes of both the location that the
  interpreter would name.
- Dependencies: functions of the C library only, which `compile` lists. A node that only NumPy can run is refused.
- Machines: the host's CPU with all it has, or another machine by its triple (`target`): x86-64 with AVX2 unless a CPU
  is named, ARM with NEON. The interface has a version, which is part of the name of the function that marks a library.
"""
