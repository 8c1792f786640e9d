"""Makes torchscript_decoder.onnx: a decoder that writes letters until it writes a full stop, scripted and exported.

    python examples/torchscript_decoder.py

needs torch. The weights are random, of seed 9; the loop, its early end and the text that grows are what TorchScript
makes of Python's `while`.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

LETTERS = 27
"""The alphabet and the full stop, which is 0."""


class Decoder(nn.Module):
    """Chooses the likeliest next letter, by a gated recurrent cell that reads the last one."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(LETTERS, 16)
        self.gates = nn.Linear(32, 32)
        self.candidate = nn.Linear(32, 16)
        self.scores = nn.Linear(16, LETTERS)

    def forward(self, state: Tensor, longest: Tensor) -> Tensor:
        letter = torch.ones(1, dtype=torch.long)
        text = letter
        written = 0
        going = True
        while going and written < int(longest):
            both = torch.cat([self.embedding(letter)[0], state])
            gates = torch.sigmoid(self.gates(both))
            update, reset = gates[:16], gates[16:]
            candidate = torch.tanh(self.candidate(torch.cat([both[:16], reset * state])))
            state = update * state + (1 - update) * candidate
            scores = self.scores(state)
            letter = torch.argmax(scores).reshape(1)
            text = torch.cat([text, letter])
            written += 1
            going = bool(letter[0] != 0)
        return text


def main() -> None:
    torch.manual_seed(9)
    decoder = Decoder()
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.mul_(3)
    path = Path(__file__).with_suffix(".onnx")
    inputs = (torch.zeros(16), torch.tensor(40))
    names = ["state", "longest"]
    scripted = torch.jit.script(decoder.eval())
    torch.onnx.export(
        scripted, inputs, str(path), input_names=names, output_names=["text"], opset_version=17, dynamo=False
    )


if __name__ == "__main__":
    main()
