"""OpenVINO IR, versions 10 and 11: `.xml` with weights in a `.bin` beside it.

A file is read in three steps. `xml_tree` makes a tree of elements with their lines, in bounded memory, and refuses what
attacks parsers; `xml_file` makes of it a `document.Net`, which says what the file says and nothing more; `reader` makes
nodes of its layers, bodies too, each by the importer of its type and opset. Order is by need, found without recursion,
from the Results and Assigns back.

- Every problem has a code (`codes`): an error where the result would be wrong, a warning, which `check` tells, where it
  is only not what the file declares. Shapes and element types of ports are inferred anew and compared.
- Constants are read from the mapped `.bin` when somebody asks (`weights`). Narrow integers stay packed; forms that
  NumPy lacks (`u1`, `u3`, `u6`, `nf4`) are decoded then (`stored`), and keep the name of their form.
- Layers of unknown types become `OpaqueLayer`: they can be shown, optimised around and written back, and fail only when
  they must run (`opaque`).
- State: a variable is an argument and a result of the main region that `Module.states` connects; a loop whose body uses
  it carries it (`states`). So passes, native code and ONNX know no state: a session feeds the arguments and keeps the
  results. In a body, where the first value may depend on the iteration, a flag that is a state, too, tells whether
  there is a value yet.
- Loop, TensorIterator and If become the hub's Loop and If (`control`), after `port_maps` has checked their maps.
- Writing makes a `document.Net` (`writer`), its text (`xml_out`) and both files (`saving`). A hub node is written by
  its exporter, else by its decomposition, else by the function that ONNX defines the op with (`definitions`). Constants
  are written where they are first read, in bodies too, since OpenVINO asks for constants in many places; equal weights
  are found by their hash as they are written, so nothing is read twice.
"""

COMPAT = ("", "openvino-cpu")
"""Whose meaning IR is read with where they differ: the documentation's, or that of OpenVINO's CPU plugin."""
