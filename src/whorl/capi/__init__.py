"""Modules by the names that onnxruntime's have, for scripts that catch its exceptions."""

from whorl.capi import onnxruntime_pybind11_state as onnxruntime_pybind11_state
