"""The package's names: each is where the table says, and is loaded when it is asked for."""

import importlib
import inspect
import subprocess
import sys

import pytest

import whorl


@pytest.mark.parametrize("name", whorl.__all__)
def test_public_name_is_that_of_its_module(name):
    value = getattr(whorl, name)
    home = whorl._HOMES.get(name)
    assert value is (getattr(importlib.import_module(home), name) if home else importlib.import_module(f"whorl.{name}"))


def test_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'whorl' has no attribute 'Sesion'"):
        whorl.Sesion  # noqa: B018


def test_listing_has_all_public_names_without_loading_them():
    program = """
import sys, whorl
assert set(whorl.__all__) <= set(dir(whorl)) and "__version__" in dir(whorl)
print(sorted(name for name in sys.modules if name.startswith("whorl.api")))
whorl.deloop
print("whorl.api.delooping" in sys.modules, "deloop" in vars(whorl))
"""
    result = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert result.stdout.split("\n")[:2] == ["[]", "True True"]


def test_star_import_gives_every_name():
    names: dict = {}
    exec("from whorl import *", names)
    assert set(whorl.__all__) <= set(names)


def public_parts(value: object) -> list[object]:
    """A public function, or a class with the methods and properties that it defines itself."""
    own = [part for name, part in vars(value).items() if not name.startswith("_")] if inspect.isclass(value) else []
    return [value, *(part for part in own if inspect.isfunction(part) or isinstance(part, property))]


@pytest.mark.parametrize("name", [name for name in whorl.__all__ if name != "Source"])
def test_public_name_and_its_methods_have_docstrings(name):
    assert all((part.__doc__ or "").strip() for part in public_parts(getattr(whorl, name)))
