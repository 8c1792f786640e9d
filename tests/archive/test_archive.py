"""The node tests of onnx 1.7.0 to 1.19.1 as their wheels hold them: models of opset 1 to 24 with inputs and outputs.

`make test-archive` downloads the wheels; equal cases of several releases are run once. A case listed in
`known_failures.txt` must fail: the list may only shrink.
"""

import hashlib
import os
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest

import whorl
from whorl.formats.onnx.tensors import type_from
from whorl.formats.onnx.values import value_of

HERE = Path(__file__).parent
FOLDER = os.environ.get("WHORL_ARCHIVE")
WHEELS = {"1.7.0": "3.8", "1.10.2": "3.8", "1.13.1": "3.11", "1.16.2": "3.11", "1.19.1": "3.11"}
PLATFORMS = ("manylinux1_x86_64", "manylinux2010_x86_64", "manylinux_2_12_x86_64", "manylinux2014_x86_64")
RTOL, ATOL = 1e-3, 1e-7

pytestmark = pytest.mark.skipif(FOLDER is None, reason="the archive is run by `make test-archive`, which downloads it")


def wheel(version: str, folder: Path) -> Path:
    """The wheel of one release, downloaded where it is not there yet."""
    pattern = f"onnx-{version}-*.whl"
    if not list(folder.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        platforms = [argument for name in (*PLATFORMS, "manylinux_2_17_x86_64") for argument in ("--platform", name)]
        target = ["--python-version", WHEELS[version], *platforms, "--dest", str(folder), f"onnx=={version}"]
        subprocess.run([*command, *target], check=True)
    return next(folder.glob(pattern))


@cache
def cases() -> dict[str, dict[str, bytes]]:
    """Case name (with its first release) -> its files by name; equal cases appear once."""
    assert FOLDER is not None
    actual: dict[str, dict[str, bytes]] = {}
    seen: set[str] = set()
    for version in WHEELS:
        grouped: dict[str, dict[str, bytes]] = {}
        with zipfile.ZipFile(wheel(version, Path(FOLDER))) as archive:
            for name in archive.namelist():
                if "/backend/test/data/node/" in name and not name.endswith("/"):
                    case, _, file = name.partition("/data/node/")[2].partition("/")
                    grouped.setdefault(case, {})[file] = archive.read(name)
        for case, files in grouped.items():
            digest = hashlib.sha256(b"".join(key.encode() + files[key] for key in sorted(files))).hexdigest()
            if digest not in seen:
                seen.add(digest)
                actual[f"{case}-{version}"] = files
    return actual


def known_failures() -> dict[str, str]:
    """Case -> reason, from the lines of the list."""
    lines = (HERE / "known_failures.txt").read_text().splitlines()
    pairs = [line.split(":", 1) for line in lines if line.strip() and not line.startswith("#")]
    return {name.strip(): reason.strip() for name, reason in pairs}


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        known = known_failures()
        # A random case passes now and then.
        marks = {n: pytest.mark.xfail(strict=not why.startswith("random"), reason=why) for n, why in known.items()}
        names = sorted(cases()) if FOLDER is not None else ["none"]
        metafunc.parametrize("case", [pytest.param(n, marks=marks.get(n, ())) for n in names])


def assert_equal(expected, actual):
    if isinstance(expected, list):
        assert len(expected) == len(actual)
        for e, f in zip(expected, actual, strict=True):
            assert_equal(e, f)
    elif expected is None:
        assert actual is None
    else:
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        if expected.dtype == object:
            np.testing.assert_array_equal(actual, expected)
        else:
            wide = expected.dtype if expected.dtype.kind in "biufc" else np.float32
            np.testing.assert_allclose(actual.astype(wide), expected.astype(wide), rtol=RTOL, atol=ATOL)


def test_case_gives_the_stored_outputs(case):
    files = cases()[case]
    graph = onnx.load_model_from_string(files["model.onnx"]).graph
    session = whorl.InferenceSession(files["model.onnx"])
    folders = sorted({name.partition("/")[0] for name in files if name.startswith("test_data_set_")})
    assert folders
    for folder in folders:
        feeds, expected = {}, []
        for k, info in enumerate(graph.input):
            data = files.get(f"{folder}/input_{k}.pb")
            if data is not None:
                feeds[info.name] = value_of(data, type_from(info.type, info.name), info.name)
        for k, info in enumerate(graph.output):
            expected.append(value_of(files[f"{folder}/output_{k}.pb"], type_from(info.type, info.name), info.name))
        assert_equal(expected, session.run(None, feeds))


def test_known_failures_name_cases_of_the_archive():
    assert set(known_failures()) <= set(cases())
