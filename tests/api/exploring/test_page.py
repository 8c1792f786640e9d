"""The file of a page."""

import base64
import hashlib
import re
import zipfile
from pathlib import Path

import pytest

import whorl
from whorl.api.exploring.page import WEB, Page

CHECKOUT = Path(__file__).parents[3]


def test_policy_lets_the_own_program_and_style_run_and_nothing_else() -> None:
    text = Page("a", "").html
    policy = re.search(r'content="(default-src[^"]*)"', text)[1]
    for tag in ("script", "style"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_title_is_text() -> None:
    assert "<title>&lt;b&gt; &amp; &quot;</title>" in Page('<b> & "', "").html


def test_page_that_cannot_be_written_says_why(tmp_path) -> None:
    with pytest.raises(whorl.SaveError) as caught:
        Page("a", "").save(tmp_path / "none" / "page.html")
    assert str(caught.value) == f"cannot write {str(tmp_path / 'none' / 'page.html')!r}: No such file or directory"


def test_page_is_shown_by_its_title() -> None:
    assert repr(Page("net.onnx", "")) == "<whorl.Page 'net.onnx'>"


def test_wheel_has_the_program(tmp_path) -> None:
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(CHECKOUT))
    (wheel,) = builder.build(directory=str(tmp_path), versions=["standard"])
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert {path.relative_to(CHECKOUT / "src").as_posix() for path in WEB.iterdir()} <= packed
