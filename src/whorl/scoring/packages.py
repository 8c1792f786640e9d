"""The packages that scoring needs: imported when they are first used; what installs a missing one is named."""

from __future__ import annotations

import importlib
from typing import Any

from whorl.errors import UnsupportedError

EXTRAS = {
    "dask": "dask",
    "distributed": "dask",
    "fsspec": "tables",
    "pandas": "tables",
    "pyarrow": "tables",
    "ray": "ray",
    "xarray": "tables",
    "yaml": "mdf",
    "zarr": "zarr",
}
"""The extra of whorl that installs a package."""


def package(name: str) -> Any:
    """A package or a module of one. Errors: UnsupportedError where it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        top = name.partition(".")[0]
        if (error.name or "").partition(".")[0] != top:
            raise
        raise UnsupportedError(f"{top} is not installed", fix=f"pip install 'whorl[{EXTRAS[top]}]'") from None


def arrow() -> Any:
    """PyArrow."""
    return package("pyarrow")
