"""Small decoders and encoders with random weights, in searches of onnxruntime's, run by onnxruntime and by whorl."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from formats.onnx.microsoft.contributed_peer import Array, plain_options
from onnx import GraphProto, TensorProto, helper, numpy_helper

import whorl

TOKENS, HEADS, PAD = 11, 2, 0
FLOAT, INT32 = TensorProto.FLOAT, TensorProto.INT32
info = helper.make_tensor_value_info


class Graph:
    """Nodes and weights of a graph, added one by one."""

    def __init__(self, weights: dict[str, Array]) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights = weights
        self.count = 0

    def __call__(self, op: str, *inputs: str, name: str = "", domain: str = "", **attributes: Any) -> str:
        self.count += 1
        name = name or f"v{self.count}"
        self.nodes.append(helper.make_node(op, inputs, name.split(), domain=domain, **attributes))
        return name.split()[0]

    def proto(self, name: str, inputs: list[Any], outputs: list[Any]) -> GraphProto:
        tensors = [numpy_helper.from_array(x, key) for key, x in self.weights.items()]
        return helper.make_graph(self.nodes, name, inputs, outputs, tensors)


def weights_of(rng: np.random.Generator, **shapes: tuple[int, ...]) -> dict[str, Array]:
    return {name: (0.7 * rng.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()}


# ---- decoders alone ------------------------------------------------------------------------------------------------


def gpt_decoder(rng: np.random.Generator, layers: int, size: int = 4) -> GraphProto:
    """A decoder of the inputs and outputs of GPT-2: embeddings, layers of attention, scores."""
    width = HEADS * size
    weights = weights_of(rng, words=(TOKENS, width), positions=(40, width), head=(width, TOKENS))
    for n in range(layers):
        weights |= weights_of(rng, **{f"w{n}": (width, 3 * width), f"b{n}": (3 * width,)})
    g = Graph(weights)
    x = g("Add", g("Gather", "words", "input_ids"), g("Gather", "positions", "position_ids"))
    for n in range(layers):
        y = g(
            "Attention",
            *(x, f"w{n}", f"b{n}", "attention_mask", f"past_{n}"),
            name=f"a{n} present_{n}",
            domain="com.microsoft",
            num_heads=HEADS,
            unidirectional=1,
        )
        x = g("Add", x, y)
    g("MatMul", x, "head", name="logits")
    inputs = [info(name, INT32, ["b", "s"]) for name in ("input_ids", "position_ids")]
    inputs.append(info("attention_mask", INT32, ["b", "t"]))
    inputs += [info(f"past_{n}", FLOAT, [2, "b", HEADS, "p", size]) for n in range(layers)]
    outputs = [info("logits", FLOAT, ["b", "s", TOKENS])]
    outputs += [info(f"present_{n}", FLOAT, [2, "b", HEADS, "q", size]) for n in range(layers)]
    return g.proto("decoder", inputs, outputs)


# ---- encoders and decoders -----------------------------------------------------------------------------------------


class Pair:
    """An encoder and a decoder of the inputs and outputs of T5 or Whisper, which share their weights."""

    def __init__(self, rng: np.random.Generator, layers: int, is_whisper: bool, size: int = 3) -> None:
        width = HEADS * size
        self.size, self.layers, self.is_whisper, self.width = size, layers, is_whisper, width
        self.weights = weights_of(rng, words=(TOKENS, width), head=(width, TOKENS), features=(4, width))
        for n in range(layers):
            self.weights |= weights_of(rng, **{f"{k}{n}": (width, width) for k in ("sq", "sk", "sv", "cq", "ck", "cv")})
        lists = {"split": [0, 0, HEADS, size], "merge": [0, 0, width], "axes": [1, 2], "newest": [-1]}
        self.weights |= {name: np.array(numbers, np.int64) for name, numbers in lists.items()}
        self.weights |= {"zero": np.float32(0), "low": np.float32(-1e4), "none": np.int32(0)}
        names = [f"{kind}_{{}}_{n}" for n in range(layers) for kind in ("key", "value")]
        self.own = [name.format("self") for name in names]
        self.cross = [name.format("cross") for name in names]

    def _cache(self, name: str, length: str) -> Any:
        return info(name, FLOAT, ["b", HEADS, length, self.size])

    def _heads(self, g: Graph, x: str, weight: str, name: str = "") -> str:
        return g("Transpose", g("Reshape", g("MatMul", x, weight), "split"), name=name, perm=[0, 2, 1, 3])

    def _attend(self, g: Graph, queries: str, keys: str, values: str, bias: str = "") -> str:
        scores = g("MatMul", queries, g("Transpose", keys, perm=[0, 1, 3, 2]))
        weights = g("Softmax", g("Add", scores, bias) if bias else scores, axis=-1)
        return g("Reshape", g("Transpose", g("MatMul", weights, values), perm=[0, 2, 1, 3]), "merge")

    def _bias(self, g: Graph) -> str:
        if self.is_whisper:
            return ""
        is_out = g("Equal", "encoder_attention_mask", "none")
        return g("Unsqueeze", g("Where", is_out, "low", "zero"), "axes")

    def _decode(self, g: Graph, x: str, bias: str, cross: list[str], has_past: bool) -> None:
        for n in range(self.layers):
            present = []
            for k, weight in enumerate((f"sk{n}", f"sv{n}")):
                name = self.own[2 * n + k]
                new = self._heads(g, x, weight, "" if has_past else f"present_{name}")
                present.append(g("Concat", f"past_{name}", new, name=f"present_{name}", axis=2) if has_past else new)
            x = g("Add", x, self._attend(g, self._heads(g, x, f"sq{n}"), *present))
            queries = self._heads(g, x, f"cq{n}")
            x = g("Add", x, self._attend(g, queries, cross[2 * n], cross[2 * n + 1], bias))
        g("MatMul", x, "head", name="logits")

    def encoder(self, decodes: bool = True) -> GraphProto:
        """The encoder, which also scores what comes after the first tokens, if it `decodes`."""
        g = Graph(self.weights)
        if self.is_whisper:
            x = g("MatMul", g("Transpose", "encoder_input_ids", perm=[0, 2, 1]), "features")
            inputs = [info("encoder_input_ids", FLOAT, ["b", 4, "e"])]
        else:
            x = g("Gather", "words", "encoder_input_ids")
            inputs = [info(f"encoder_{name}", INT32, ["b", "e"]) for name in ("input_ids", "attention_mask")]
        hidden = g("Tanh", x, name="encoder_hidden_states")
        for name in self.cross:
            self._heads(g, hidden, f"c{name[0]}{name[-1]}", f"present_{name}")
        caches = [self._cache(f"present_{name}", "e") for name in self.cross]
        if not decodes:
            return g.proto("encoder", inputs, caches)
        cross = [f"present_{name}" for name in self.cross]
        self._decode(g, g("Gather", "words", "decoder_input_ids"), self._bias(g), cross, False)
        inputs.append(info("decoder_input_ids", INT32, ["b", "d"]))
        outputs = [info("logits", FLOAT, ["b", "d", TOKENS]), info(hidden, FLOAT, ["b", "e", self.width])]
        outputs += [self._cache(f"present_{name}", "d") for name in self.own]
        return g.proto("encoder", inputs, outputs + caches)

    def decoder(self, takes_hidden: bool = False, takes_all: bool = False) -> GraphProto:
        """The decoder of one step, fed the encoder's states, and the newest or all tokens of each row."""
        g = Graph(self.weights)
        newest = g("Gather", "input_ids", "newest", axis=1) if takes_all else g("Identity", "input_ids")
        cross = [f"past_{name}" for name in self.cross]
        self._decode(g, g("Gather", "words", newest), self._bias(g), cross, True)
        inputs = [info("input_ids", INT32, ["b", "s" if takes_all else 1])]
        inputs += [] if self.is_whisper else [info("encoder_attention_mask", INT32, ["b", "e"])]
        inputs += [info("encoder_hidden_states", FLOAT, ["b", "e", self.width])] if takes_hidden else []
        inputs += [self._cache(f"past_{name}", "p") for name in self.own]
        inputs += [self._cache(name, "e") for name in cross]
        outputs = [info("logits", FLOAT, ["b", 1, TOKENS])]
        return g.proto("decoder", inputs, outputs + [self._cache(f"present_{name}", "q") for name in self.own])


