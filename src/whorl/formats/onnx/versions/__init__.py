"""Where older ONNX versions of an op differ from the hub's, for reading and for writing; one file a family of ops.

`loop_forms` rewrites loops that only OpenVINO can say: the body gathers its slices by index, and stacked elements are
reshaped. What fails in the hub also fails there, by an index that is out of range.
"""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
