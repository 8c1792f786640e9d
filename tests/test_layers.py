"""The import rule of docs/architecture.md: its layer table is read, and every module of whorl is held to it."""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
PACKAGE = CHECKOUT / "src" / "whorl"
ROW = re.compile(r"^\| `(?P<layer>\w+)` \|.*\|(?P<doors>[^|]*)\|$", re.MULTILINE)
DOOR = re.compile(r"`(?P<package>\w+)`(?: in `(?P<file>[\w/.]+)`)?")
ANYWHERE = {"numpy", "ml_dtypes", "scipy", "msgspec"}


@dataclass(frozen=True)
class Rules:
    """The layers in order, and for each third-party package the places (a layer, or a file of it) that import it."""

    layers: list[str]
    doors: dict[str, set[str]]


def read_rules(text: str) -> Rules:
    rules = Rules([], {})
    for row in ROW.finditer(text):
        layer = row["layer"]
        rules.layers.append(layer)
        for door in DOOR.finditer(row["doors"]):
            position = f"{layer}/{door['file']}" if door["file"] else layer
            rules.doors.setdefault(door["package"], set()).add(position)
    return rules


RULES = read_rules((CHECKOUT / "docs" / "architecture.md").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Import:
    """One name that a module imports; in a function it is late, under TYPE_CHECKING it is for annotations only."""

    line: int
    name: str
    late: bool = False
    types_only: bool = False


def imports(tree: ast.AST, late: bool = False, types_only: bool = False) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Import(names=aliases):
                yield from (Import(node.lineno, alias.name, late, types_only) for alias in aliases)
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                yield from (Import(node.lineno, f"{module}.{alias.name}", late, types_only) for alias in aliases)
            case ast.ImportFrom():
                yield Import(node.lineno, "whorl", late, types_only)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                yield from imports(node, True, types_only)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from imports(node, late, True)
            case _:
                yield from imports(node, late, types_only)


def violations(path: str, source: str, rules: Rules = RULES) -> list[str]:
    """What the module at a path relative to the package imports against the rules."""
    here = path.split("/")[0].removesuffix(".py")
    if here not in (*rules.layers, "__init__", "__main__"):
        return [f"{path}: `{here}` is no layer of docs/architecture.md"]
    actual = []
    for each in imports(ast.parse(source)):
        top, _, rest = each.name.partition(".")
        fault = own_fault(here, rest, each.late, rules) if top == "whorl" else foreign_fault(path, here, top, rules)
        if fault and not (each.types_only and top != "whorl"):
            actual.append(f"{path}:{each.line}: {fault}")
    return list(dict.fromkeys(actual))


def own_fault(here: str, rest: str, late: bool, rules: Rules) -> str:
    there = rest.split(".")[0]
    if not there:
        return "a relative import, or one of whorl itself"
    if late:
        return f"imports whorl.{rest} inside a function, which hides a cycle"
    if here not in rules.layers:
        return ""
    if there not in rules.layers:
        return f"`{here}` imports whorl.{rest}, which is no layer"
    if rules.layers.index(there) > rules.layers.index(here):
        return f"`{here}` imports the later layer `{there}`"
    return ""


def foreign_fault(path: str, here: str, top: str, rules: Rules) -> str:
    if top in sys.stdlib_module_names or top in ANYWHERE:
        return ""
    allowed = rules.doors.get(top, set())
    if here in allowed or path in allowed:
        return ""
    if not allowed:
        return f"imports {top}, which docs/architecture.md does not know"
    return f"imports {top}; only {', '.join(sorted(allowed))} may"


def test_table_lists_the_layers_in_order() -> None:
    order = "errors debug phases ir llvm kernels ops passes kernel lowering codegen "
    order += "runtime mdf formats api scoring backend capi conformance cli"
    assert " ".join(RULES.layers) == order
    assert RULES.doors["llvmlite"] == {"codegen"}
    assert RULES.doors["onnx"] == {"formats", "backend", "conformance", "cli"}


def test_every_module_imports_only_what_its_layer_may() -> None:
    actual = [
        fault
        for path in sorted(PACKAGE.rglob("*.py"))
        for fault in violations(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert not actual, "\n" + "\n".join(actual)


def runtime_imports(module: str, source: str) -> set[str]:
    """The modules of whorl that a module of the runtime reaches through imports within the runtime."""
    reached, pending = set[str](), [(module, source)]
    while pending:
        _, source = pending.pop()
        for each in imports(ast.parse(source)):
            name = each.name
            while name.startswith("whorl.") and not (path := PACKAGE.parent / f"{name.replace('.', '/')}.py").is_file():
                name = name.rpartition(".")[0]
            if name.startswith("whorl.") and name not in reached:
                reached.add(name)
                if name.startswith("whorl.runtime."):
                    pending.append((name, path.read_text(encoding="utf-8")))
    return reached


def compiled_code(modules: set[str]) -> set[str]:
    """Those that belong to a layer between passes and runtime, or to compiled code of the runtime."""
    layers = RULES.layers[RULES.layers.index("passes") + 1 : RULES.layers.index("runtime")]
    compiling = tuple(f"whorl.{each}." for each in (*layers, "runtime.compiled"))
    return {module for module in modules if module.startswith(compiling)}


def test_interpreter_reaches_nothing_that_compiles() -> None:
    for path in sorted((PACKAGE / "runtime" / "interpreter").glob("*.py")):
        reached = runtime_imports(path.stem, path.read_text(encoding="utf-8"))
        assert not compiled_code(reached), f"{path.name} reaches {sorted(compiled_code(reached))}"


def test_import_of_compiled_code_by_another_module_is_reached() -> None:
    source = "from whorl.runtime.states import States\nfrom whorl.runtime.compiled.partition import partition"
    reached = runtime_imports("control", source)
    assert {"whorl.runtime.compiled.partition", "whorl.lowering.graphs", "whorl.codegen.target"} <= compiled_code(
        reached
    )


@pytest.mark.parametrize(
    ("path", "source", "fault"),
    [
        ("ir/dims.py", "from whorl.ops import base", "ir/dims.py:1: `ir` imports the later layer `ops`"),
        ("errors.py", "import whorl.ir.dims", "errors.py:1: `errors` imports the later layer `ir`"),
        ("ir/graph.py", "if True:\n    from whorl import ops", "ir/graph.py:2: `ir` imports the later layer `ops`"),
        (
            "ops/core/base.py",
            "from .control import Loop",
            "ops/core/base.py:1: a relative import, or one of whorl itself",
        ),
        (
            "ops/core/base.py",
            "from whorl import Loop",
            "ops/core/base.py:1: `ops` imports whorl.Loop, which is no layer",
        ),
        (
            "runtime/session.py",
            "class A:\n  def f(self):\n    from whorl.ir import dims",
            "runtime/session.py:3: imports whorl.ir.dims inside a function, which hides a cycle",
        ),
        (
            "ops/loops.py",
            "import onnx",
            "only backend, cli, conformance, formats may",
        ),
        ("ops/math.py", "import torch", "ops/math.py:1: imports torch, which docs/architecture.md does not know"),
        ("runtime/engine.py", "import llvmlite.ir", "runtime/engine.py:1: imports llvmlite; only codegen may"),
        ("loops/trips.py", "", "loops/trips.py: `loops` is no layer of docs/architecture.md"),
    ],
)
def test_forbidden_import_is_reported_with_its_location(path: str, source: str, fault: str) -> None:
    (actual,) = violations(path, source)
    assert fault in actual


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("ops/core/base.py", "from whorl.ir import dims\nfrom whorl.ops.control.flow import Loop\nimport math, numpy"),
        ("ops/image/decoding.py", "import PIL.Image"),
        ("ops/linear/products.py", "def run(x):\n    import scipy.special"),
        ("api/models.py", "if TYPE_CHECKING:\n    from onnx import ModelProto"),
        ("__main__.py", "from whorl.cli import main"),
        ("cli/verbs/conformance.py", "from whorl.conformance import cases"),
    ],
)
def test_allowed_import_is_not_reported(path: str, source: str) -> None:
    assert violations(path, source) == []
