"""How the body of a layer is connected, checked: what feeds each Parameter, and which Result each output is."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.document import Body, Layer, PortMap
from whorl.formats.openvino.reading.context import ReadContext
from whorl.ir.graph import Value

PURPOSES = ("", "current_iteration", "execution_condition")


class Connections(Struct):
    """A port map by meaning. Ids are those of Parameters and Results of the body.

    `fed`: by Parameter the entry that feeds it; `outputs`: the entries of the outputs, in order; `back`: by Parameter
    the Result that it takes from the second iteration on; `number`: the entry of the iteration number; `condition`: the
    Result that tells whether to go on.
    """

    parameters: dict[int, Layer] = field(default_factory=dict)
    results: set[int] = field(default_factory=set)
    fed: dict[int, PortMap] = field(default_factory=dict)
    outputs: list[PortMap] = field(default_factory=list)
    back: dict[int, int] = field(default_factory=dict)
    number: PortMap | None = None
    condition: int | None = None

    @property
    def sliced(self) -> list[PortMap]:
        """The entries of inputs that are cut into slices."""
        return [entry for entry in self.fed.values() if entry.axis is not None]

    @property
    def concatenated(self) -> list[PortMap]:
        """The entries of outputs that are concatenated over all iterations."""
        return [entry for entry in self.outputs if entry.axis is not None]


def connections(layer: Layer, body: Body, inputs: list[Value], context: ReadContext) -> Connections:
    """The connections of a body, each of its Parameters fed once and each output mapped. Errors: LoadError OV30x."""
    where = context.location(layer)
    links = Connections()
    for each in body.net.layers:
        if each.type.lower() == "parameter":
            links.parameters[each.id] = each
        elif each.type.lower() == "result":
            links.results.add(each.id)
    _read_inputs(links, [entry for entry in body.ports if entry.is_input], len(inputs), where)
    _read_outputs(links, [entry for entry in body.ports if not entry.is_input], layer, where)
    _read_back_edges(links, body.back_edges, layer, context)
    for id, parameter in links.parameters.items():
        if id not in links.fed and (links.number is None or links.number.internal != id):
            code = "OV309" if id in {to for _, to in body.back_edges} else "OV303"
            raise problem(
                code,
                f"nothing feeds {parameter.title} of the body",
                where,
                "map an input of the layer to the Parameter",
            )
    return links


def _read_inputs(links: Connections, entries: list[PortMap], count: int, where: str) -> None:
    externals: set[int] = set()
    internals: set[int] = set()
    for entry in entries:
        _check_purpose(entry, where)
        if entry.internal not in links.parameters:
            raise problem(
                "OV305", f"input {entry.external} goes to layer {entry.internal}, which is no Parameter", where
            )
        if entry.internal in internals:
            raise problem("OV323", f"Parameter {entry.internal} is fed twice", where, "map one input to it")
        if entry.external in externals:
            text = (
                "External port id 0 or 1 is duplicated." if entry.external < 2 else "an external port id is duplicated"
            )
            raise problem(
                "OV302",
                f"{text}: input {entry.external} feeds two Parameters",
                where,
                "give each Parameter an input of the layer, connected to the same value",
            )
        if entry.external >= count:
            raise problem("OV328", f"maps input {entry.external}, the layer has {count}", where)
        internals.add(entry.internal)
        if entry.external >= 0:
            externals.add(entry.external)
        if entry.purpose == "current_iteration":
            if links.number is not None:
                raise problem("OV323", "two Parameters are to take the current iteration", where, "keep one")
            links.number = entry
        elif entry.external >= 0:
            links.fed[entry.internal] = entry
    links.fed = dict(sorted(links.fed.items(), key=lambda item: item[1].external))


def _check_purpose(entry: PortMap, where: str) -> None:
    wrong = "execution_condition" if entry.is_input else "current_iteration"
    if entry.purpose not in PURPOSES or entry.purpose == wrong:
        kind = "an input" if entry.is_input else "an output"
        raise problem("OV324", f"{kind} has the purpose {entry.purpose!r}", where)


def _read_outputs(links: Connections, entries: list[PortMap], layer: Layer, where: str) -> None:
    for entry in entries:
        _check_purpose(entry, where)
        if entry.internal not in links.results:
            raise problem(
                "OV305", f"output {entry.external} comes from layer {entry.internal}, which is no Result", where
            )
        if entry.purpose == "execution_condition":
            if links.condition is not None:
                raise problem("OV316", "two Results are the execution condition", where, "keep one")
            links.condition = entry.internal
    mapped = [entry for entry in entries if entry.external >= 0]
    repeated = _repeated(entry.external for entry in mapped)
    if repeated is not None:
        raise problem("OV304", f"output {repeated} is mapped twice", where, "give each output a number of its own")
    if len(mapped) != len(layer.outputs):
        raise problem(
            "OV317",
            "Number of outputs must be the same as number of output descriptions: "
            f"the layer has {len(layer.outputs)} outputs, its port map {len(mapped)}",
            where,
        )
    links.outputs = sorted(mapped, key=lambda entry: entry.external)


def _repeated(numbers: Iterable[int]) -> int | None:
    seen: set[int] = set()
    for number in numbers:
        if number in seen:
            return number
        seen.add(number)
    return None


def _read_back_edges(links: Connections, edges: list[tuple[int, int]], layer: Layer, context: ReadContext) -> None:
    """The first back edge to a Parameter counts, as OpenVINO has it; the iteration number and slices take none."""
    for result, parameter in edges:
        if result not in links.results or parameter not in links.parameters:
            raise problem(
                "OV308", f"a back edge leads from layer {result} to layer {parameter}", context.location(layer),
                "lead it from a Result to a Parameter",
            )  # fmt: skip
        if links.number is not None and links.number.internal == parameter:
            context.warn("OV314", "a back edge leads to the current iteration, which counts all the same", layer)
        elif parameter in links.back:
            context.warn("OV306", f"two back edges lead to Parameter {parameter}; the first one counts", layer)
        elif parameter in links.fed and links.fed[parameter].axis is not None:
            context.warn(
                "OV307", f"a back edge leads to Parameter {parameter}, which takes slices; it is ignored", layer
            )
        elif parameter in links.fed:
            links.back[parameter] = result


def require_mapped(links: Connections, first: int, count: int, where: str) -> None:
    """Refuse an input of the layer, from `first` on, that goes nowhere. Errors: LoadError OV310."""
    used = {entry.external for entry in links.fed.values()}
    if links.number is not None:
        used.add(links.number.external)
    missing = [k for k in range(first, count) if k not in used]
    if missing:
        raise problem(
            "OV310",
            "Number of inputs must be the same as number of input descriptions: "
            f"input {missing[0]} is not mapped into the body",
            where,
            "map it to a Parameter, or disconnect it",
        )
