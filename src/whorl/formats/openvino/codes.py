"""What can be wrong with an IR file: a code for each problem, and how it is raised or noted."""

from __future__ import annotations

from typing import NamedTuple

from whorl.errors import LoadError, UnsupportedError

CODES = {
    "OV101": "the .xml cannot be read",
    "OV102": "the .xml is not well-formed: truncated or damaged",
    "OV103": "the .xml has a document type, entities or references to other files",
    "OV104": "the file is larger, or nested deeper, than a limit",
    "OV105": "not a net of version 10 or 11",
    "OV106": "an element lacks an attribute, or one cannot be read",
    "OV107": "the .bin is missing or cannot be read",
    "OV201": "two layers have the same id",
    "OV202": "an edge names a layer that does not exist",
    "OV203": "an edge names a port that does not exist",
    "OV204": "two edges lead to the same port",
    "OV205": "no edge leads to an input port",
    "OV206": "layers depend on themselves",
    "OV207": "nothing is computed: no Result and no Assign",
    "OV208": "a port declares a shape that contradicts the computed one",
    "OV209": "a port declares an element type that contradicts the computed one",
    "OV210": "two ports of a layer have the same id",
    "OV211": "a layer has too few or too many ports",
    "OV301": "a layer with bodies lacks a body, or has one it does not take",
    "OV302": "an input is mapped twice",
    "OV303": "a Parameter of a body is fed by nothing",
    "OV304": "an output is mapped twice",
    "OV305": "a port map names a layer that is no Parameter, or no Result",
    "OV306": "two back edges lead to the same Parameter",
    "OV307": "a back edge leads to a Parameter that takes slices",
    "OV308": "a back edge does not lead from a Result to a Parameter",
    "OV309": "a back edge leads to a Parameter without an initial value",
    "OV310": "an input of the layer is not mapped",
    "OV311": "start, end, stride and part_size of a slice or concatenation do not say which rows",
    "OV312": "an axis is outside the rank, or negative under compat openvino-cpu",
    "OV313": "slices do not agree on the number of iterations",
    "OV314": "the iteration number has an input from outside, which is not used",
    "OV315": "the condition is always false",
    "OV316": "the body gives no execution condition",
    "OV317": "the outputs of the layer are not those of its port map",
    "OV318": "the trip count is not one whole number",
    "OV319": "a condition is not one truth value",
    "OV320": "a TensorIterator stands directly in another one",
    "OV321": "the branches do not give the same outputs",
    "OV322": "outputs of the branches have different element types",
    "OV323": "a Parameter of a body is fed twice",
    "OV324": "a purpose is not known",
    "OV326": "a carried value does not keep its element type",
    "OV328": "a port map names an input that the layer does not have",
    "OV401": "the bytes of a constant lie outside the .bin",
    "OV402": "a constant has fewer bytes than its shape takes",
    "OV403": "a constant has more bytes than its shape takes; the rest is not used",
    "OV404": "an element type is not known",
    "OV405": "a shape cannot be read, or is impossible",
    "OV406": "the bytes of a constant of strings are damaged",
    "OV501": "an attribute or input of a layer is not as its type demands",
    "OV502": "an attribute is not known, and is not used",
    "OV503": "the opset does not have this type of layer",
    "OV504": "the type of the layer is not known",
    "OV505": "a layer with bodies is of a type that is not known",
    "OV506": "a layer is applied to types that it does not take",
    "OV601": "two Assigns write the same variable",
    "OV602": "an Assign has no ReadValue",
    "OV603": "a ReadValue has no Assign",
    "OV604": "the initial value of a variable cannot be computed outside the loop",
    "OV605": "a variable is used in several nets",
    "OV606": "the types of a variable do not agree",
}
"""What each code stands for."""

FIXES = {
    "OV101": "give the path of an .xml that can be read",
    "OV102": "copy the .xml again, or convert the model again",
    "OV104": "make the model smaller, or keep large constants in the .bin",
    "OV105": "give the .xml of an OpenVINO model",
    "OV106": "convert the model again; OpenVINO writes it",
    "OV107": "copy the .bin again",
    "OV202": "remove the edge, or add the layer",
    "OV203": "name a port that the layer lists",
    "OV204": "keep one of them",
    "OV207": "add a Result behind what is to be computed",
    "OV210": "give each port a number of its own",
    "OV211": "write as many ports as the type of the layer has",
    "OV301": "write each body once",
    "OV305": "name the id of a Parameter for an input, of a Result for an output",
    "OV312": "choose one of its axes",
    "OV317": "map a Result to each output of the layer",
    "OV324": "write 'current_iteration' at an input, 'execution_condition' at an output, or nothing",
    "OV328": "connect an input for each entry, or remove the entry",
    "OV402": "is it the right .bin?",
    "OV404": "write an element type of OpenVINO, such as f32 (FP32 at a port)",
    "OV405": "write lengths of 0 or more, joined by commas; '?' or '1..4' only where they are open",
    "OV406": "is it the right .bin?",
    "OV501": "write what the specification of the operation demands",
    "OV502": "remove the attribute",
    "OV503": "write a version from opset1 to opset17",
    "OV504": "run the model in OpenVINO, or replace the layer",
    "OV505": "take the layers of the body out of it",
    "OV506": "convert or reshape the inputs, or mend the attributes",
    "OV601": "keep one of them",
    "OV602": "add a ReadValue of the variable, or remove the Assign",
    "OV604": "compute the initial value outside of bodies, from inputs and constants",
    "OV605": "give the variable another variable_id",
    "OV606": "give the variable one type, with a Convert before the Assign if need be",
}
"""What to do about a problem where nothing more is known."""


class Warning(NamedTuple):
    """A problem that does not stop a file from being read."""

    code: str
    message: str
    where: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.code}: {self.message}" if self.where else f"{self.code}: {self.message}"


def problem(code: str, message: str, where: str = "", fix: str = "") -> LoadError:
    """The error for a problem; its text begins with the code."""
    assert code in CODES
    return LoadError(f"{code}: {message}", where, fix or FIXES.get(code, ""))


def unsupported(code: str, message: str, where: str = "", fix: str = "") -> UnsupportedError:
    """The error for what is legal in a file but not implemented."""
    assert code in CODES
    return UnsupportedError(f"{code}: {message}", where, fix or FIXES.get(code, ""))


def coded(code: str, message: str) -> str:
    """A message with a code, unless it begins with one."""
    return message if message[:5] in CODES else f"{code}: {message}"
