"""Hook of mkdocs: a page for each of four models, made from runs of them while the site is built."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

import whorl
from whorl.api.models import Source
from whorl.cli.verbs.show import render

EXAMPLES = Path(__file__).parents[2] / "examples"
RATE = 16000
"""Samples a second."""
CHUNK, CONTEXT = 512, 64
"""Samples that a step of silero-vad takes, and those before them that it sees again."""


class Entry(Struct, frozen=True):
    """What a page shows: a model, what it is run on, and which values of its loops are drawn."""

    title: str
    text: str
    model: Source
    feeds: Mapping[str, Any]
    drawn: Sequence[str]
    result: str
    more: str = ""


def decoder() -> Entry:
    path = EXAMPLES / "torchscript_decoder.onnx"
    feeds = {"state": np.zeros(16, np.float32), "longest": np.array(40)}
    text = whorl.run(path, feeds)["text"]
    return Entry(
        "A decoder of TorchScript",
        "A `while` of Python, scripted and exported by torch: a gated recurrent cell chooses letter after letter until "
        "it chooses the full stop. The text is a carried value that grows, the exporter's `If` decides whether to go "
        "on. [The program](../../examples/torchscript_decoder.py) makes the file. The weights are random, and so is "
        "what it writes.",
        path,
        feeds,
        ["/Loop//scores/Add_output_0", "/Loop/state.15", "/Loop/text.9"],
        "It wrote `" + "".join(".abcdefghijklmnopqrstuvwxyz"[letter] for letter in text) + "`.",
    )


def neighbours() -> Entry:
    from skl2onnx import to_onnx
    from sklearn.datasets import load_digits
    from sklearn.neighbors import KNeighborsClassifier

    images, labels = load_digits(return_X_y=True)
    classifier = KNeighborsClassifier(n_neighbors=3).fit(images[:200], labels[:200])
    model = to_onnx(classifier, images[:1].astype(np.float32), options={"zipmap": False})
    feeds = {"X": images[200:204].astype(np.float32)}
    label = whorl.run(model, feeds)["label"]
    return Entry(
        "Nearest neighbours of scikit-learn",
        "skl2onnx writes the distances of a `KNeighborsClassifier` as a `Scan` over the images that it remembers: 200 "
        "iterations here, each of which compares one of them with four new images of digits.",
        model,
        feeds,
        ["scan_out"],
        f"The three nearest vote for {', '.join(map(str, label))}; the images are of "
        f"{', '.join(map(str, labels[200:204]))}. A line of the picture is a new image, a low point an image like it.",
        "Four new images are four rows, and no iteration needs another: `whorl deloop` makes all distances "
        "[one product of matrices](../deloop.md).",
    )


def neuron() -> Entry:
    module = whorl.load(EXAMPLES / "fitzhugh_nagumo.json").module()
    feeds = {"steps": np.array(1000), "dt": np.array(0.1)}
    potential = whorl.run(module, feeds)["FN.V"]
    spikes = np.flatnonzero((potential[1:] > 1) & (potential[:-1] <= 1))
    return Entry(
        "A neuron of MDF",
        "The FitzHugh-Nagumo model of an excitable cell, two differential equations in "
        "[a file of ModECI MDF](../../examples/fitzhugh_nagumo.json). whorl makes it one loop over the steps of time, "
        "which carries the potential and the recovery, and can be [written as ONNX](../mdf.md).",
        module,
        feeds,
        ["time/FN.V", "time/FN.W"],
        f"In 100 units of time it fires {len(spikes)} times.",
    )


def voice() -> Entry:
    """silero-vad over two seconds of something like speech."""
    package = importlib.util.find_spec("silero_vad")
    assert package is not None and package.origin is not None
    file = Path(package.origin).parent / "data" / "silero_vad.onnx"
    lengths = {"input.0": 1, "input.1": CONTEXT + CHUNK, "state.1": 1}
    step = whorl.deloop(file, inputs={"sr": RATE}, dims=lengths)
    model = whorl.to_loop(step, carry={"state": "stateN"}, scan=["input"], collect=["output"])
    sound = vowels()
    count = (len(sound) - CONTEXT) // CHUNK
    pieces = np.stack([sound[k * CHUNK : k * CHUNK + CHUNK + CONTEXT] for k in range(count)])
    feeds = {"input": pieces[:, None].astype(np.float32), "state": np.zeros((2, 1, 128), np.float32)}
    spoken = whorl.run(model, feeds)["output"].ravel() > 0.5
    return Entry(
        "silero-vad over a recording",
        "[silero-vad](https://github.com/snakers4/silero-vad) says of 32 milliseconds of sound whether somebody speaks "
        "in it. The file is a model of one step with branches for two rates of sampling; `whorl deloop --input "
        "sr=16000` takes them out, and `whorl to-loop` puts a loop around what is left, so that one run hears the "
        "whole recording.",
        model,
        feeds,
        ["state"],
        f"Of {count} pieces it calls {int(spoken.sum())} speech. The picture is the state of its recurrent cell, of "
        "which each column is a piece.",
    )


def vowels() -> np.ndarray:
    """Four vowels between silences: harmonics of a voice, those near the resonances of a mouth the loudest."""
    mouths = {
        "a": ((700, 150), (1200, 200), (2600, 300)),
        "i": ((300, 100), (2300, 250), (3000, 300)),
        "o": ((500, 120), (900, 150), (2500, 300)),
    }
    parts = [np.zeros(RATE // 2)]
    for vowel, pitch in (("a", 120), ("i", 130), ("o", 110), ("a", 125)):
        time = np.arange(RATE // 4) / RATE
        phase = np.cumsum(pitch * (1 + 0.05 * np.sin(6 * np.pi * time))) / RATE
        sound = np.zeros(len(time))
        for k in range(1, 40):
            loudness = sum(np.exp(-(((k * pitch - centre) / width) ** 2)) for centre, width in mouths[vowel]) + 0.02
            sound += loudness * np.sin(2 * np.pi * k * phase) / np.sqrt(k)
        parts += [0.4 * sound / np.abs(sound).max() * np.hanning(len(time)) ** 0.3, np.zeros(RATE // 25)]
    parts.append(np.zeros(RATE // 2))
    sound = np.concatenate(parts)
    return sound + np.random.default_rng(0).normal(0, 0.003, len(sound))


ENTRIES: Mapping[str, Callable[[], Entry]] = {
    "silero-vad": voice,
    "nearest-neighbours": neighbours,
    "torchscript-decoder": decoder,
    "neuron": neuron,
}
NEEDS = {"silero-vad": "silero_vad", "nearest-neighbours": "skl2onnx"}
"""The packages that bring models, or write them."""


FRAME = 'style="width: 100%; height: 40rem; border: 0"'


def made() -> Iterator[str]:
    """The entries whose packages are installed."""
    return (name for name in ENTRIES if name not in NEEDS or importlib.util.find_spec(NEEDS[name]))


def page(name: str, entry: Entry, trace: whorl.ValueTrace) -> str:
    """What is in the model, what happened in it, and the explorer."""
    structure = render(whorl.describe(entry.model)).partition("\n\n")[2].rpartition("\n\n")[0]
    happened = "\n".join(line for line in trace.lines() if not line.startswith("value"))
    return f"""---
