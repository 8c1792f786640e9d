"""What an op means: one class an op, one family a file. Importing the package registers every op."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
