"""What each OpenVINO op means in hub ops, and each hub op in OpenVINO's; one file a family of ops and a direction.

- Ops are read as nodes that give what OpenVINO's CPU plugin was measured to give: an index outside of Gather's axis
  gives 0 unless it is a constant inside or the number of an iteration, an axis of Squeeze that is longer than 1 stays,
  functions of integers are rounded, numbers counted in floats are rounded to integers. Where the plugin is not like
  itself, or like its documentation, ONNX's meaning holds: NaN in Maximum, ReLU and Clamp, reductions of nothing, a
  Range that ends before it starts, sums of bytes beyond their range, int64 and float64.
- Written ops (`*_out`) give in OpenVINO what they give here, with more layers where the plugin falls short: extremes of
  halves find infinities, bytes are added in int32, a Range keeps its limit behind its start, a Tile by repeats of run
  time is a broadcast. OpenVINO knows every rank before it runs, so axes that only a run knows become a computed shape
  of known length (`axes_out`). What has no form is a SaveError.
- A recurrent cell is read as the nodes of one step, a sequence as the hub's op; an LSTM with a clip, which OpenVINO
  does not apply to its last activation, becomes a loop over cells (`recurrent_loop`). That loop is also written where a
  sequence has lengths of rows and open dims, since the plugin then heeds no lengths.
- Pools round up by longer padding; a sampling mode that has no name on the other side is written out in coordinates
  (`resize_nodes`), with constant indices and weights where all lengths are known. Quantization is arithmetic, sums of
  bytes cut into parts that float32 adds exactly; OpenVINO divides by a product with a reciprocal, so that a quotient at
  the middle between two levels may go the other way. `native_layer` is a layer of OpenVINO's among hub nodes.
"""

import importlib
import pkgutil

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
