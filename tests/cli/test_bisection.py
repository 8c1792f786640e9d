"""`whorl compare --bisect`: text, document, the model that shows it, engines."""

import onnx
import pytest
from onnx_text import model
from traced_models import NESTED

INPUTS = "--input", "n=4", "--input", "x=[1, 2, 0.5]"


def with_other(op, output):
    """A copy in which the node that makes a value is another op."""
    copy = onnx.ModelProto.FromString(NESTED.SerializeToString())
    pending = [copy.graph]
    while pending:
        graph = pending.pop()
        for node in graph.node:
            pending += [attribute.g for attribute in node.attribute if attribute.HasField("g")]
            if node.output and node.output[0] == output:
                node.op_type = op
    return copy


def test_first_difference_from_another_model_is_printed(whorl, saved, tmp_path):
    other = saved(with_other("Add", "r"), "other.onnx")
    repro = tmp_path / "repro"
    report = whorl("compare", saved(NESTED), "--with", other, "--bisect", *INPUTS, "--repro", repro)
    assert report.code == 1, report.err
    assert report.out.splitlines() == [
        "output    y",
        "loop      outer: iteration 1",
        "loop      outer/inner: iteration 0",
        "node      Mul 'r'",
        "value     outer/inner/choice/else_branch/r",
        "differs   3 of 3 elements differ, first at [0]: 2.0 here, 3.0 there",
        "at most   abs 2, rel 2, ulp 12582912",
        "operand   d: [2.0 4.0 1.0] here, [2.0 4.0 1.0] there",
        "operand   u: [1.0 2.0 0.5] here, [1.0 2.0 0.5] there",
        f"wrote {repro / 'model.onnx'}",
    ]
    assert whorl("run", repro / "model.onnx").out == "test_data_set_0: r: equal\n"


def test_document_has_the_first_difference(whorl, saved):
    other = saved(with_other("Sub", "d"), "other.onnx")
    document = whorl("compare", saved(NESTED), "--with", other, "--bisect", *INPUTS, "--json").document
    first = document["first"]
    assert first["loops"] == [{"name": "outer", "iteration": 1}, {"name": "outer/inner", "iteration": 0}]
    assert (first["node"], first["value"]) == ("Add 'd'", "outer/inner/choice/else_branch/d")
    assert (first["ours"], first["theirs"], first["max_abs"], first["index"]) == (2.0, 0.0, 4.0, [0])


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["onnxruntime", "whorl"])
def test_engines_that_agree_have_no_difference(whorl, saved, engine):
    report = whorl("compare", saved(NESTED), "--with", engine, "--bisect", *INPUTS)
    assert (report.code, report.out) == (0, "no value differs\n")


MAXIMUM = model("""main (float[2] x) => (float[2] y) {
    four = Constant<value = int64 {4}> ()
    c = Constant<value = bool {1}> ()
    [steps] y = Loop (four, c, x) <body = a (int64 i, bool k, float[2] s) => (bool h, float[2] t) {
        h = Identity(k)
        two = Constant<value = int64 {2}> ()
        late = Equal(i, two)
        zero = Constant<value = float {0}> ()
        nan = Div(zero, zero)
        broken = Where(late, nan, zero)
        t = Max(s, broken)
    }>
}""")


@pytest.mark.slow
def test_maximum_with_nan_is_located_in_openvino(whorl, saved):
    document = whorl(
        "compare", saved(MAXIMUM), "--with", "openvino", "--bisect", "--input", "x=[1, 2]", "--json"
    ).document
    first = document["first"]
    assert (first["node"], first["loops"]) == ("Max 't'", [{"name": "steps", "iteration": 3}])


@pytest.mark.slow
def test_difference_that_whorl_writes_away_is_reported(whorl, saved):
    """onnxruntime stops a loop without a condition where its body says so; whorl writes that condition as ignored."""
    proto = model("""
        main (float x) => (float y) {
            three = Constant<value = int64 {3}> ()
            y = Loop (three, "", x) <body = step (int64 i, bool on, float a) => (bool on_out, float b) {
                on_out = Constant<value = bool {0}> ()
                b = Add(a, a)
            }>
        }""")
    report = whorl("compare", saved(proto), "--input", "x=1", "--with", "onnxruntime", "--bisect")
    assert (report.code, report.out.splitlines()) == (
        1,
        [
            "output    y",
            "node      Loop 'y'",
            "value     y",
            "differs   1 of 1 elements differ, first at []: 8.0 here, 2.0 there",
            "at most   abs 6, rel 0.75, ulp 16777216",
            "note      only the file as it is differs: as whorl writes the model, with the same meaning, all values "
            "are equal",
        ],
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--with", "onnxruntime"), "whorl: --with is for --bisect\n  fix: add --bisect\n"),
        (
            ("--bisect", "--with", "gone.onnx"),
            "whorl: --with 'gone.onnx' is neither a file nor an engine\n  fix: engines: whorl, onnxruntime, openvino, "
            "reference\n",
        ),
        (
            ("--bisect", "--with", "whorl", "--tolerance", "float32=x"),
            "whorl: --tolerance 'float32=x' has no numbers\n  fix: write TYPE=RTOL or TYPE=RTOL:ATOL\n",
        ),
    ],
)
def test_options_that_cannot_be_are_refused(whorl, saved, options, text):
    report = whorl("compare", saved(NESTED), *INPUTS, *options)
    assert (report.code, report.err) == (2, text)


def test_tolerance_of_a_type_decides(whorl, saved):
    other = saved(with_other("Add", "r"), "other.onnx")
    report = whorl("compare", saved(NESTED), "--with", other, "--bisect", *INPUTS, "--tolerance", "float32=1e12:1e30")
    assert (report.code, report.out) == (0, "no value differs\n")


PRODUCTS = model("""main (float[1,512] x, float[512,512] w) => (float[1,512] y) {
    three = Constant<value = int64 {3}> ()
    [steps] y = Loop (three, , x) <body = a (int64 i, bool k, float[1,512] s) => (bool h, float[1,512] t) {
        h = Identity(k)
        m = MatMul(s, w)
        t = Tanh(m)
    }>
}""")


@pytest.mark.slow
def test_sums_in_another_order_differ_from_other_differences(whorl, saved):
    options = "--with", "onnxruntime", "--bisect", "--random", "1", "--tolerance", "float32=0"
    report = whorl("compare", saved(PRODUCTS), *options)
    assert "node      MatMul 'm'" in report.out.splitlines()
    assert "sums      within what another order of 513 terms can do, " in report.out
    first = whorl("compare", saved(PRODUCTS), *options, "--json").document["first"]
    assert (first["reordering"]["terms"], first["reordering"]["explains"]) == (513, True)
