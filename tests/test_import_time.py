"""What `import whorl` costs: CPU time over numpy's own import, and which packages it must not load."""

import subprocess
import sys

BUDGET_MS = 150
NOT_LOADED = {"llvmlite", "onnx_ir", "scipy", "onnxruntime", "openvino", "lark", "tqdm"}

MEASURE = """
import time, numpy
start = time.process_time()
import whorl
print(1000 * (time.process_time() - start))
"""

LIST_LOADED = """
import sys, whorl
print(*{name.partition(".")[0] for name in sys.modules})
"""


def output_of(program: str) -> str:
    """What a new interpreter prints."""
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def test_import_whorl_stays_in_cpu_budget() -> None:
    cost = min(float(output_of(MEASURE)) for _ in range(5))
    assert cost <= BUDGET_MS, f"import whorl costs {cost:.0f} ms of CPU over numpy, the budget is {BUDGET_MS} ms"


def test_import_whorl_loads_no_slow_package() -> None:
    assert NOT_LOADED.isdisjoint(output_of(LIST_LOADED).split())
