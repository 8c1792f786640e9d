"""What kernels call of onnxruntime's C API, in Python: tensors are NumPy arrays, statuses are numbers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from whorl.codegen.custom_ops.interface import API_VERSION, MEMBERS, Slot
from whorl.codegen.custom_ops.operator import operator_modules
from whorl.codegen.custom_ops.registration import registration_module
from whorl.codegen.custom_ops.sharing import KERNEL_CELLS
from whorl.codegen.library.linker import link
from whorl.codegen.library.ports import Library
from whorl.codegen.target import host, linkable_code

P = ctypes.c_void_p
L = ctypes.c_int64


class FakeRuntime:
    """A table of functions for one call of a kernel over these inputs; `outputs` has what it allocated."""

    def __init__(self, inputs: Sequence[np.ndarray], dtypes: Sequence[type] = ()) -> None:
        self.inputs, self.dtypes = inputs, dtypes
        self.outputs: dict[int, np.ndarray] = {}
        self.texts: list[tuple[int, str]] = []
        self.fails_to_allocate = False
        self.domains: list[str] = []
        self.added: list[tuple[int, int]] = []
        self.infos = 0
        self.threads, self.forks, self.refuses_threads = 1, 0, False
        self.released: list[int] = []
        self.table = (P * 300)()
        self._functions: list[Any] = []
        for slot, arguments, function in self._listed():
            pointer = ctypes.CFUNCTYPE(P, *arguments)(function)
            self._functions.append(pointer)
            self.table[slot] = ctypes.cast(pointer, P).value

    def _listed(self) -> list[tuple[Slot, list[Any], Callable[..., int | None]]]:
        return [
            (Slot.CREATE_STATUS, [ctypes.c_int, ctypes.c_char_p], self._create_status),
            (Slot.GET_INPUT, [P, L, P], lambda context, n, out: _store(out, 1000 + n)),
            (Slot.GET_TENSOR_TYPE_AND_SHAPE, [P, P], self._get_info),
            (Slot.GET_DIMENSIONS_COUNT, [P, P], lambda info, out: _store(out, self._array(info).ndim)),
            (Slot.GET_DIMENSIONS, [P, P, L], lambda info, out, rank: _store(out, *self._array(info).shape)),
            (Slot.RELEASE_TENSOR_TYPE_AND_SHAPE, [P], self._release_info),
            (Slot.GET_TENSOR_MUTABLE_DATA, [P, P], lambda value, out: _store(out, self._array(value).ctypes.data)),
            (Slot.GET_OUTPUT, [P, L, P, L, P], self._get_output),
            (Slot.PARALLEL_FOR, [P, P, L, L, P], self._parallel_for),
            (Slot.RELEASE_STATUS, [P], self.released.append),
            (Slot.CREATE_CUSTOM_OP_DOMAIN, [ctypes.c_char_p, P], self._create_domain),
            (Slot.CUSTOM_OP_DOMAIN_ADD, [P, P], lambda domain, op: self.added.append((domain, op))),
            (Slot.ADD_CUSTOM_OP_DOMAIN, [P, P], lambda options, domain: self.added.append((options, domain))),
        ]

    def allocate(self, array: np.ndarray) -> np.ndarray:
        """Memory with the contents of an array."""
        return array

    @property
    def address(self) -> int:
        return ctypes.addressof(self.table)

    def _array(self, value: int) -> np.ndarray:
        return self.outputs[value - 2000] if value >= 2000 else self.inputs[value - 1000]

    def _get_info(self, value: int, out: int) -> None:
        self.infos += 1
        _store(out, value)

    def _release_info(self, info: int) -> None:
        self.infos -= 1

    def _get_output(self, context: int, number: int, dims: int, rank: int, out: int) -> int | None:
        if self.fails_to_allocate:
            return 77
        shape = (ctypes.c_int64 * rank).from_address(dims) if rank else ()
        self.outputs[number] = self.allocate(np.zeros(tuple(shape), self.dtypes[number]))
        _store(out, 2000 + number)
        return None

    def _parallel_for(self, context: int, function: int, total: int, batches: int, data: int) -> int | None:
        if self.refuses_threads:
            return 88
        self.forks += 1
        seat = ctypes.CFUNCTYPE(None, P, L)(function)
        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(lambda n: seat(data, n), range(total)))
        return None

    def _create_status(self, code: int, text: bytes) -> int:
        self.texts.append((code, text.decode()))
        return len(self.texts)

    def _create_domain(self, name: bytes, out: int) -> None:
        self.domains.append(name.decode())
        _store(out, 5000)


def _store(out: int, *numbers: int) -> None:
    for position, number in enumerate(numbers):
        ctypes.c_int64.from_address(out + 8 * position).value = number


class LoadedOps:
    """A library with the op of programs of one region, loaded."""

    def __init__(self, programs: Sequence[Library], title: str, folder: Path) -> None:
        library = programs[0]
        modules = [*operator_modules(programs, title, host()), registration_module([library.name], host())]
        objects: list[Path] = []
        for number, module in enumerate(modules):
            objects.append(folder / f"{library.name}{number}.o")
            objects[-1].write_bytes(linkable_code(str(module), host())[0])
        link(objects, folder / f"{library.name}.so")
        self._library = ctypes.CDLL(str(folder / f"{library.name}.so"))

    def register(self, runtime: FakeRuntime, options: int = 8, newest: int = API_VERSION) -> int | None:
        """The status of a registration with a runtime whose newest version of the API is this one."""
        get_api = ctypes.CFUNCTYPE(P, ctypes.c_uint32)(lambda n: runtime.address if n <= newest else None)
        base = (P * 2)(ctypes.cast(get_api, P).value, None)
        function = self._library.RegisterCustomOps
        function.argtypes, function.restype = [P, P], P
        return function(options, ctypes.addressof(base))

    def table(self) -> Any:
        """The table of the op."""
        runtime = FakeRuntime([])
        assert self.register(runtime) is None
        return (P * (1 + len(MEMBERS))).from_address(runtime.added[0][1])

    def kernel(self) -> Callable[[FakeRuntime], int | None]:
        """The function that computes."""
        compute = ctypes.CFUNCTYPE(P, P, P)(self.table()[1 + MEMBERS.index("KernelComputeV2")])

        def run(runtime: FakeRuntime) -> int | None:
            kernel = (P * KERNEL_CELLS)(runtime.address)
            return compute(ctypes.addressof(kernel), None)

        return run
