"""Compiled code at run time: what is compiled and when, the calls into machine code, and their memory.

- What is compiled: `partition` cuts a plan into subgraphs of `candidates`, `binding` names the lengths of inputs,
  `program_cache` holds the programs of a subgraph by patterns of names (`subgraph_programs` one such cache for each
  limit on iterations). `loop_slices` runs a Loop that is interpreted otherwise: slices of it are subgraphs.
- When: at the first run or in a thread of its own (`background`), and once more for who runs a shape again
  (`improving`); `refusals` says why not.
- Calls: `compile_graph` makes a `launch`, which runs a subgraph, `entries` is the machine code or its stand-in under
  WHORL_DEBUG, `context` what a program calls while it runs, `callbacks` ops without a native form, `memory` carried
  values and growable buffers, `strings` turns strings into numbers and back.
- `fast_path` serves feeds of a known signature; `prepared` keeps its programs on disk (`encoding`), so that the next
  process needs neither the model nor the compiler. `interpreted_call` serves plans of a few nodes that are interpreted.
  `explain` says what ran natively.
"""
