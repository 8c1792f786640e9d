"""Properties that are computed once: no thread waits for another one, no child for a thread that it lacks."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from whorl.ir.cached_property import cached_property


class Watched:
    """A property that, with a barrier, is computed only while another thread computes one too."""

    def __init__(self, barrier: threading.Barrier | None = None) -> None:
        self.barrier, self.computed = barrier, 0

    @cached_property
    def value(self) -> object:
        """What is computed."""
        self.computed += 1
        if self.barrier is not None:
            self.barrier.wait(10)
        return object()


def test_property_is_computed_when_it_is_first_read():
    watched = Watched()
    assert watched.computed == 0
    assert watched.value is watched.value
    assert watched.computed == 1
    assert Watched.value.__doc__ == "What is computed."


def test_threads_compute_one_property_of_two_objects_at_once():
    barrier = threading.Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda watched: watched.value, [Watched(barrier), Watched(barrier)])
    assert one is not other


def test_two_threads_that_compute_the_same_property_get_one_result():
    watched = Watched(threading.Barrier(2))
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: watched.value, range(2))
    assert watched.computed == 2
    assert one is other is watched.value


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_child_of_a_fork_computes_what_another_thread_was_computing():
    barrier = threading.Barrier(2)
    busy = Watched(barrier)
    thread = threading.Thread(target=lambda: busy.value)
    thread.start()
    while not busy.computed:
        pass
    child = os.fork()
    if not child:
        threading.Timer(5, lambda: os._exit(9)).start()
        os._exit(0 if Watched().value else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    barrier.wait(10)
    thread.join()
    assert status == 0
