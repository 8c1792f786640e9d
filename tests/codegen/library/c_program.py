"""A C program that includes the header of a library, is linked with it, and runs it."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compilers import C

import whorl

SOURCE = Path(__file__).with_name("run_library.c")


class CProgram:
    """A model compiled to a library in a folder, and the program that runs it."""

    def __init__(self, model: Any, folder: Path) -> None:
        if not C:
            pytest.skip("there is no C compiler, nor ziglang")
        self.folder, library = folder, folder / "libmodel.so"
        whorl.compile(model, library, folder / "model.h", name="model")
        self.library = whorl.load_compiled(library)
        warnings = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
        command = [
            *C,
            *warnings,
            f"-I{folder}",
            SOURCE,
            library,
            f"-Wl,-rpath,{folder}",
            "-lm",
            "-o",
            folder / "program",
        ]
        subprocess.run(command, check=True)

    def run(self, feeds: Sequence[Mapping[str, Any]]) -> list[list[np.ndarray] | str]:
        """The outputs of some runs in one process, or what the library says of a failure."""
        requests, results = self.folder / "requests", self.folder / "results"
        requests.write_bytes(b"".join([np.int64(len(feeds)).tobytes(), *map(self._request, feeds)]))
        done = subprocess.run([self.folder / "program", requests, results], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        file, messages = io.BytesIO(results.read_bytes()), iter(done.stderr.splitlines())
        read: list[list[np.ndarray] | str] = []
        for _ in feeds:
            (status,) = _numbers(file, 1)
            read.append(next(messages) if status else [self._output(file, each) for each in self.library.get_outputs()])
        assert not file.read() and not [*messages]
        return read

    def _request(self, feeds: Mapping[str, Any]) -> bytes:
        parts: list[bytes] = []
        for described in self.library.get_inputs():
            x = np.asarray(feeds[described.name])
            parts += np.array([x.ndim, *x.shape], np.int64).tobytes(), x.tobytes()
        return b"".join(parts)

    def _output(self, file: io.BytesIO, described: Any) -> np.ndarray:
        shape, dtype = _numbers(file, len(described.shape)), _DTYPES[described.type]
        data = file.read(int(np.prod(shape)) * dtype.itemsize)
        return np.frombuffer(data, dtype).reshape(shape)


_DTYPES = {
    "tensor(float)": np.dtype(np.float32),
    "tensor(double)": np.dtype(np.float64),
    "tensor(int64)": np.dtype(np.int64),
    "tensor(int32)": np.dtype(np.int32),
    "tensor(bool)": np.dtype(np.bool_),
}


def _numbers(file: io.BytesIO, count: int) -> list[int]:
    return np.frombuffer(file.read(8 * count), np.int64).tolist()
