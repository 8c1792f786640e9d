"""MDF files: ModECI models of neuroscience and cognition, which the layer `whorl.mdf` runs.

- `files`, `reading`, `writing`, `fields`, `xml`, `yaml`: every syntax gives what JSON could hold, checked for ids that
  stand twice, aliases that multiply and depth; then every field is checked, and unknown ones are kept in `extra`, so
  that writing gives the file again. `{"npz": "W"}` as a value is an array of the `.npz` file beside the model.
  `older_loops` repairs files of older exporters.
- `onnx`: `onnx::*` functions are read as ONNX nodes are, of opset 15, by the importers of `formats.onnx`; their bodies
  are graphs in parameters and become closed regions. ONNX models as MDF, and back.
- `model`: what `whorl.load` gives. `execution_engine`, `functions` and `modeci_objects` are modeci_mdf's own
  interfaces; modeci_mdf's tests of its engine run on them.
"""

from whorl.formats.mdf.onnx import library

assert library
