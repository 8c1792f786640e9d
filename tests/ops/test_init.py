"""The table of ops names every op, and no other, by the module that defines it."""

import importlib
import pkgutil
from collections import defaultdict

import whorl.ops
from whorl.ir.graph import REGISTRY
from whorl.ops import OPS

PREFIX = "whorl.ops."


def test_table_is_what_the_modules_define() -> None:
    for module in pkgutil.walk_packages(whorl.ops.__path__, PREFIX):
        importlib.import_module(module.name)
    defined: dict[str, list[str]] = defaultdict(list)
    for kind in REGISTRY.values():
        if kind.__module__.startswith(PREFIX):
            defined[kind.__module__.removeprefix(PREFIX)].append(kind.__name__)
    assert {module: sorted(names) for module, names in defined.items()} == {
        m: sorted(names) for m, names in OPS.items()
    }
    assert list(OPS) == sorted(OPS) and all(list(names) == sorted(names) for names in OPS.values())
