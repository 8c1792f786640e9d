"""The sentences of ONNX's specification that decide cases.

A clause stands in the text that the onnx package has of the op, in the version that the case uses, or in ONNX's
docs/IR.md.
"""

from __future__ import annotations

from dataclasses import dataclass

IR = "IR.md"


@dataclass(frozen=True)
class Clause:
    """A sentence, and the op (or IR.md) whose text it stands in; runs of blanks and line ends count as one blank."""

    source: str
    text: str


CLAUSES = {
    # ---- Loop: when it goes on
    "for": Clause("Loop", "for (int i=0; i < trip_count; ++i) { cond = ...; // ignored }"),
    "while": Clause("Loop", "bool cond = ...; for (int i=0; cond; ++i) { cond = ...; }"),
    "do-while": Clause("Loop", "bool cond = true for (int i=0; cond; ++i) { cond = ...; }"),
    "both": Clause("Loop", "for (int i=0; i < trip_count && cond; ++i) { cond = ...; }"),
    "neither": Clause("Loop", "cond = ... // Note this value is ignored, but is required in the body"),
    "int64": Clause("Loop", "tensor of int64, which should be a scalar."),
    "iteration": Clause("Loop", "%i[INT32, scalar] // iteration number"),
    "condition-in": Clause("Loop", "bool keepgoing_in = keepgoing_out;"),
    # ---- Loop: what it carries and collects
    "carried": Clause(
        "Loop",
        "The loop operation node supplies the input value of the input variable for the first iteration, and returns "
        "the output value of the output variable produced by the final iteration.",
    ),
    "two-variables": Clause("Loop", "b_in and b_out are different variables"),
    "collected": Clause(
        "Loop",
        "Each scan_output is created by concatenating the value of the specified output value at the end of each "
        "iteration of the loop.",
    ),
    "stacked": Clause("Loop", "user_defined_vals[i] = user_defined_val // accumulate scan-output values"),
    "collected-alike": Clause(
        "Loop", "It is an error if the dimensions or data type of these scan_outputs change across loop iterations."
    ),
    "outputs": Clause("Loop", "Final N loop carried dependency values then K scan_outputs"),
    "each-iteration": Clause("Loop", "The graph run each iteration."),
    "scope": Clause(
        "Loop",
        'Values from the enclosing scope (i.e. variable "a" here) are in scope and can be referenced in the inputs of '
        "the loop.",
    ),
    "order": Clause(
        "Loop", "The input/output of subgraph (produced by loop node) matching is based on order instead of name."
    ),
    "tensors": Clause("Loop", "All Tensor"),
    "sequences": Clause("Loop", "All Tensor and Sequence types"),
    "optionals": Clause("Loop", "All Tensor, Sequence(Tensor), Optional(Tensor), and Optional(Sequence(Tensor)) types"),
    # ---- Scan
    "scan-body": Clause(
        "Scan",
        "It takes as input the current values of the state_variables and the current iterated element of the "
        "scan_inputs. It must return the (updated) values of the state_variables and zero or more "
        "scan_output_element tensors.",
    ),
    "scan-together": Clause("Scan", "st_1, ..., st_n, so_1, ..., so_k = loop-body(st_1, ..., st_n, si_1, ..., si_m)"),
    "scan-loop": Clause("Scan", "for (int t = 0; t < sequence_length; ++t) {"),
    "scan-empty": Clause("Scan", "// initialize scan-output variables: [] denotes an empty tensor"),
    "scan-slice": Clause("Scan", "It will have a rank one less than the rank of the corresponding scan_input."),
    "scan-axis": Clause(
        "Scan",
        "The optional attribute scan_input_axes specifies the axis to be scanned for each scan_input. If omitted, "
        "every scan_input will be scanned in axis 0.",
    ),
    "scan-output-axis": Clause(
        "Scan",
        "The optional attribute scan_output_axes specifies the axis along which the scan_outputs are accumulated for "
        "each scan_output.",
    ),
    "scan-direction": Clause(
        "Scan",
        "The optional attribute scan_input_directions specifies the direction (forward or backward) for each scan "
        "input.",
    ),
    "scan-output-direction": Clause(
        "Scan",
        "The optional attribute scan_output_directions specifies the direction in which scan_output is constructed",
    ),
    "scan-result": Clause(
        "Scan", "The scan operation returns the final values of the state_variables as well as the scan_outputs."
    ),
    "scan-axis-range": Clause(
        "Scan", "Negative value for an axis means counting dimensions from the back. Accepted range is [-r, r-1]"
    ),
    "scan-lengths": Clause("Scan", "scan_i.shape[axis_i] is required to be equal to scan_j.shape[axis_j] for all i,j."),
    "scan-tensors": Clause("Scan", "All Tensor types"),
    "scan-8-slice": Clause("Scan", "si_1 = (scan_1<axis=0>[batch])<axis=1>[t];"),
    "scan-8-start": Clause("Scan", "for (int batch = 0; batch < batch_size; ++batch) { // initialize state-variables"),
    "scan-8-lengths": Clause(
        "Scan", "N = (sequence_lengths specified) ? sequence_lengths[batch] : max_sequence_length;"
    ),
    "scan-8-direction": Clause(
        "Scan", "The optional attribute directions can be used to scan a sequence in the reverse direction."
    ),
    # ---- If
    "then": Clause("If", "Graph to run if condition is true."),
    "else": Clause("If", "Graph to run if condition is false."),
    "if-shapes": Clause(
        "If",
        "The `then_branch` and `else_branch` may produce tensors with the same element type and different shapes.",
    ),
    "if-single": Clause("If", "The tensor must contain a single element."),
    "if-outputs": Clause("If", "Has N outputs: values you wish to be live-out to the enclosing scope."),
    "if-tensors": Clause("If", "All Tensor"),
    "if-sequences": Clause("If", "All Tensor and Sequence types"),
    "if-optionals": Clause(
        "If", "All Tensor, Sequence(Tensor), Optional(Tensor), and Optional(Sequence(Tensor)) types"
    ),
    # ---- SequenceMap, and what the bodies of cases hold
    "map": Clause(
        "SequenceMap",
        "The outputs will contain the outputs of the sub-graph for each sample, in the same order as in the input.",
    ),
    "map-length": Clause(
        "SequenceMap",
        "The length of the first input sequence will determine the number of samples in the outputs.",
    ),
    "gather": Clause("Gather", "It is an error if any of the index values are out of bounds."),
    "sequence-at": Clause("SequenceAt", "It is an error if any of the index values are out of bounds."),
    "matmul": Clause("MatMul", "Matrix product that behaves like"),
    "div": Clause("Div", "Performs element-wise binary division"),
    "uniform": Clause("RandomUniform", "Generate a tensor with random values drawn from a uniform distribution."),
    "normal": Clause("RandomNormal", "Generate a tensor with random values drawn from a normal distribution."),
    "uniform-like": Clause(
        "RandomUniformLike", "Generate a tensor with random values drawn from a uniform distribution."
    ),
    "normal-like": Clause("RandomNormalLike", "Generate a tensor with random values drawn from a normal distribution."),
    "bernoulli": Clause("Bernoulli", "Draws binary random numbers (0 or 1) from a Bernoulli distribution."),
    "multinomial": Clause(
        "Multinomial",
        "Generate a tensor of samples from a multinomial distribution according to the probabilities of each of the "
        "possible outcomes.",
    ),
    "dropout": Clause("Dropout", "If `training_mode` is true then the output Y will be a random dropout"),
    "uniform-shape": Clause("RandomUniform", "The shape of the tensor is specified by the `shape` argument"),
    # ---- IR.md
    "ir-outer": Clause(
        IR,
        "A node input in a nested subgraph MAY refer to names introduced in outer graphs (as node outputs, graph "
        "inputs, or graph initializers).",
    ),
    "ir-use": Clause(IR, "the occurrence of a name as a node input or as a graph output is said to be a use"),
    "ir-visible": Clause(
        IR,
        "In the case of a nested subgraph, a node output name MUST be distinct from the names from the outer scopes "
        "that are visible in the nested subgraph.",
    ),
    "ir-position": Clause(IR, "Input and outputs are positionally associated with operator inputs and outputs."),
    "ir-initializer": Clause(
        IR, "When an initializer has a name different from all graph inputs, it specifies a constant value."
    ),
    "ir-types": Clause(IR, "MAY define the types of its inputs and outputs."),
    "ir-shape": Clause(IR, "The type of the value **including shape information**."),
    "ir-any-shape": Clause(
        IR,
        "When the shape property is absent in the type of a value (including node input), it indicates that the "
        "corresponding runtime value may have any shape.",
    ),
    "ir-open-dim": Clause(
        IR, "Such a dimension represents an unknown dimension unrelated to other unknown dimensions."
    ),
    "ir-stateless": Clause(
        IR,
        "whenever an inference-model (without random-generator operations) is used to perform inference on the same "
        "input, it is expected to produce the same output",
    ),
    "ir-attribute": Clause(
        IR,
        "When an attribute-parameter of the function is used in a node within the function, it is replaced by the "
        "actual parameter value specified for the attribute at a call-site node",
    ),
    "ir-attribute-default": Clause(
        IR, "it is replaced by the default-value if the attribute has a default-value specified"
    ),
    "ir-function": Clause(
        IR,
        "A _function_ may be thought of as an operator combined with an implementation of the operator using other, "
        "more primitive, ops, referred to as the _function body_.",
    ),
    "ir-empty": Clause(IR, "S can contain dimensions of value 0. If any dimensions are 0, V must have length 0."),
    "ir-integers": Clause(IR, "Signed integers are supported for 4-64 bit widths."),
    "ir-unsigned": Clause(IR, "Unsigned integers are supported for 4-64 bit widths."),
    "ir-floats": Clause(IR, "Floating Point Types|float16, float32, float64, bfloat16"),
    "ir-sequence": Clause(IR, "Sequences are dense, ordered, collections of elements that are of homogeneous types."),
    "ir-optional": Clause(
        IR, "Optionals are wrappers that may contain an element of tensor, sequence, or map type, or may be empty"
    ),
}