# ---- searches ------------------------------------------------------------------------------------------------------


def search_model(
    op: str, graphs: dict[str, GraphProto], inputs: Sequence[Array | None], outputs: Sequence[str], **attributes: Any
) -> onnx.ModelProto:
    """A model of one search; its first input is named as that of a decoder."""
    names = _names(inputs)
    attributes = {"eos_token_id": 1, "pad_token_id": PAD, "model_type": 0} | attributes
    node = helper.make_node(op, names, outputs, "node", domain="com.microsoft", **graphs, **attributes)
    passed = [
        info(name, helper.np_dtype_to_tensor_dtype(x.dtype), [None] * x.ndim)
        for name, x in zip(names, inputs, strict=True)
        if x is not None
    ]
    results = [info(name, INT32 if name == "sequences" else FLOAT, None) for name in outputs]
    graph = helper.make_graph([node], "case", passed, results)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def _names(inputs: Sequence[Array | None]) -> list[str]:
    return ["" if x is None else f"x{k}" if k else "input_ids" for k, x in enumerate(inputs)]


def run_both(
    model: onnx.ModelProto, inputs: Sequence[Array | None], backend: str = "interpreter"
) -> tuple[list[Array], list[Array]]:
    """The results of onnxruntime and of whorl."""
    feeds = {name: x for name, x in zip(_names(inputs), inputs, strict=True) if x is not None}
    theirs = onnxruntime.InferenceSession(model.SerializeToString(), plain_options()).run(None, feeds)
    options = whorl.SessionOptions()
    options.backend = backend
    return theirs, whorl.InferenceSession(model, options).run(None, feeds)


