"""silero-vad's files, which find speech chunk by chunk, give what its TorchScript file gives over a stream."""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import whorl
from exports.harness import compare, require_all

require_all()

import silero_vad  # noqa: E402
import torch  # noqa: E402

pytestmark = pytest.mark.slow
FILES = Path(silero_vad.__file__).parent / "data"
CHUNKS = 100
SAMPLES = {8000: 256, 16000: 512}
CONTEXT = {8000: 32, 16000: 64}
"""How many samples of the chunk before go first."""
AMPLIFICATION = 64
"""The network's state carries rounding from chunk to chunk."""


def speak(rate: int, batch: int) -> np.ndarray:
    """Chunks of something like speech: harmonics of a gliding pitch that come and go, and noise."""
    rng = np.random.default_rng(rate + batch)
    time = np.arange(CHUNKS * SAMPLES[rate]) / rate
    pitch = 2 * np.pi * np.cumsum(120 + 40 * np.sin(3 * time)) / rate
    voice = sum(np.sin(k * pitch) / k for k in range(1, 12)) * (np.sin(2 * np.pi * time) > -0.3)
    loudness = np.linspace(0.1, 0.4, batch)[:, None]
    samples = loudness * voice + 0.01 * rng.standard_normal((batch, len(time)))
    return samples.astype(np.float32).reshape(batch, CHUNKS, -1).swapaxes(0, 1)


def stream(session: Any, chunks: np.ndarray, rate: int) -> list[np.ndarray]:
    """What the session says of each chunk, with state and context handed on as silero_vad's own wrapper does."""
    batch = chunks.shape[1]
    state, context = np.zeros((2, batch, 128), np.float32), np.zeros((batch, CONTEXT[rate]), np.float32)
    names = [argument.name for argument in session.get_inputs()]
    message = []
    for chunk in chunks:
        x = np.concatenate([context, chunk], axis=1)
        feeds = dict(zip(("input", "state", "sr"), (x, state, np.array(rate)), strict=True))
        speech, state = session.run(None, {name: feeds[name] for name in names})
        context = x[:, -CONTEXT[rate] :]
        message.append(speech)
    return message


def hear(chunks: np.ndarray, rate: int) -> list[np.ndarray]:
    model = silero_vad.load_silero_vad()
    with torch.no_grad():
        return [model(torch.from_numpy(chunk.copy()), rate).numpy() for chunk in chunks]


@pytest.mark.parametrize("rate", SAMPLES)
def test_stream_of_a_hundred_chunks(rate):
    session = whorl.InferenceSession(FILES / "silero_vad.onnx")
    for batch in (1, 3, 1):
        chunks = speak(rate, batch)
        expected = hear(chunks, rate)
        assert np.ptp(expected) > 0.1
        compare(expected, stream(session, chunks, rate), AMPLIFICATION, f"{rate} Hz, batch of {batch}")


def test_stream_of_both_rates_in_one_session():
    session = whorl.InferenceSession(FILES / "silero_vad.onnx")
    for rate in (16000, 8000, 16000, 8000):
        chunks = speak(rate, 1)[:20]
        compare(hear(chunks, rate), stream(session, chunks, rate), AMPLIFICATION, f"{rate} Hz")


@pytest.mark.parametrize("file", ["16k_op15", "op18_ifless", "openvino_16k"])
def test_stream_of_another_file(file):
    chunks = speak(16000, 1)
    message = stream(whorl.InferenceSession(FILES / f"silero_vad_{file}.onnx"), chunks, 16000)
    compare(hear(chunks, 16000), message, AMPLIFICATION, file)


def test_stream_of_the_half_file_which_is_another_network():
    path, chunks = FILES / "silero_vad_half.onnx", speak(16000, 1)
    expected = stream(onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]), chunks, 16000)
    compare(expected, stream(whorl.InferenceSession(path), chunks, 16000), AMPLIFICATION, "half")
