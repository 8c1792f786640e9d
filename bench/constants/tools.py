"""One tool optimises one model in this process, which then says what that took: `tools.py TOOL IN OUT`."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

SAMPLING = 0.005
"""Seconds between two looks at the memory."""
Work = Callable[[str, str], object]


def whorl_() -> Work:
    import whorl

    optimize, save = whorl.optimize, whorl.save
    return lambda source, target: save(optimize(source, memory_budget=512 << 20), target)


def onnxruntime_() -> Work:
    import onnxruntime as ort

    def work(source: str, target: str) -> None:
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = target
        options.log_severity_level = 3
        ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])

    return work


def onnxsim_() -> Work:
    import onnx
    import onnxsim

    def work(source: str, target: str) -> None:
        onnx.save(onnxsim.simplify(onnx.load(source))[0], target, **_beside(source))

    return work


def onnxslim_() -> Work:
    import onnx
    import onnxslim

    return lambda source, target: onnx.save(onnxslim.slim(source), target, **_beside(source))


def onnxscript_() -> Work:
    import onnx_ir
    import onnxscript.optimizer

    def work(source: str, target: str) -> None:
        model = onnx_ir.load(source)
        onnxscript.optimizer.optimize(model)
        data = {"external_data": "out.data"} if _beside(source) else {}
        onnx_ir.save(model, target, **data)

    return work


def _beside(source: str) -> dict:
    """How onnx writes the weights of a model that had them in a file of their own."""
    external = (Path(source).parent / "model.data").exists()
    return {"save_as_external_data": True, "location": "out.data"} if external else {}


TOOLS = {
    "whorl": whorl_,
    "onnxruntime": onnxruntime_,
    "onnxsim": onnxsim_,
    "onnxslim": onnxslim_,
    "onnxscript": onnxscript_,
}


def memory() -> dict[str, int]:
    """Bytes of this process by kind."""
    lines = (line.split() for line in Path("/proc/self/status").read_text().splitlines() if line.endswith("kB"))
    return {line[0].rstrip(":"): int(line[1]) << 10 for line in lines}


def main() -> None:
    work = TOOLS[sys.argv[1]]()
    before, anonymous, watching, done = memory(), [0], [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(SAMPLING):
            anonymous[0] = max(anonymous[0], memory()["RssAnon"])
        watching[0] = time.thread_time()

    Path("/proc/self/clear_refs").write_text("5")
    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.process_time()
    work(sys.argv[2], sys.argv[3])
    seconds = time.process_time() - start
    done.set()
    watcher.join()
    after = memory()
    print(
        json.dumps(
            {
                "seconds": seconds - watching[0],
                "peak": after["VmHWM"] - before["VmRSS"],
                "resident": after["VmHWM"],
                "anonymous": max(anonymous[0], after["RssAnon"]) - before["RssAnon"],
            }
        )
    )


if __name__ == "__main__":
    main()
