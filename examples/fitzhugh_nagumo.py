"""An excitable cell as an MDF model: simulated, continued, for many currents at once, swept, and written as ONNX.

Run it with `.venv/bin/python examples/fitzhugh_nagumo.py`.
"""

# %% The model: two equations in a file. Reading it compiles nothing; the first simulation does.
import tempfile
from pathlib import Path

import numpy as np

import whorl

FILE = Path(__file__).with_suffix(".json")
model = whorl.load(FILE)
print(model, model.explain())

# %% One run: an evaluation that sets the state, then 20,000 steps. Records are arrays with a row for each evaluation.
run = model.simulate(steps=20_000, dt=0.01, record=["FN.V", "FN.W"])
v = run["FN.V"]
spikes = np.flatnonzero((v[1:] > 1) & (v[:-1] <= 1))
print(f"{len(spikes)} spikes in {run.times[-1]:.0f} units of time, one every {np.diff(run.times[spikes]).mean():.1f}")

# %% Going on from where the run ended gives the same rows as one long run.
more = model.simulate(steps=5_000, dt=0.01, record=["FN.V"], state=run.state)
whole = model.simulate(steps=25_000, dt=0.01, record=["FN.V"])
assert np.array_equal(np.concatenate([v, more["FN.V"]]), whole["FN.V"])

# %% A batch: one native loop for 200 currents. Below and above the range that fires, the cell comes to rest.
currents = np.linspace(0.0, 2.0, 200)
batch = model.simulate(steps=40_000, dt=0.01, record=["FN.V"], batch={"FN.current": currents})
swing = np.ptp(batch["FN.V"][:, 20_000:], axis=1)
firing = currents[swing > 2]
print(f"it fires for currents from {firing[0]:.2f} to {firing[-1]:.2f}")
assert 0.3 < firing[0] < 0.35 and 1.4 < firing[-1] < 1.45

# %% A stimulus over time goes into the input port, a row for each evaluation.
pulse = np.where(np.arange(10_001) < 100, 2.0, 0.0)
resting = {"FN.V": -1.2, "FN.W": -0.6}
excited = model.simulate(10_000, 0.01, record=["FN.V"], inputs={"FN.current": pulse}, initial=resting)
print(f"a pulse takes V up to {excited['FN.V'].max():.2f}")

# %% A sweep: a table over a grid, here or on the workers of Dask or Ray, and resumable from its file.
table = whorl.sweep(
    FILE,
    {"FN.current": [0.2, 0.5, 1.0], "FN.tau": [10.0, 12.5]},
    steps=20_000,
    dt=0.01,
    measure=lambda actual: {"swing": float(np.ptp(actual["FN.V"][10_000:]))},
)
print(table)

# %% The same model for every ONNX runtime: the state is carried by a Loop.
with tempfile.TemporaryDirectory() as folder:
    whorl.save(model, Path(folder) / "fn.onnx")
    rows = whorl.run(Path(folder) / "fn.onnx", {"steps": np.array(1000), "dt": np.array(0.01)})
assert np.array_equal(rows["FN.V"], v[:1001])
