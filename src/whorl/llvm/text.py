"""Texts and bytes as constants of LLVM IR."""

from __future__ import annotations

import numpy as np

from whorl.llvm.module import Module

_HEX = np.array([list(f"\\{byte:02X}".encode()) for byte in range(256)], np.uint8)


def bytes_text(data: bytes) -> str:
    """Bytes as a string of LLVM's."""
    return f'c"{_HEX[np.frombuffer(data, np.uint8)].tobytes().decode()}"'


def add_string(module: Module, name: str, text: str) -> str:
    """Add a text that ends in a zero byte; returns the name."""
    data = text.encode() + b"\0"
    return module.add_text(name, f"{name} = private unnamed_addr constant [{len(data)} x i8] {bytes_text(data)}")
