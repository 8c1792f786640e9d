"""modeci_mdf's own tests of its engine, with whorl's in its place.

`make test-upstream` gets its sources, which are no part of whorl; without them the test is skipped. The example files
that its tests read are those of the corpus.
"""

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[3]
FILES = {"test_execution.py": 32, "test_scheduler.py": 12, "test_parameters.py": 17}
EXAMPLES = {"MDF": ("Simple", "ABCD", "Arrays", "States", "abc_conditions"), "ONNX": ("ab",)}
CONFTEST = """
import pytest
from modeci_mdf.mdf import Graph, Model


@pytest.fixture
def create_model():
    def create(nodes, edges=(), conditions=None):
        return Model(id="M", graphs=[Graph(id="G", nodes=list(nodes), edges=list(edges), conditions=conditions)])

    return create
"""


@pytest.fixture
def sources() -> Path:
    """The archive of modeci_mdf's sources."""
    named = os.environ.get("WHORL_MDF_SOURCES")
    actual = [Path(named)] if named else sorted((CHECKOUT / "build" / "upstream").glob("modeci_mdf-0.4.15.tar.gz"))
    if not actual:
        pytest.skip("no sources of modeci_mdf 0.4.15; `make test-upstream` gets them")
    return actual[0]


def write_examples(corpus: Path, folder: Path) -> None:
    yaml = pytest.importorskip("yaml")
    for kind, names in EXAMPLES.items():
        (folder / "examples" / kind).mkdir(parents=True)
        for name in names:
            case = f"{kind}_{name}" if kind == "ONNX" else name
            data = json.loads((corpus / "mdf" / case / "model.json").read_text())
            (folder / "examples" / kind / f"{name}.json").write_text(json.dumps(data))
            (folder / "examples" / kind / f"{name}.yaml").write_text(yaml.safe_dump(data, sort_keys=False))


def test_engine_tests_of_modeci_mdf_pass(sources, corpus, tmp_path):
    pytest.importorskip("modeci_mdf")
    with tarfile.open(sources) as archive:
        for member in archive.getmembers():
            name = Path(member.name).name
            if name in FILES and Path(member.name).parent.name == "tests":
                content = archive.extractfile(member)
                assert content is not None
                (tmp_path / name).write_bytes(content.read())
    (tmp_path / "conftest.py").write_text(CONFTEST)
    write_examples(corpus, tmp_path)
    path = os.pathsep.join([str(CHECKOUT / "src"), str(CHECKOUT / "tests"), os.environ.get("PYTHONPATH", "")])
    options = ["-q", "-p", "mdf_hook", "-p", "no:cacheprovider", "--import-mode=importlib"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *FILES],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    passed = re.search(r"(\d+) passed", run.stdout)
    assert run.returncode == 0, run.stdout[-4000:]
    assert passed and int(passed[1]) == sum(FILES.values())
