"""OpenVINO IR, versions 10 and 11: `.xml` with weights in a `.bin` beside it.

A file is read in three steps: a tree of elements in bounded memory, with attacks on parsers refused; a `document.Net`
that mirrors the file and interprets nothing (both in `xml`); hub nodes of its layers, bodies too (`reading`). `files`
does all three. Layers are ordered by need, from the Results and Assigns back, without recursion.

- Every problem has a code (`codes`): an error where the result would be wrong; a warning, which `check` shows, where
  the file only declares something else. Shapes and element types of ports are inferred anew and compared.
- Constants are read from the mapped `.bin` when their elements are first used (`weights`). Narrow integers stay
  packed; types that NumPy lacks (`u1`, `u3`, `u6`, `nf4`) are decoded then, and keep their name.
- Layers of unknown types become `OpaqueLayer`: they can be shown, optimised around and written back, and fail only
  when they must run.
- State: a variable is an argument and a result of the main region that `Module.states` connects; a loop whose body
  uses it carries it. So passes, native code and ONNX see no state: a session feeds the arguments and stores the
  results. In a body, where the first value may depend on the iteration, a flag, which is a state too, says whether
  there is a value.
- Loop, TensorIterator and If are the hub's Loop and If (`control`); all other layers are in `ops`, one family a room,
  with what maps 1:1 in a table.
- `saving` writes a `document.Net` (`writing`) as text and constants. A hub node is written by its exporter, else by
  its decomposition, else by the function that ONNX defines the op with. Constants are written where they are first
  read, in bodies too, since OpenVINO demands constants in many inputs; equal weights are recognised by their hash
  while they are written, so nothing is read twice.
"""

COMPAT = ("", "openvino-cpu")
"""Whose meaning IR is read with where they differ: the documentation's, or that of OpenVINO's CPU plugin."""
