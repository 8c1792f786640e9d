"""Who computes the parts: this process, processes of this machine, or the workers of Dask or Ray.

The engines schedule, send and retry; a part that is computed twice has the same name and the same bytes.
"""

from __future__ import annotations

import importlib.metadata
import multiprocessing
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from whorl.errors import RunError, WhorlError
from whorl.scoring.packages import package

Task = Callable[[Any], Any]
"""What computes a part; it can be pickled."""
DEATHS = 4
"""Workers of Ray that a part may cost before it ends the run."""
AGAIN = "start again: parts that are written are not computed again"
SHARED = "whorl", "numpy", "pyarrow"
"""The packages whose versions workers must have as well."""


def run_parts(task: Task, parts: Sequence[Any], on: str, workers: int | None, address: str | None) -> Iterator[Any]:
    """What a task gives for each part, in any order. Errors: those of the task, RunError for an engine that fails."""
    if address is not None and on == "local":
        raise RunError("an address is that of a cluster", fix='leave it out, or choose on="dask" or on="ray"')
    match on:
        case "local" if workers is None or workers == 1:
            yield from map(task, parts)
        case "local":
            yield from _run_processes(task, parts, workers or 1)
        case "dask":
            yield from _run_dask(task, parts, workers, address)
        case "ray":
            yield from _run_ray(task, parts, workers, address)
        case _:
            raise RunError(f"there is no engine {on!r}", fix="choose from local, dask, ray")


def versions() -> dict[str, str]:
    """The versions that results and pickles depend on."""
    return {"python": sys.version.split()[0]} | {name: importlib.metadata.version(name) for name in SHARED}


def check_versions(own: dict[str, str], others: dict[str, dict[str, str]]) -> None:
    """Refuse workers of other versions. Errors: RunError names them."""
    for worker, versions in others.items():
        for name, version in own.items():
            if versions.get(name) != version:
                what = f"worker {worker} has {name} {versions.get(name, 'not at all')}, and this process {version}"
                raise RunError(what, fix=f"install the same version there: pip install {name}=={version}")


