"""Where older ONNX versions of an op differ from the hub's, for reading and for writing; one file a family of ops."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
