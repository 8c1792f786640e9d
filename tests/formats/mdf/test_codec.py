"""MDF in the registry of formats."""

from pathlib import Path

import pytest

from whorl.errors import LoadError
from whorl.formats.mdf.codec import load
from whorl.formats.options import LoadOptions

DOCUMENT = """
m:
  format: ModECI MDF v0.4
  graphs:
    g:
      nodes:
        n:
          parameters: {p: {value: 2}}
          output_ports: {out: {value: p}}
"""


@pytest.mark.parametrize("kind", [str, Path])
def test_file_is_a_model_of_the_precision_that_is_expected(kind: type, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(DOCUMENT)
    for precision in ("float32", "float64"):
        model = load(kind(path), LoadOptions(precision=precision), None)
        assert model.precision == precision


def test_bytes_are_refused() -> None:
    with pytest.raises(LoadError) as caught:
        load(DOCUMENT.encode(), LoadOptions(), None)
    assert str(caught.value) == "an MDF model is read from a file\n  fix: pass its path"
