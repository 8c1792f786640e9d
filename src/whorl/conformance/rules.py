"""What the suite checks: the rules of control flow, in one sentence each."""

from __future__ import annotations

Rule = int | str

RULES: dict[Rule, str] = {
    1: "Trip count and condition may be omitted, or be one element of any rank; more elements are an error.",
    2: "Where the condition is omitted, the condition that the body computes is ignored.",
    3: "Zero iterations give the initial carried values, and collected outputs of length 0 with the element's dims.",
    4: "The iteration that turns the condition false still counts, and its collected elements are kept.",
    5: "All carried values change together; a body output may be a body input, a captured value, or another one's.",
    6: "A collected element whose shape changes between iterations is an error.",
    7: "Body inputs and outputs are matched by order; siblings may reuse names; the inner one of two wins.",
    8: "Scan: one length for all scanned inputs; axes and directions per input and output; version 8 is batched.",
    9: "Trip counts are 64-bit; the largest one is a common 'forever' and allocates nothing in advance.",
    10: "Loop carries tensors of every element type, sequences, optionals and optional sequences.",
    11: "Bodies nest loops and branches to any depth; past an engine's limit there is a clear error, never a crash.",
    12: "Random ops draw anew in every iteration; a seed makes fresh sessions repeat.",
    13: "The iteration number and the condition have the rank in the body that the body's inputs declare.",
    14: "Blank outputs are legal; body initializers shadow outer names, and are constants also when listed as inputs.",
    15: "The branches of If may differ in shape, rank and contents; only the taken one is evaluated.",
    "carried": "Shape, rank and contents of a carried value may change from one iteration to the next.",
    "scanned": "A scanned input gives one slice an iteration, without the scanned axis.",
    "captured": "Values of enclosing graphs are visible in bodies and branches at any depth.",
    "collected": "One element an iteration, stacked on a new axis.",
    "last": "The value of the last iteration is available after the loop.",
    "functions": "Functions and SequenceMap hold control flow and are held by it; attributes reach into bodies.",
    "numbers": "IEEE results and wrapping integers inside loops are the same as outside.",
    "versions": "Every version of Loop, Scan and If that ONNX has defined.",
    "programs": "Whole programs: several rules at work together.",
}
