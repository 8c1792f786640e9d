"""What each OpenVINO op means in hub ops, and each hub op in OpenVINO's; one file a family of ops and a direction."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