class _Guarded:
    """A task whose errors are values, so that no engine retries or wraps them."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def __call__(self, part: Any) -> tuple[bool, Any]:
        try:
            return True, self.task(part)
        except WhorlError as error:
            return False, error


def _unwrap(result: tuple[bool, Any]) -> Any:
    is_fine, value = result
    if not is_fine:
        raise value
    return value


# ---- processes ---------------------------------------------------------------------------------------------------


def _run_processes(task: Task, parts: Sequence[Any], workers: int) -> Iterator[Any]:
    context = multiprocessing.get_context("spawn")
    data = pickle.dumps(_Guarded(task))
    with ProcessPoolExecutor(workers, context, _start, (data,)) as pool:
        futures = [pool.submit(_call, part) for part in parts]
        try:
            for future in as_completed(futures):
                yield _unwrap(future.result())
        except BrokenProcessPool:
            raise RunError("a process that computed a part has ended", fix=AGAIN) from None
        finally:
            pool.shutdown(cancel_futures=True)


class _Process:
    """What a process computes; a process pool has no other way to keep it."""

    task: Callable[[Any], tuple[bool, Any]]


def _start(data: bytes) -> None:
    _Process.task = pickle.loads(data)


def _call(part: Any) -> tuple[bool, Any]:
    return _Process.task(part)


# ---- Dask --------------------------------------------------------------------------------------------------------


@contextmanager
def dask_client(workers: int | None, address: str | None) -> Iterator[Any]:
    """The client of an address, the current one, or one of a cluster of its own. Errors: RunError."""
    distributed = package("distributed")
    own = None
    try:
        if address is not None:
            client = own = distributed.Client(address)
        else:
            client = distributed.get_client()
    except ValueError:
        client = own = distributed.Client(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        )
    except OSError as error:
        raise RunError(f"no scheduler of Dask is at {address!r}: {error}", fix="start one: dask scheduler") from None
    try:
        check_versions(versions(), _versions_of_dask(client))
        yield client
    finally:
        if own is not None:
            own.close()


def _versions_of_dask(client: Any) -> dict[str, dict[str, str]]:
    try:
        return client.run(versions)
    except ModuleNotFoundError as error:
        fix = "install whorl, of one version, on all workers"
        raise RunError(f"the workers of Dask cannot import {error.name}", fix=fix) from None


def _run_dask(task: Task, parts: Sequence[Any], workers: int | None, address: str | None) -> Iterator[Any]:
    distributed = package("distributed")
    with dask_client(workers, address) as client:
        # What is scattered is lost with the last worker that has it; what is computed is computed again.
        call = client.submit(pickle.loads, pickle.dumps(_Guarded(task)), pure=False)
        futures = client.map(_apply, [call] * len(parts), parts, pure=False)
        try:
            for future in distributed.as_completed(futures):
                yield _unwrap(future.result())
        except distributed.KilledWorker as error:
            raise RunError(f"Dask gave up: {error}", fix=AGAIN) from None
        finally:
            client.cancel(futures)


def _apply(call: Callable[[Any], tuple[bool, Any]], part: Any) -> tuple[bool, Any]:
    return call(part)


# ---- Ray ---------------------------------------------------------------------------------------------------------


@contextmanager
def ray_cluster(workers: int | None, address: str | None) -> Iterator[Any]:
    """Ray, started on this machine unless it runs or there is an address. Errors: RunError."""
    ray = package("ray")
    own = not ray.is_initialized()
    if own:
        environment = {"env_vars": {"PYTHONPATH": str(Path(__file__).parents[2])}}
        here = {"num_cpus": workers, "include_dashboard": False, "runtime_env": environment}
        try:
            ray.init(log_to_driver=False, logging_level="ERROR", **({"address": address} if address else here))
        except ConnectionError as error:
            raise RunError(f"no cluster of Ray is at {address!r}: {error}", fix="start one: ray start --head") from None
    try:
        yield ray
    finally:
        if own:
            ray.shutdown()


class _Actor:
    """A worker of Ray: it has the task, and with it the session, which it loads again after a death."""

    call: Callable[[Any], tuple[bool, Any]] | None = None

    def load(self, task: Sequence[Any], own: dict[str, str]) -> Callable[[Any], tuple[bool, Any]]:
        """What computes parts; `task` is where Ray has its bytes, in a list, which Ray hands on as it is."""
        if self.call is None:
            try:
                check_versions(own, {"of Ray": versions()})
            except RunError as error:
                return partial(_fail, error)
            self.call = pickle.loads(package("ray").get(task[0]))
        assert self.call is not None
        return self.call

    def start(self, task: Sequence[Any], own: dict[str, str]) -> None:
        """Load the task before there is a part."""
        self.load(task, own)

    def compute(self, task: Sequence[Any], own: dict[str, str], part: bytes) -> bytes:
        """The result of a part, or its error."""
        return pickle.dumps(self.load(task, own)(pickle.loads(part)))


def _fail(error: RunError, part: Any) -> tuple[bool, Any]:  # noqa: ARG001 - whatever the part
    return False, error


def _run_ray(task: Task, parts: Sequence[Any], workers: int | None, address: str | None) -> Iterator[Any]:
    with ray_cluster(workers, address) as ray:
        count = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        kind = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=DEATHS)(_Actor)
        shared = [ray.put(pickle.dumps(_Guarded(task)))], versions()
        actors = [kind.remote() for _ in range(min(count, len(parts)))]
        try:
            yield from _results_of_ray(ray, actors, shared, parts)
        except ray.exceptions.RayError as error:
            raise RunError(f"Ray gave up: {str(error).splitlines()[0]}", fix=AGAIN) from None
        finally:
            for actor in actors:
                ray.kill(actor)


def _results_of_ray(ray: Any, actors: Sequence[Any], shared: Sequence[Any], parts: Sequence[Any]) -> Iterator[Any]:
    """What parts give, each computed by an actor that has started and is free; some may wait for a CPU to the end."""
    left, missing = iter(parts), len(parts)
    running = {actor.start.remote(*shared): (actor, False) for actor in actors}
    while missing:
        (ready, *_), _ = ray.wait(list(running))
        result, (actor, is_part) = ray.get(ready), running.pop(ready)
        part = next(left, None)
        if part is not None:
            running[actor.compute.remote(*shared, pickle.dumps(part))] = actor, True
        if is_part:
            missing -= 1
            yield _unwrap(pickle.loads(result))
