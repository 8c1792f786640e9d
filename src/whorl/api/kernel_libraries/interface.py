"""onnxruntime's C API as far as libraries call it: slots of its table, their parameters, the table of an op."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_float, c_int, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any

SLOTS = 512
"""The length of the table; what is not below gives a status that says so."""
VERSION = ctypes.create_string_buffer(b"1.23.0")
"""The version that libraries are told."""

Address = c_void_p
_sizes, _integers, _addresses, _texts = POINTER(c_size_t), POINTER(c_int64), POINTER(c_void_p), POINTER(c_char_p)
_number = POINTER(c_int)

FUNCTIONS: dict[int, tuple[str, tuple[Any, ...]]] = {
    26: ("create_domain", (c_char_p, _addresses)),
    27: ("add_op", (Address, Address)),
    28: ("add_domain", (Address, Address)),
    48: ("create_tensor", (Address, _integers, c_size_t, c_int, _addresses)),
    49: ("create_tensor_over", (Address, Address, c_size_t, _integers, c_size_t, c_int, _addresses)),
    50: ("is_tensor", (Address, _number)),
    51: ("data", (Address, _addresses)),
    52: ("fill_texts", (Address, _texts, c_size_t)),
    53: ("length_of_texts", (Address, _sizes)),
    54: ("copy_texts", (Address, Address, c_size_t, _sizes, c_size_t)),
    55: ("tensor_type", (Address, _addresses)),
    56: ("kind_of_type", (Address, _number)),
    57: ("create_type", (_addresses,)),
    58: ("set_element_type", (Address, c_int)),
    59: ("set_lengths", (Address, _integers, c_size_t)),
    60: ("element_type", (Address, _number)),
    61: ("rank", (Address, _sizes)),
    62: ("lengths", (Address, _integers, c_size_t)),
    63: ("names_of_lengths", (Address, _texts, c_size_t)),
    64: ("element_count", (Address, _sizes)),
    65: ("type_of_tensor", (Address, _addresses)),
    66: ("type_of_tensor", (Address, _addresses)),
    67: ("kind_of_value", (Address, _number)),
    68: ("create_memory", (c_char_p, c_int, c_int, c_int, _addresses)),
    69: ("create_cpu_memory", (c_int, c_int, _addresses)),
    70: ("compare_memory", (Address, Address, _number)),
    71: ("name_of_memory", (Address, _texts)),
    72: ("zero", (Address, _number)),
    73: ("zero", (Address, _number)),
    74: ("zero", (Address, _number)),
    75: ("allocate", (Address, c_size_t, _addresses)),
    76: ("free", (Address, Address)),
    77: ("memory_of_allocator", (Address, _addresses)),
    78: ("default_allocator", (_addresses,)),
    85: ("float_attribute", (Address, c_char_p, POINTER(c_float))),
    86: ("integer_attribute", (Address, c_char_p, _integers)),
    87: ("text_attribute", (Address, c_char_p, Address, _sizes)),
    88: ("input_count", (Address, _sizes)),
    89: ("output_count", (Address, _sizes)),
    90: ("input", (Address, c_size_t, _addresses)),
    91: ("output", (Address, c_size_t, _integers, c_size_t, _addresses)),
    127: ("length_of_text", (Address, c_size_t, _sizes)),
    128: ("copy_text", (Address, c_size_t, c_size_t, Address)),
    129: ("fill_text", (Address, c_char_p, c_size_t)),
    130: ("ignore_setting", (Address, c_char_p, c_char_p)),
    162: ("float_attributes", (Address, c_char_p, POINTER(c_float), _sizes)),
    163: ("integer_attributes", (Address, c_char_p, _integers, _sizes)),
    192: ("has_value", (Address, _number)),
    194: ("memory_of_tensor", (Address, _addresses)),
    217: ("copy_description", (Address, _addresses)),
    230: ("input_count_of_node", (Address, _sizes)),
    231: ("output_count_of_node", (Address, _sizes)),
    232: ("name_of_input", (Address, c_size_t, Address, _sizes)),
    233: ("name_of_output", (Address, c_size_t, Address, _sizes)),
    234: ("type_of_input", (Address, c_size_t, _addresses)),
    235: ("type_of_output", (Address, c_size_t, _addresses)),
    236: ("tensor_attribute", (Address, c_char_p, Address, _addresses)),
    244: ("name_of_node", (Address, Address, _sizes)),
    245: ("logger", (Address, _addresses)),
    246: ("logger", (Address, _addresses)),
    247: ("log", (Address, c_int, c_char_p, Address, c_int, c_char_p)),
    248: ("severity", (Address, _number)),
    249: ("constant_input", (Address, c_size_t, _number, _addresses)),
    252: ("text_buffer", (Address, c_size_t, c_size_t, _addresses)),
    253: ("allocator_of_call", (Address, Address, _addresses)),
    267: ("input_count", (Address, _sizes)),
    268: ("type_of_fact", (Address, c_size_t, _addresses)),
    269: ("attribute_of_node", (Address, c_char_p, _addresses)),
    270: ("set_type_of_result", (Address, c_size_t, Address)),
    271: ("set_names_of_lengths", (Address, _texts, c_size_t)),
    272: ("read_attribute", (Address, c_int, Address, c_size_t, _sizes)),
    274: ("run_parts", (Address, Address, c_size_t, c_size_t, Address)),
    277: ("scratch", (Address, Address, c_size_t, _addresses)),
    278: ("allocator_of_node", (Address, c_int, _addresses)),
}
"""Functions that give a status, null for success: the slot, our name of it, its parameters."""
RELEASES = (93, 94, 96, 98, 99, 101, 218)
"""Slots of functions that release a handle."""
CODE_OF_STATUS, TEXT_OF_STATUS, RELEASE_ALLOCATOR, TRAINING, DEVICE, BUILD = 1, 2, 132, 219, 225, 254
"""Slots of functions that give no status."""

PART = ctypes.CFUNCTYPE(None, c_void_p, c_size_t)
"""What `run_parts` calls: the caller's data, and the number of a part."""
_count = ctypes.CFUNCTYPE(c_size_t, c_void_p)
_choice = ctypes.CFUNCTYPE(c_int, c_void_p, c_size_t)
_whole = ctypes.CFUNCTYPE(c_int, c_void_p)
_text = ctypes.CFUNCTYPE(c_char_p, c_void_p)


