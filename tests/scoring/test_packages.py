"""Packages that are missing are named with what installs them."""

import sys

import pytest

from whorl.errors import UnsupportedError
from whorl.scoring.packages import arrow, package


def test_package_is_imported():
    assert package("pyarrow.csv").open_csv and arrow().table


@pytest.mark.parametrize(("name", "extra"), [("pyarrow", "tables"), ("ray.data", "ray"), ("distributed", "dask")])
def test_missing_package_is_named_with_its_extra(name, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, name.partition(".")[0], None)
    monkeypatch.delitem(sys.modules, "ray.data", raising=False)
    with pytest.raises(UnsupportedError) as error:
        package(name)
    top = name.partition(".")[0]
    assert str(error.value) == f"{top} is not installed\n  fix: pip install 'whorl[{extra}]'"