def assert_beams_equal(theirs: list[Array], ours: list[Array]) -> None:
    """The same sequences; scores within rounding, of the steps that were taken: onnxruntime sets no others."""
    assert ours[0].tolist() == theirs[0].tolist()
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-4, atol=1e-4)
    assert ours[2].shape == theirs[2].shape
    taken = ours[2].any(axis=(1, 2, 3))
    assert taken[0]
    np.testing.assert_allclose(ours[2][taken], theirs[2][taken], rtol=1e-4, atol=1e-4)


def assert_greedy_equal(theirs: list[Array], ours: list[Array], length: int) -> None:
    """The same sequences up to where all of them have ended: onnxruntime sets nothing behind."""
    used = np.flatnonzero((ours[0] != PAD).any(axis=0))
    end = max(int(used[-1]) + 2 if len(used) else 0, length + 1)
    assert ours[0].shape == theirs[0].shape
    assert ours[0][:, :end].tolist() == theirs[0][:, :end].tolist()
    assert (ours[0][:, end:] == PAD).all()


# ---- random inputs -------------------------------------------------------------------------------------------------


def integers(*values: int) -> Array:
    return np.array(values, np.int32)


def tokens(rng: np.random.Generator, batch: int, length: int) -> Array:
    """Tokens, in half of the cases with padding before one row."""
    ids = rng.integers(2, TOKENS, (batch, length)).astype(np.int32)
    if rng.integers(2):
        ids[0, 0] = PAD
    return ids


def penalty_and_masks(rng: np.random.Generator, batch: int) -> list[Array | None]:
    """A penalty, a mask of the vocabulary and one of the first step, each in half of the cases."""
    penalty = np.array([rng.choice([1.0, 1.3, 0.8])], np.float32)
    mask, first = (rng.integers(0, 4, shape).clip(0, 1).astype(np.int32) for shape in ((TOKENS,), (batch, TOKENS)))
    mask[2:5] = first[:, 3:5] = 1
    return [x if rng.integers(2) else None for x in (penalty, mask, first)]


def attention_mask(rng: np.random.Generator, batch: int, length: int) -> Array | None:
    mask = np.ones((batch, length), np.int32)
    mask[-1, 0] = length == 1
    return mask if rng.integers(2) else None


def beam_inputs(rng: np.random.Generator, first: Array, length: int) -> list[Array | None]:
    """The inputs up to the masks of the vocabulary, for sequences of some length at the start."""
    longest, beams = length + int(rng.integers(2, 9)), int(rng.integers(1, 4))
    penalty = np.array([rng.choice([1.0, 0.6, 2.0])], np.float32)
    counts = [integers(int(n)) for n in (longest, rng.integers(0, longest), beams, rng.integers(1, beams + 1))]
    return [first, *counts, penalty, *penalty_and_masks(rng, len(first))]


# ---- random searches -----------------------------------------------------------------------------------------------

SCORED = ["sequences", "sequences_scores", "scores"]


def greedy_case(rng: np.random.Generator) -> tuple[onnx.ModelProto, list[Array | None], int]:
    """A model of a greedy search, its inputs, and the length of its prompts."""
    batch, length, layers = (int(n) for n in rng.integers(1, 4, 3))
    longest = length + int(rng.integers(1, 9))
    least = integers(int(rng.integers(0, longest))) if rng.integers(2) else None
    inputs = [tokens(rng, batch, length), integers(longest), least, *penalty_and_masks(rng, batch)]
    inputs.append(attention_mask(rng, batch, length))
    graphs = {"decoder": gpt_decoder(rng, layers)}
    if rng.integers(3) == 0:
        graphs["init_decoder"] = gpt_decoder(rng, layers)
    attributes = {"eos_token_id": int(rng.integers(1, TOKENS)), "no_repeat_ngram_size": int(rng.integers(0, 4))}
    return search_model("GreedySearch", graphs, inputs, ["sequences"], **attributes), inputs, length


