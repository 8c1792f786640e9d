"""ModECI MDF: graphs of neuroscience and cognition, evaluated over time. This layer runs them and reads no file.

- `model`: the objects of a model. `bodies`: what a graph in a parameter takes and gives. `variables`: the values that a
  graph keeps between evaluations. `simulation`: the result of a run. `monitors`: spikes and rates of it.
  `plotting`: it and a graph as pictures.
- `expressions`: a whitelist of Python's syntax as a tree (`syntax`), and one walk over it for any arithmetic (`walk`):
  NumPy's is the meaning (`arrays`), that of nodes in float64 compiles (`nodes`). Both agree in every bit in the
  interpreter, save functions whose native form is a formula of others; native code has its own exp, log, tanh, arcsin
  and powers, which may round the last bit differently.
- `functions`: one row for each function that expressions may call, with name, meaning, arity, growth and native form
  (`numeric`, `arrays`), and the functions of nodes. Operators of ONNX are registered by the format that knows them; all
  floats of a graph are float64.
- `random`: draws are functions of seed, node and evaluation, so they need no state; a distribution is a formula over
  two uniform numbers, which the engine evaluates and a program emits.
- `schedule`: conditions become predicates over integer counters, which is the whole state machine, so a compiled model
  can carry it.
- `integration`: steps of parameters with a time derivative beside Euler's, which the engine and programs share.
- `engine` is the meaning of a graph, evaluation by evaluation, equal to modeci_mdf bit for bit. `compile` makes one
  module of a graph over time and is tested against `engine`.
"""
