"""What defining an op's class does, and how a class is found by its name."""

import sys
from pathlib import Path

import numpy as np
import pytest

from whorl.ir.graph import REGISTRY, Op
from whorl.ir.registry import Registry
from whorl.ops.linear.products import Gemm
from whorl.ops.reduce.normalization import BatchNormalization


class Plain:
    """A class that is no op."""


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry[object]:
    """A registry that knows `First` and `Second` of a module that is not imported yet; the module defines one."""
    (tmp_path / "provided").mkdir()
    (tmp_path / "provided" / "family.py").write_text("class First: pass\nregistry.register(First)\n")
    (tmp_path / "provided" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    registry: Registry[object] = Registry()
    monkeypatch.setattr("builtins.registry", registry, raising=False)
    for name in ("provided", "provided.family"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    registry.providers.add("provided", {"family": ("First", "Second")})
    return registry


def test_default_of_a_float_attribute_is_what_a_file_would_hold():
    assert BatchNormalization().momentum == float(np.float32(0.9)) != 0.9
    assert Gemm().alpha == 1.0


def test_class_is_imported_with_its_first_use(registry):
    assert "First" in registry and list(registry) == ["First", "Second"] and len(registry) == 2
    assert "provided.family" not in sys.modules
    assert registry["First"].__module__ == "provided.family"
    assert registry.get("First") is sys.modules["provided.family"].First


def test_name_that_its_module_does_not_define_has_no_class(registry):
    assert registry.get("Second") is None
    assert "Third" not in registry and registry.get("Third") is None


def test_class_of_another_module_cannot_take_the_name(registry):
    with pytest.raises(TypeError, match="op First is defined twice"):
        registry.register(type("First", (), {"__module__": "elsewhere"}))


def test_second_class_of_a_name_is_refused(registry):
    registry.register(Plain)
    assert list(registry) == ["First", "Second", "Plain"] and registry["Plain"] is Plain
    with pytest.raises(TypeError, match="op Plain is defined twice"):
        registry.register(Plain)


def test_op_of_a_name_that_a_family_has_is_refused():
    with pytest.raises(TypeError, match="op Shrink is defined twice"):
        type("Shrink", (Op,), {})
    assert REGISTRY["Shrink"].__module__ == "whorl.ops.elementwise.nonlinear"
