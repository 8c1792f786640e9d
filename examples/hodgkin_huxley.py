"""The squid axon as an MDF model with two nodes: a current goes in, spikes come out.

Run it with `.venv/bin/python examples/hodgkin_huxley.py`.
"""

# %% A stimulus and a cell, joined by an edge.
from pathlib import Path

import numpy as np

import whorl

model = whorl.load(Path(__file__).with_suffix(".json"))


def spike_times(actual):
    v = actual["cell.v"]
    return actual.times[1:][(v[1:] > 0) & (v[:-1] <= 0)]


# %% 60 ms at steps of 0.01 ms. The current flows from 10 to 40 ms.
run = model.simulate(steps=6_000, dt=0.01, record=["cell.v", "cell.m", "cell.h", "cell.n", "stimulus.i"])
spikes = spike_times(run)
print(f"spikes at {', '.join(f'{t:.1f}' for t in spikes)} ms")
assert len(spikes) == 2 and spikes[0] > 10 and run["cell.v"].max() > 30

# %% More current, more spikes.
for amplitude in (2.0, 5.0, 10.0, 20.0):
    actual = model.simulate(6_000, 0.01, record=["cell.v"], initial={"stimulus.amplitude": amplitude})
    print(f"{amplitude:5.1f} uA/cm2: {len(spike_times(actual))} spikes")

# %% Without sodium channels there are none: a batch of 9 densities in one native loop.
densities = np.linspace(0, 160, 9)
batch = model.simulate(6_000, 0.01, record=["cell.v"], batch={"cell.gNa": densities})
peaks = batch["cell.v"].max(axis=1)
print("peaks in mV:", ", ".join(f"{peak:.0f}" for peak in peaks))
assert peaks[0] < 0 < peaks[-1]

# %% Plots and datasets, where matplotlib and xarray are installed:
# run.to_xarray(); `whorl run hodgkin_huxley.json --steps 6000 --dt 0.01 --record cell.v,stimulus.i --plot hh.png`
