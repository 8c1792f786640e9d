"""The data files: found wherever the package lies, read once, and described by their README."""

import onnx

from whorl.conformance.files import FOLDER, README, read_json, read_model


def test_json_is_read_once():
    assert read_json("suite") is read_json("suite")


def test_model_is_onnx_text_with_its_header():
    assert onnx.parser.parse_model(read_model("carried", "swap.onnxtxt")).opset_import[0].version == 17


def test_readme_explains_every_key_and_check():
    text = README.read_text(encoding="utf-8")
    rows = [row for theme in read_json("suite")["themes"] for row in read_json(theme)["cases"]]
    assert len(rows) == 510
    assert {f"`{key}`" for row in rows for key in row} <= set(text.replace("|", " ").replace(",", " ").split())
    assert all(f"| `{row['check']['kind']}` |" in text for row in rows if "check" in row)


def test_folder_has_nothing_but_data():
    assert {path.suffix for path in FOLDER.rglob("*") if path.is_file()} == {".json", ".md", ".onnxtxt"}
