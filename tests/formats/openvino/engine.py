"""OpenVINO's CPU plugin in a process of its own, since some programs make it crash.

Run as a script, this is that process.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np

Outcome = list[np.ndarray] | str
"""The outputs of a run, or why there are none."""
HINTS = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}


class Engine:
    """Runs IR programs. One that crashes the process counts as refused, and the next one gets a new process.

    With one thread, OpenVINO drops errors of slices and shapes that only a run knows, and gives memory as it was.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, xml: bytes, weights: bytes, runs: list[list[np.ndarray]]) -> list[Outcome] | str:
        """The outcome of each run, or why there is none of any."""
        if self.process is None:
            command = [sys.executable, __file__, str(self.threads)]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process = self.process
        assert process.stdin is not None and process.stdout is not None
        try:
            pickle.dump((xml, weights, runs), process.stdin)
            process.stdin.flush()
            return pickle.load(process.stdout)
        except (EOFError, BrokenPipeError):
            self.close()
            return f"crashed with {process.returncode}"

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None and not stream.closed:
                    stream.close()
            self.process.wait()
        self.process = None


def answer(
    core: Any, ov: Any, threads: int, xml: bytes, weights: bytes, runs: list[list[np.ndarray]]
) -> list[Outcome] | str:
    try:
        model = core.read_model(xml, ov.Tensor(np.frombuffer(weights or b"\0", np.uint8)))
        ready = core.compile_model(model, "CPU", HINTS | {"INFERENCE_NUM_THREADS": threads})
    except RuntimeError as error:
        return str(error)
    outcomes: list[Outcome] = []
    for feeds in runs:
        request = ready.create_infer_request()
        try:
            for k, x in enumerate(feeds):
                request.set_input_tensor(k, ov.Tensor(np.array(x, order="C")))
            request.infer()
            outcomes.append([request.get_output_tensor(k).data.copy() for k in range(len(ready.outputs))])
        except RuntimeError as error:
            outcomes.append(str(error))
    return outcomes


def serve() -> None:
    """Answer programs until there are no more. What OpenVINO prints goes where errors go."""
    modules: dict[str, Any] = sys.modules
    modules["openvino_telemetry"] = None  # its usage reports fork the process, and the fork can hang
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import openvino as ov

    core, threads = ov.Core(), int(sys.argv[1])
    while True:
        try:
            program = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(answer(core, ov, threads, *program), replies)
        replies.flush()


if __name__ == "__main__":
    serve()
