"""The table of addresses."""

import ctypes

from api.kernel_libraries.calling import c_int, c_uint32, c_void_p, function

from whorl.api.kernel_libraries.interface import FUNCTIONS, RELEASES, SLOTS
from whorl.api.kernel_libraries.objects import TensorFact, hold
from whorl.api.kernel_libraries.table import api, base


def test_every_slot_has_a_function():
    assert all(api().functions[slot] for slot in range(SLOTS))
    assert ctypes.string_at(base().version()) == b"1.23.0"
    assert base().api(17) == base().api(23) == ctypes.addressof(api())


def test_slots_without_a_status():
    handle = hold(TensorFact())
    for slot in RELEASES:
        function(slot, None, c_void_p)(handle)
        function(slot, None, c_void_p)(None)
    function(132, None, c_void_p)(None)
    assert function(219, c_void_p, c_uint32)(1) is None
    kind = c_int(5)
    function(225, None, c_void_p, ctypes.POINTER(c_int))(None, ctypes.byref(kind))
    assert kind.value == 0
    assert ctypes.string_at(function(254, c_void_p)())


def test_no_slot_is_listed_twice():
    assert not FUNCTIONS.keys() & set(RELEASES)
