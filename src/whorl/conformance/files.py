"""The data files of the suite, `data/`: their format is in `data/README.md`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data"
README = FOLDER / "README.md"


@cache
def read_json(name: str) -> Any:
    """A JSON file of the suite by its name without the ending; it is read once, and must not be changed."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def read_model(theme: str, file: str) -> str:
    """A model in ONNX text."""
    return (FOLDER / theme / file).read_text(encoding="utf-8")
