"""Variables: what ReadValue reads and Assign writes, found before a net is read."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from whorl.errors import LoadError
from whorl.formats.openvino.codes import problem
from whorl.formats.openvino.document import Layer, Net
from whorl.formats.openvino.element_types import element_type
from whorl.formats.openvino.reading.context import ReadContext
from whorl.formats.openvino.shapes import shape_of
from whorl.ir.dtypes import BOOL
from whorl.ir.types import TensorType

KINDS = ("readvalue", "assign")


class Variable(Struct, frozen=True):
    """State between runs: its id, its type, the layer that reads it and the one that writes it.

    These are layers of `net`, which is inside the bodies `regions`. With a `flag`, another variable of that name tells
    whether it has a value: the first one depends on what only a body has, and is computed there.
    """

    id: str
    type: TensorType
    read: Layer
    write: Layer | None
    net: Net
    regions: tuple[str, ...]
    flag: str = ""
    is_flag: bool = False


def variables_of(net: Net, context: ReadContext) -> list[Variable]:
    """The variables that a net itself uses, in the order of their first use. Errors: LoadError OV6xx."""
    layers: dict[str, dict[str, Layer]] = {}
    for layer in net.layers:
        kind = layer.type.lower()
        if kind not in KINDS:
            continue
        if "variable_id" not in layer.data:
            raise problem("OV501", "lacks the attribute 'variable_id'", context.location(layer))
        known = layers.setdefault(layer.data["variable_id"], {})
        if kind in known and kind == "assign":
            message = f"writes the variable {layer.data['variable_id']!r}, as {known[kind].title} does"
            raise problem("OV601", message, context.location(layer))
        known.setdefault(kind, layer)
    variables = []
    for id, known in layers.items():
        if "readvalue" not in known:
            raise problem("OV602", f"no ReadValue reads the variable {id!r}", context.location(known["assign"]))
        if "assign" not in known:
            context.warn("OV603", f"no Assign writes the variable {id!r}", known["readvalue"])
        read = known["readvalue"]
        flag = flag_name(id) if context.regions and _needs_parameters(read, net) else ""
        variables.append(Variable(id, _type(read, context), read, known.get("assign"), net, context.regions, flag))
        if flag:
            variables.append(replace(variables[-1], id=flag, type=TensorType(BOOL, ()), flag="", is_flag=True))
    return variables


def variable_names(context: ReadContext, *nets: Net) -> list[str]:
    """The names of the variables of nets, and of bodies in them, in a context; a flag follows its variable."""
    ids: dict[str, None] = {}
    pending = list(nets)
    while pending:
        for layer in pending.pop().layers:
            if layer.type.lower() in KINDS and "variable_id" in layer.data:
                ids[layer.data["variable_id"]] = None
            pending += [body.net for body in layer.bodies.values()]
    return [name for id in ids for name in (id, flag_name(id)) if name == id or name in context.variables]


def flag_name(id: str) -> str:
    """The name of the variable that tells whether another one has a value."""
    return f"{id}.is_set"


def _needs_parameters(read: Layer, net: Net) -> bool:
    """Whether the first value of a variable depends on Parameters of its net."""
    layers = {layer.id: layer for layer in net.layers}
    sources: dict[int, list[int]] = {}
    for edge in net.edges:
        sources.setdefault(edge.to_layer, []).append(edge.from_layer)
    pending, seen = list(sources.get(read.id, ())), set[int]()
    while pending:
        id = pending.pop()
        if id in layers and layers[id].type.lower() == "parameter":
            return True
        if id not in seen:
            seen.add(id)
            pending += sources.get(id, ())
    return False


def nested_variables(net: Net, context: ReadContext) -> list[Variable]:
    """The variables that a net or a body inside it uses."""
    variables = variables_of(net, context)
    for layer in net.layers:
        for tag, body in layer.bodies.items():
            variables += nested_variables(body.net, context.inside(f"{tag} of {layer.title}"))
    seen: set[str] = set()
    for variable in variables:
        if variable.id in seen:
            message = f"the variable {variable.id!r} is used in several nets"
            raise problem("OV605", message, context.location(variable.read), "use it in one of them")
        seen.add(variable.id)
    return variables


def _type(read: Layer, context: ReadContext) -> TensorType:
    """The type a ReadValue states, in version 3 by its port alone."""
    where, data = context.location(read), read.data
    if "variable_type" in data:
        try:
            dtype = element_type(data["variable_type"], "variable_type")
        except LoadError as error:
            raise error.at(where) from None
        return TensorType(dtype, shape_of(data.get("variable_shape", "..."), where))
    if not read.outputs or read.outputs[0].type is None:
        raise problem("OV606", "says no type for its variable", where, "declare the precision of its output")
    return read.outputs[0].type