def beam_attributes(rng: np.random.Generator) -> dict[str, int]:
    return {
        "eos_token_id": int(rng.integers(1, TOKENS)),
        "no_repeat_ngram_size": int(rng.integers(0, 4)),
        "early_stopping": int(rng.integers(2)),
    }


def gpt_beam_case(rng: np.random.Generator) -> tuple[onnx.ModelProto, list[Array | None]]:
    """A model of a search by beams of a decoder alone, and its inputs."""
    batch, length, layers = (int(n) for n in rng.integers(1, 4, 3))
    inputs = [*beam_inputs(rng, tokens(rng, batch, length), length), attention_mask(rng, batch, length)]
    graphs = {"decoder": gpt_decoder(rng, layers)}
    if rng.integers(3) == 0:
        graphs["init_decoder"] = gpt_decoder(rng, layers)
    return search_model("BeamSearch", graphs, inputs, SCORED, **beam_attributes(rng)), inputs


def t5_case(rng: np.random.Generator, decodes: bool) -> tuple[onnx.ModelProto, list[Array | None]]:
    """A model of a search behind an encoder, which `decodes` the first step, and its inputs."""
    batch, length, layers = (int(n) for n in rng.integers(1, 4, 3))
    inputs = [*beam_inputs(rng, tokens(rng, batch, length), 1), attention_mask(rng, batch, length)]
    pair = Pair(rng, layers, is_whisper=False)
    takes_hidden = bool(decodes and rng.integers(2))
    graphs = {"encoder": pair.encoder(decodes), "decoder": pair.decoder(takes_hidden, bool(rng.integers(2)))}
    attributes = beam_attributes(rng) | {"decoder_start_token_id": 2, "model_type": 1}
    return search_model("BeamSearch", graphs, inputs, SCORED, **attributes), inputs


def whisper_case(rng: np.random.Generator) -> tuple[onnx.ModelProto, list[Array | None]]:
    """A model of a search behind an encoder of sound, and its inputs."""
    batch, frames, layers, start = (int(n) for n in rng.integers(1, 4, 4))
    has_start = start > 1 or bool(rng.integers(2))
    sound = rng.standard_normal((batch, 4, frames), np.float32)
    inputs = [*beam_inputs(rng, sound, start), None]
    inputs.append(rng.integers(2, TOKENS, (batch, start)).astype(np.int32) if has_start else None)
    op = "BeamSearch"
    if rng.integers(2):
        op = "WhisperBeamSearch"
        inputs += [None, None, None, np.array([rng.choice([1.0, 0.7])], np.float32)]
    pair = Pair(rng, layers, is_whisper=True)
    graphs = {"encoder": pair.encoder(), "decoder": pair.decoder(bool(rng.integers(2)), bool(rng.integers(2)))}
    attributes = beam_attributes(rng) | {"decoder_start_token_id": 2, "model_type": 2}
    return search_model(op, graphs, inputs, SCORED, **attributes), inputs


def sampling_case(rng: np.random.Generator) -> tuple[onnx.ModelProto, list[Array | None], int]:
    """A model that draws tokens, its inputs, and the length of its prompts."""
    batch, length, layers = (int(n) for n in rng.integers(1, 4, 3))
    longest = length + int(rng.integers(1, 9))
    least = integers(int(rng.integers(0, longest)))
    inputs = [tokens(rng, batch, length), integers(longest), least, *penalty_and_masks(rng, batch)]
    inputs += [attention_mask(rng, batch, length), None, integers(int(rng.integers(0, 1 << 30)))]
    attributes = {
        "eos_token_id": int(rng.integers(1, TOKENS)),
        "top_p": float(rng.choice([0.3, 0.6, 0.9])),
        "temperature": float(rng.choice([1.0, 0.7, 2.0])),
        "custom": int(rng.integers(2)),
        "min_tokens_to_keep": int(rng.integers(1, 4)),
    }
    if rng.integers(2):
        attributes["filter_value"] = -50.0
    graphs = {"decoder": gpt_decoder(rng, layers)}
    return search_model("Sampling", graphs, inputs, ["sequences"], **attributes), inputs, length
