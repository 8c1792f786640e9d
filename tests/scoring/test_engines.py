"""What computes parts: this process, processes of this machine, Dask and Ray, also while their workers are killed."""

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from whorl.errors import RunError
from whorl.scoring.engines import check_versions, ray_cluster, run_parts, versions

TESTS = str(Path(__file__).parents[1])


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Workers import this file, as they import a user's."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([TESTS, *filter(None, [os.environ.get("PYTHONPATH")])]))


@dataclass(frozen=True)
class Square:
    """A part's square, by a process whose id is noted; part 3 kills the process that first takes it."""

    folder: str
    kills: bool = False

    def __call__(self, part):
        Path(self.folder, f"{os.getpid()}").touch()
        if part == 3 and self.kills:
            try:
                Path(self.folder, "killed").touch(exist_ok=False)
            except FileExistsError:
                return part * part
            os.kill(os.getpid(), signal.SIGKILL)
        if part < 0:
            raise RunError("no square", "part -1", "give others")
        return part * part


def squares(task, on, workers=2, parts=range(6)):
    return sorted(run_parts(task, list(parts), on, workers, None))


EXPECTED = [0, 1, 4, 9, 16, 25]
CLUSTERS = [pytest.param("dask", marks=pytest.mark.slow), pytest.param("ray", marks=pytest.mark.slow)]


def test_this_process_computes_parts_in_order(tmp_path):
    assert list(run_parts(Square(str(tmp_path)), [2, 1], "local", None, None)) == [4, 1]
    assert os.listdir(tmp_path) == [str(os.getpid())]


@pytest.mark.slow
def test_processes_compute_every_part(tmp_path):
    assert squares(Square(str(tmp_path)), "local") == EXPECTED
    assert str(os.getpid()) not in os.listdir(tmp_path)


@pytest.mark.parametrize("on", CLUSTERS)
def test_part_of_a_worker_that_is_killed_is_computed_again(on, tmp_path):
    pytest.importorskip({"dask": "distributed", "ray": "ray"}[on])
    assert squares(Square(str(tmp_path), kills=True), on) == EXPECTED
    assert "killed" in os.listdir(tmp_path) and str(os.getpid()) not in os.listdir(tmp_path)


@pytest.mark.slow
def test_worker_of_ray_that_never_gets_a_cpu_is_not_waited_for(tmp_path):
    pytest.importorskip("ray")
    with ray_cluster(1, None):
        assert squares(Square(str(tmp_path)), "ray", workers=2) == EXPECTED
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.slow
def test_process_that_is_killed_ends_the_run(tmp_path):
    with pytest.raises(RunError) as error:
        squares(Square(str(tmp_path), kills=True), "local")
    assert str(error.value) == (
        "a process that computed a part has ended\n  fix: start again: parts that are written are not computed again"
    )


def test_error_of_a_part_is_raised(tmp_path):
    with pytest.raises(RunError, match=r"^part -1: no square\n  fix: give others$"):
        squares(Square(str(tmp_path)), "local", None, [-1])


def test_worker_of_another_version_is_refused():
    own = versions()
    check_versions(own, {"tcp://a": own})
    assert own["python"] == sys.version.split()[0]
    with pytest.raises(RunError) as error:
        check_versions(own, {"tcp://a": own | {"numpy": "1.0"}})
    assert str(error.value) == (
        f"worker tcp://a has numpy 1.0, and this process {own['numpy']}\n"
        f"  fix: install the same version there: pip install numpy=={own['numpy']}"
    )


def test_scheduler_that_is_not_there_is_named():
    pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    expected = r"^no scheduler of Dask is at 'tcp://127.0.0.1:9': "
    with dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}), pytest.raises(RunError, match=expected):
        list(run_parts(abs, [1], "dask", None, "tcp://127.0.0.1:9"))
