"""Small models of neurons, written as data, for tests of what runs them."""

from whorl.formats.mdf.model import MdfModel
from whorl.formats.mdf.reading import model_of


def node(parameters, outputs=(), inputs=None, functions=None):
    """A node whose outputs are called as the parameters, functions or ports that they give."""
    return {
        "input_ports": inputs or {},
        "functions": functions or {},
        "parameters": parameters,
        "output_ports": {name: {"value": name} for name in outputs},
    }


def data(nodes, edges=(), conditions=None):
    """A file: edges are texts "A.x -> B.y" or pairs of such a text and a weight."""
    actual = {}
    for n, entry in enumerate(edges):
        text, weight = entry if isinstance(entry, tuple) else (entry, None)
        sender, receiver = (end.split(".") for end in text.split(" -> "))
        ends = dict(zip(("sender", "sender_port", "receiver", "receiver_port"), (*sender, *receiver), strict=True))
        actual[f"e{n}"] = ends | ({"parameters": {"weight": weight}} if weight is not None else {})
    graph = {"nodes": nodes, "edges": actual} | ({"conditions": conditions} if conditions else {})
    return {"model": {"format": "ModECI MDF v0.4", "graphs": {"graph": graph}}}


def model(nodes, edges=(), conditions=None, **options) -> MdfModel:
    return MdfModel(model_of(data(nodes, edges, conditions)), **options)


OSCILLATOR = {
    "FN": node(
        {
            "a": {"value": 0.7},
            "I": {"value": 0.5},
            "v0": {"value": -1.0},
            "V": {"default_initial_value": "v0", "time_derivative": "V - V*V*V/3 - W + I + drive"},
            "W": {"default_initial_value": 0, "time_derivative": "(V + a - 0.8*W) / 12.5"},
        },
        ("V", "W"),
        {"drive": {}},
    )
}
SPIKING = {
    "cell": node(
        {
            "I": {"value": [70.0, 90.0]},
            "v": {
                "default_initial_value": [-60.0, -50.0],
                "time_derivative": "(0.7*(v + 60)*(v + 40) - u + I) / 100",
                "conditions": {"reset": {"test": "v > 35", "value": -50}},
            },
            "u": {
                "default_initial_value": [0.0, 0.0],
                "time_derivative": "0.03 * (-2*(v + 60) - u)",
                "conditions": {"reset": {"test": "v > 35", "value": "u + 100"}},
            },
        },
        ("v", "u"),
    )
}
NETWORK = {
    "stimulus": node({"t": {"default_initial_value": 0, "time_derivative": "1"}, "i": {"value": "t > 0.3"}}, ("i",)),
    "net": node(
        {
            "W": {"value": [[0.0, 1.5], [-1.0, 0.5]]},
            "x": {"default_initial_value": [0.1, 0.2], "time_derivative": "W @ numpy.tanh(x) - x + input"},
        },
        ("x",),
        {"input": {"shape": [2]}},
    ),
    "sum": node({"y": {"value": "total"}}, ("y",), {"total": {"reduce": "add"}}),
}
LINKS = ("stimulus.i -> net.input", ("net.x -> sum.total", 2.0), ("stimulus.i -> sum.total", 0.5))
