"""ModECI MDF: models of neuroscience and cognition as graphs that are evaluated over time.

- Files (`files`, `reading`, `document`, `writing`): every syntax gives what JSON could hold, checked for ids that stand
  twice, aliases that multiply and depth; then every field is checked, and unknown ones are kept in `extra`, so that
  writing gives the file again. `{"npz": "W"}` as a value is an array of the `.npz` file beside the model.
- Expressions (`syntax`, `vocabulary`, `evaluating`, `emission`, `closures`): a whitelist of Python's syntax as a tree.
  `evaluate` walks it with NumPy and is the meaning; `emit` walks it and gives hub nodes in float64. Both agree in every
  bit in the interpreter, save what `node_functions` puts together of other functions; native code has its own exp, log,
  tanh, arcsin and powers, which may round the last bit differently.
- Functions: `onnx::*` functions are read as ONNX nodes are, of opset 15, by the importers of `formats.onnx`; all floats
  of a graph are float64. Bodies of `onnx::Loop`, `Scan` and `If` are graphs in parameters (`bodies`), and become closed
  regions.
- Schedules (`conditions`, `counters`, `predicates`, `scheduler`, `structure`): conditions become predicates over
  integer counters, which is the whole machine, so a compiled model can carry it.
- Running: `engine` is the meaning, call by call, held to modeci_mdf bit for bit; `tracing` and `program` compile a
  graph over time into one module, held to `engine`. Draws (`drawing`) are functions of seed, node and evaluation, so
  they need no state; a distribution is a formula over two uniform numbers, which `engine` evaluates and a program
  emits.
- `execution_engine` and `functions` are modeci_mdf's own interfaces. modeci_mdf's tests of its engine run on them.
"""