class Table(ctypes.Structure):
    """`OrtCustomOp`: what a library says of an op. Members past its version are not there to be read."""

    _fields_ = (
        ("version", c_uint32),
        ("create", ctypes.CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p)),
        ("name", _text),
        ("provider", _text),
        ("input_type", _choice),
        ("input_count", _count),
        ("output_type", _choice),
        ("output_count", _count),
        ("compute", ctypes.CFUNCTYPE(None, c_void_p, c_void_p)),
        ("destroy", ctypes.CFUNCTYPE(None, c_void_p)),
        ("input_kind", _choice),
        ("output_kind", _choice),
        ("memory", _choice),
        ("least_inputs", _whole),
        ("inputs_are_alike", _whole),
        ("least_outputs", _whole),
        ("outputs_are_alike", _whole),
        ("create_with_status", ctypes.CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)),
        ("compute_with_status", ctypes.CFUNCTYPE(c_void_p, c_void_p, c_void_p)),
        ("infer", ctypes.CFUNCTYPE(c_void_p, c_void_p, c_void_p)),
        ("first_version", _whole),
        ("last_version", _whole),
    )


SINCE = {"memory": 13, "least_inputs": 14, "inputs_are_alike": 14, "least_outputs": 14, "outputs_are_alike": 14} | {
    "create_with_status": 16, "compute_with_status": 16, "infer": 17, "first_version": 17, "last_version": 17,
}  # fmt: skip
"""The versions of an op's table from which on it has a member; the others are in all that a library can have."""


class Api(ctypes.Structure):
    """`OrtApi`."""

    _fields_ = (("functions", c_void_p * SLOTS),)


GET_API, GET_VERSION = ctypes.CFUNCTYPE(c_void_p, c_uint32), ctypes.CFUNCTYPE(c_void_p)
ALLOCATE = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_size_t)
FREE = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
INFO = ctypes.CFUNCTYPE(c_void_p, c_void_p)


class Base(ctypes.Structure):
    """`OrtApiBase`."""

    _fields_ = (("api", GET_API), ("version", GET_VERSION))


class Allocator(ctypes.Structure):
    """`OrtAllocator`."""

    _fields_ = (
        ("version", c_uint32),
        ("allocate", ALLOCATE),
        ("free", FREE),
        ("info", INFO),
        ("reserve", ALLOCATE),
        ("statistics", c_void_p),
        ("allocate_on_stream", c_void_p),
    )
