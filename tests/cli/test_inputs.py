"""Random inputs on the command line: their lengths, and what is said where a model cannot take them."""

import pytest
from onnx_text import model

PRODUCT = model("""
    main (float[n, c] x) => (float[n, 3] y) {
        w = Constant<value = float[5, 3] {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6}> ()
        y = MatMul(x, w)
    }""")
PICK = model("main (float[n] x) => (float y) { four = Constant<value = int64 {4}> () y = Gather(x, four) }")
SUM = model("main (float[n] x, float[m] z) => (float[k] y) { y = Add(x, z) }")
BRANCH = model("""
    main (bool b, float[n] x) => (float[k] y) {
        w = Constant<value = float[7] {1, 2, 3, 4, 5, 6, 7}> ()
        y = If (b) <then_branch = t () => (float[k] u) { u = Add(x, w) },
                    else_branch = e () => (float[k] v) { v = Neg(x) }>
    }""")
MENDED = "\n  fix: choose lengths that the model takes: {} (a length that nobody chose is 2)\n"


@pytest.mark.parametrize(
    ("proto", "passed", "problem", "flags"),
    [
        (PRODUCT, [], "MatMul 'y': cannot multiply [2, 2] by [5, 3]: inner lengths 2 and 5 differ", "--dim c=5"),
        (
            PRODUCT,
            ["--dim", "n=4"],
            "MatMul 'y': cannot multiply [4, 2] by [5, 3]: inner lengths 2 and 5 differ",
            "--dim c=5",
        ),
        (PICK, [], "Gather 'y': index 4 is outside [-2, 2) of axis 0", "--dim n=N"),
        (
            SUM,
            ["--input", "x=[1, 2, 3]"],
            "Add 'y': cannot broadcast [3] with [2]: lengths 3 and 2 do not broadcast (x: float32[3], z: float32[2])",
            "--dim m=3",
        ),
        (
            BRANCH,
            ["--input", "b=True"],
            "Add 'u' in then_branch of If: cannot broadcast [2] with [7]: lengths 2 and 7 do not broadcast "
            "(x: float32[2], w: float32[7])",
            "--dim n=7",
        ),
    ],
)
def test_length_that_a_model_cannot_take_is_named_with_the_option_to_set_it(
    whorl, saved, proto, passed, problem, flags
):
    report = whorl("run", saved(proto), "--random", 0, *passed)
    assert (report.code, report.err) == (4, f"whorl: {problem}{MENDED.format(flags)}")
    better = flags.replace("N", "6").split()
    assert whorl("run", saved(proto), "--random", 0, *passed, *better).code == 0


@pytest.mark.parametrize("verb", ["compare", "bench"])
def test_every_verb_that_draws_inputs_names_the_length(whorl, saved, verb):
    report = whorl(verb, saved(PRODUCT))
    assert report.code == 4 and report.err.endswith(MENDED.format("--dim c=5"))


def test_run_that_show_makes_names_the_length_too(whorl, saved):
    assert whorl("show", "--native", saved(PRODUCT)).out.endswith(MENDED.format("--dim c=5"))


def test_inputs_that_are_passed_decide_the_lengths_of_the_others(whorl, saved):
    proto = model("main (float[n] x, float[n] z) => (float[n] y) { y = Add(x, z) }")
    report = whorl("run", saved(proto), "--random", 0, "--input", "x=[1, 2, 3]")
    assert report.code == 0 and report.out.startswith("y: float32[3] ")


def test_chosen_lengths_are_not_called_made_up(whorl, saved):
    report = whorl("run", saved(PICK), "--random", 0, "--dim", "n=3")
    assert report.err == "whorl: Gather 'y': index 4 is outside [-3, 3) of axis 0\n"


def test_dim_that_no_input_has_is_refused(whorl, saved):
    report = whorl("run", saved(SUM), "--random", 0, "--dim", "q=3")
    assert (report.code, report.err) == (2, "whorl: no input has a dim 'q'\n  fix: choose from m, n\n")
