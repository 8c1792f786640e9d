"""YAML files as plain data."""

from whorl.formats.mdf.files import read_mdf


def test_dates_of_yaml_are_texts(tmp_path):
    text = "m: {graphs: {g: {nodes: {A: {metadata: {made: 2024-05-01}}}}}}"
    (tmp_path / "m.yaml").write_text(text)
    assert read_mdf(tmp_path / "m.yaml").graphs["g"].nodes["A"].metadata == {"made": "2024-05-01"}