hide: [toc]
---

# {entry.title}

{entry.text}

{entry.result}

![{", ".join(entry.drawn)} by iteration]({name}.svg)

{entry.more}

## Explorer

The tree of loops, each body as a graph, and every value by iteration: [open it alone]({name}.explorer.html).

<iframe src="{name}.explorer.html" title="{entry.title}" loading="lazy" {FRAME}></iframe>

## Structure

```text
{structure}
```

What its loops and branches did:

```text
{happened}
```
"""


def index(names: Sequence[str], entries: Mapping[str, Entry]) -> str:
    """The page that lists the others."""
    rows = [f"| [{entries[name].title}]({name}.md) | {entries[name].result} |" for name in names]
    missing = [f"{NEEDS[name]} is not installed here: no page of {name}." for name in ENTRIES if name not in names]
    head = ["# Gallery", "", "Models with loops, run while this site was built.", "", "| model | result |", "|---|---|"]
    return "\n".join([*head, *rows, "", *missing, ""])


def on_files(files: Any, config: Any) -> None:
    """Run the models and add their pages, pictures and explorers."""
    from mkdocs.structure.files import File

    names = list(made())
    entries = {name: ENTRIES[name]() for name in names}
    files.append(File.generated(config, "gallery/index.md", content=index(names, entries)))
    for name, entry in entries.items():
        trace = whorl.trace(entry.model, entry.feeds)
        picture = io.StringIO()
        trace.plot(*entry.drawn).savefig(picture, format="svg", metadata={"Date": None})
        explorer = whorl.explore(entry.model, trace=trace, title=entry.title)
        files.append(File.generated(config, f"gallery/{name}.explorer.html", content=explorer.html))
        files.append(File.generated(config, f"gallery/{name}.md", content=page(name, entry, trace)))
        files.append(File.generated(config, f"gallery/{name}.svg", content=picture.getvalue()))


def on_config(config: Any) -> None:
    """Add the gallery to the navigation, after the how-tos."""
    pages = ["gallery/index.md", *(f"gallery/{name}.md" for name in made())]
    config.nav.insert(2, {"Gallery": pages})
