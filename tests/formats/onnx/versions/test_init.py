"""The table of versions names every operator that a module reads or writes, and no other."""

import importlib
import pkgutil
from collections import defaultdict

from whorl.formats.onnx import versions
from whorl.formats.onnx.exporting import EXPORTERS
from whorl.formats.onnx.importing import IMPORTERS
from whorl.formats.onnx.versions import OPS

PREFIX = "whorl.formats.onnx.versions."


def test_table_is_what_the_modules_register() -> None:
    for module in pkgutil.iter_modules(versions.__path__, PREFIX):
        importlib.import_module(module.name)
    registered: dict[str, set[str]] = defaultdict(set)
    for (_, name), importers in IMPORTERS.items():
        for _, _, importer in importers:
            if not importer.__module__.startswith(PREFIX):
                continue
            registered[importer.__module__.removeprefix(PREFIX)].add(name)
    for name, exporters in EXPORTERS.items():
        for _, exporter in exporters:
            registered[exporter.__module__.removeprefix(PREFIX)].add(name)
    assert {module: sorted(names) for module, names in registered.items()} == {
        m: list(names) for m, names in OPS.items()
    }
    assert list(OPS) == sorted(OPS)
