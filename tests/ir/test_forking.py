"""Forks beside other threads: locks are free in the child, imports whole."""

import os
import sys
import threading
import time

import pytest

from whorl.ir.forking import import_whole, renew_in_children, wait_at_forks

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


class Guarded:
    def __init__(self):
        self.renew()
        renew_in_children(self)

    def renew(self):
        self.lock = threading.Lock()


def status_of_child(work) -> int:
    """What a forked child exits with; 9 if it hangs for five seconds."""
    child = os.fork()
    if not child:
        threading.Timer(5, lambda: os._exit(9)).start()
        os._exit(0 if work() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_child_finds_locks_of_other_threads_free():
    guarded, taken, done = Guarded(), threading.Event(), threading.Event()

    def hold():
        with guarded.lock:
            taken.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(20)
    try:
        assert status_of_child(lambda: guarded.lock.acquire(timeout=3)) == 0
        assert guarded.lock.locked()
    finally:
        done.set()
        thread.join()


def test_fork_waits_for_an_import(tmp_path, monkeypatch):
    (tmp_path / "slowly_imported.py").write_text("import time\ntime.sleep(0.5)\nvalue = 7\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    thread = threading.Thread(target=import_whole, args=("slowly_imported",))
    thread.start()
    while "slowly_imported" not in sys.modules and thread.is_alive():
        pass
    assert status_of_child(lambda: import_whole("slowly_imported").value == 7) == 0
    thread.join()


def test_fork_waits_for_a_lock(monkeypatch):
    monkeypatch.setattr("whorl.ir.forking._waited_for", [])
    lock, taken, state = threading.RLock(), threading.Event(), []
    wait_at_forks(lock)

    def hold():
        with lock:
            state.append("half")
            taken.set()
            time.sleep(0.3)
            state.append("whole")

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(20)
    assert status_of_child(lambda: lock.acquire(timeout=3) and state == ["half", "whole"]) == 0
    thread.join()


def test_thread_that_has_the_lock_may_fork(monkeypatch):
    monkeypatch.setattr("whorl.ir.forking._waited_for", [])
    lock = threading.RLock()
    wait_at_forks(lock)
    with lock:
        assert status_of_child(lambda: True) == 0
