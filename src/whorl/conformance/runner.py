"""Runs cases on an engine: a pool of worker subprocesses, restarted when a case crashes or hangs them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fnmatch import fnmatchcase
from types import TracebackType

from msgspec import Struct

from whorl.conformance.backends import BACKENDS
from whorl.conformance.case import Case
from whorl.conformance.cases import load_cases
from whorl.conformance.compare import difference
from whorl.conformance.messages import READY, Answer, Question, Refusal, receive, send
from whorl.errors import RunError

STATUSES = "pass", "wrong", "error", "crash", "timeout", "unsupported"
START_TIMEOUT = 120.0


class Result(Struct, frozen=True):
    """What a backend made of a case: a status out of STATUSES, and why it is not "pass"."""

    case: str
    backend: str
    status: str
    message: str = ""
    seconds: float = 0.0


class WorkerLost(Exception):
    """The worker died or was stopped: "crash" or "timeout", with the end of what it printed."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(status, message)
        self.status, self.message = status, message


class Worker:
    """One subprocess with an engine loaded. Errors: RunError for a backend that cannot be loaded, WorkerLost."""

    def __init__(self, backend: str) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the worker
        command = [sys.executable, "-m", "whorl.conformance.worker", backend]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment,
            start_new_session=True,
        )
        threading.Thread(target=self._clean_up, daemon=True).start()
        if (greeting := self._answer(START_TIMEOUT)) != READY:
            self.close()
            assert isinstance(greeting, Refusal)
            raise _unavailable(backend, greeting)

    def ask(self, question: Question, timeout: float) -> Answer:
        """The engine's answer; WorkerLost where it gives none in time."""
        assert self._process.stdin is not None
        try:
            send(self._process.stdin, question)
        except OSError:
            raise self._lost(stopped=False) from None
        reply = self._answer(timeout)
        assert isinstance(reply, Answer)
        return reply

    def close(self) -> None:
        """End the subprocess."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream is not None and not stream.closed:
                with suppress(BrokenPipeError):
                    stream.close()

    def _clean_up(self) -> None:
        """Once the worker is gone, end what it forked: that would keep the pipe open, and reading would never end."""
        self._process.wait()
        with suppress(AttributeError, ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _answer(self, timeout: float) -> object:
        assert self._process.stdout is not None
        stopped = threading.Event()

        def stop() -> None:
            stopped.set()
            self._process.kill()

        timer = threading.Timer(timeout, stop)
        timer.start()
        try:
            return receive(self._process.stdout)
        except EOFError:
            raise self._lost(stopped.is_set()) from None
        finally:
            timer.cancel()

    def _lost(self, stopped: bool) -> WorkerLost:
        code = self._process.wait()
        self._log.seek(0)
        printed = self._log.read().decode(errors="replace").strip()[-300:]
        if stopped:
            return WorkerLost("timeout", "no answer in time")
        return WorkerLost("crash", f"the process ended with code {code}" + (f": {printed}" if printed else ""))


def _unavailable(backend: str, refusal: Refusal) -> RunError:
    """The error of a backend that cannot be loaded, with what to install."""
    fix = ""
    if refusal.missing and backend in BACKENDS:
        fix = f"pip install {refusal.missing}"
    elif refusal.missing:
        fix = "install it, or put its folder on PYTHONPATH"
    return RunError(f"the backend {backend!r} cannot be loaded: {refusal.reason}", fix=fix)


class Bench:
    """A worker that comes back after it was lost."""

    def __init__(self, backend: str, timeout: float) -> None:
        self.backend, self.timeout = backend, timeout
        self._worker: Worker | None = None

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def judge(self, case: Case) -> Result:
        """Run one case and compare; a crash counts only in a fresh process, as an earlier case may have damaged it."""
        start = time.perf_counter()
        was_used = self._worker is not None
        status, message = self._verdict(case)
        if status == "crash" and was_used:
            status, message = self._verdict(case)
        return Result(case.name, self.backend, status, message, round(time.perf_counter() - start, 4))

    def _verdict(self, case: Case) -> tuple[str, str]:
        if case.control is not None:
            control = self.ask(Question(case.data, case.control))
            if control.status != "ran":
                return control.status, f"with inputs that are right: {control.message}"
        return verdict(case, self.ask(Question(case.data, case.inputs, case.sessions, case.repeat)))

    def ask(self, question: Question) -> Answer:
        """The engine's answer, or the status "crash" or "timeout" of a worker that was lost."""
        try:
            self._worker = self._worker or Worker(self.backend)
            return self._worker.ask(question, self.timeout)
        except WorkerLost as lost:
            self.close()
            return Answer(lost.status, lost.message)


def verdict(case: Case, answer: Answer) -> tuple[str, str]:
    """The status of a case and, unless it passed, why."""
    if answer.status == "error" and (case.error or case.may_refuse):
        return "pass", ""
    if answer.status != "ran":
        return answer.status, answer.message
    if case.error:
        return "wrong", "gave values where an error is due"
    if case.check is not None:
        problem = case.check(list(answer.runs))
        return ("wrong", problem) if problem else ("pass", "")
    for outputs in answer.runs:
        if problem := difference(case.expected or (), outputs, case.tolerance):
            return "wrong", problem
    return "pass", ""


def run(
    backend: str,
    names: Iterable[str] | None = None,
    timeout: float = 10.0,
    workers: int = 2,
    cases: Sequence[Case] | None = None,
) -> list[Result]:
    """Run the suite, or the cases whose name matches one of `names` (patterns as `while_*`), on a backend.

    The results are in the suite's order. `timeout` is in seconds for one question to the engine.
    Errors: RunError where the backend cannot be loaded.
    """
    patterns = None if names is None else tuple(names)
    chosen = [case for case in (load_cases() if cases is None else cases) if matches(case.name, patterns)]
    waiting = iter(enumerate(chosen))
    taking = threading.Lock()
    results: dict[int, Result] = {}

    def serve() -> None:
        with Bench(backend, timeout) as bench:
            while True:
                with taking:
                    index, case = next(waiting, (-1, None))
                if case is None:
                    return
                results[index] = bench.judge(case)

    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(serve) for _ in range(min(workers, len(chosen)))]:
            done.result()
    return [results[index] for index in range(len(chosen))]


def matches(name: str, patterns: Sequence[str] | None) -> bool:
    """Whether a name is chosen; without patterns every name is."""
    return patterns is None or any(fnmatchcase(name, pattern) for pattern in patterns)


def counts(results: Sequence[Result]) -> dict[str, int]:
    """How many results have each status, in the order of STATUSES."""
    totals = Counter(result.status for result in results)
    return {status: totals[status] for status in STATUSES}
