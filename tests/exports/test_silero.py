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


STEP = {"silero_vad": 192, "silero_vad_16k_op15": 192, "silero_vad_half": 192}
"""The files with branches that the length of a chunk decides, and the shortest that takes the first ones."""


def deloop(file: str, **options: Any) -> whorl.Module:
    module = whorl.load(FILES / f"{file}.onnx")
    inputs = {"sr": np.array(16000)} if any(value.name == "sr" for value in module.main.arguments) else {}
    return whorl.deloop(module, inputs=inputs, **options)


@pytest.mark.parametrize("file", STEP)
def test_rate_alone_says_which_length_to_bind(file):
    name = "input.1" if file == "silero_vad" else "sequence"
    with pytest.raises(whorl.DeloopError) as caught:
        deloop(file)
    assert f"then_branch is for {STEP[file]} <= {name} <= 703" in caught.value.message
    assert caught.value.fix == f"try --dim {name}={STEP[file]}, in Python dims={{'{name}': {STEP[file]}}}"


@pytest.mark.parametrize("file", [*STEP, "silero_vad_op18_ifless", "silero_vad_openvino_16k"])
def test_bound_file_has_no_branches_and_one_scan_gives_what_the_chunks_give(tmp_path, file):
    openvino = pytest.importorskip("openvino")
    name = {"silero_vad": "input.1", "silero_vad_openvino_16k": ""}.get(file, "sequence")
    batch = {"silero_vad": {"input.0": 1, "state.1": 1}, "silero_vad_openvino_16k": {}}.get(file, {"batch": 1})
    dims = ({name: 576} if name else {}) | batch
    bound = deloop(file, dims=dims)
    assert not any(node.regions for node in bound.nodes())
    whorl.save(bound, tmp_path / "bound.onnx")
    flat = onnxruntime.InferenceSession(tmp_path / "bound.onnx", providers=["CPUExecutionProvider"])
    chunks = speak(16000, 1)
    message = stream(flat, chunks, 16000)
    original = onnxruntime.InferenceSession(FILES / f"{file}.onnx", providers=["CPUExecutionProvider"])
    assert all(map(np.array_equal, message, stream(original, chunks, 16000)))
    openvino.Core().compile_model(openvino.Core().read_model(tmp_path / "bound.onnx"), "CPU")
    loop = whorl.to_loop(bound, carry={"state": "stateN"}, scan=["input"], collect=["output"])
    assert [node.op.name for node in loop.main.nodes] == ["Loop"]
    whorl.save(loop, tmp_path / "loop.onnx")
    whole = onnxruntime.InferenceSession(tmp_path / "loop.onnx", providers=["CPUExecutionProvider"])
    state = np.zeros((2, 1, 128), np.float32)
    before = np.concatenate([np.zeros((1, 1, 64), np.float32), chunks[:-1, :, -64:]])
    (output, _) = whole.run(None, {"input": np.concatenate([before, chunks], axis=2), "state": state})
    assert np.array_equal(output, np.array(message))
