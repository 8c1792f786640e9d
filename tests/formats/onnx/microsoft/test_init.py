"""The table of operators that onnxruntime adds names what the modules register."""

import importlib
import pkgutil

from whorl.formats.onnx import microsoft
from whorl.formats.onnx.context import GRAPH_READERS
from whorl.formats.onnx.importing import IMPORTERS
from whorl.formats.onnx.signatures import readable_signature

PREFIX = "whorl.formats.onnx.microsoft."


def test_table_is_what_the_modules_register():
    for module in pkgutil.iter_modules(microsoft.__path__, PREFIX):
        importlib.import_module(module.name)
    functions = [(name, entry[-1]) for (_, name), importers in IMPORTERS.items() for entry in importers]
    functions += [(name, reader) for (_, name), reader in GRAPH_READERS.items()]
    registered = {}
    for name, function in functions:
        if function.__module__.startswith(PREFIX):
            registered.setdefault(function.__module__.removeprefix(PREFIX), set()).add(name)
    assert {module: sorted(names) for module, names in registered.items()} == {
        module: list(names) for module, names in microsoft.OPS.items()
    }
    assert list(microsoft.OPS) == sorted(microsoft.OPS)


def test_every_operator_has_a_signature():
    for names in microsoft.OPS.values():
        for name in names:
            domain = "" if name == "SimplifiedLayerNormalization" else "com.microsoft"
            assert readable_signature(name, domain, 1).since_version == 1
