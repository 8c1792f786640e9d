"""MLIR text with the onnx dialect, as onnx-mlir reads and prints it.

It is a second syntax of ONNX, not a second importer. Text becomes an ONNX graph (`protos`), and the reader of ONNX
files does the rest: versions, checks, scopes, captured values. Writing goes the other way: the writer of ONNX graphs
says a module at the opset of the dialect, with the type of each value noted (`exporting`), and the printer prints
nodes. An op of an older version is a call of a function that holds it, since a model has one version only.

- Parsing is over xDSL's lexer and basic parser, without its IR: building and verifying operations would cost more than
  everything else, and its attributes read the bits of floats as numbers and have no locations. Lists of elements are
  taken from the text in one piece.
- What the IR has no room for (types in the text, locations, attributes of other tools) lies beside the module, by the
  names of values, which rules hand on to what they put in place of a value.
- `whorl opt` is onnx-mlir's optimiser on the passes of the package: `constprop` holds what that optimiser folds and how
  it names it, the rules are those of `passes.rules`. `docs/mlir.md` says where its numbers differ from those of a run.
"""
