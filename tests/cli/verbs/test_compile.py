"""`whorl compile`: what it prints and what it refuses."""

import json
import re

from onnx_text import model

SUM = model("""
    main (float[n] x, int64 steps) => (float[n] y) {
        [add] y = Loop (steps, "", x) <body = step (int64 i, bool go, float[n] h) => (bool on, float[n] h_out) {
            on = Identity(go)
            half = Constant<value = float {0.5}> ()
            less = Mul(h, half)
            h_out = Add(less, x)
        }>
    }""")


def test_compile_tells_what_it_wrote(whorl, saved, tmp_path):
    report = whorl("compile", saved(SUM), "-o", tmp_path / "sum.o", "--dim", "n=3", "--header", tmp_path / "sum.h")
    assert (report.code, report.err) == (0, "")
    size = (tmp_path / "sum.o").stat().st_size
    assert re.fullmatch(
        rf"wrote {tmp_path}/sum.o: {size} bytes of code, \d+ bytes of workspace\n"
        r"input   x: float32\[3\]\ninput   steps: int64\[\]\noutput  y: float32\[3\]\ncall    sum_run\n"
        r"needs   .* of the C library\n",
        report.out,
    )
    header = (tmp_path / "sum.h").read_text()
    assert "#define SUM_INPUT_0_BYTES 12 /* x: float32, float [3] */" in header
    assert "#define SUM_INPUT_1_BYTES 8 /* steps: int64, int64_t * */" in header
    assert "int32_t sum_run(const void *const *inputs, void *const *outputs" in header


def test_compile_as_json_with_an_input_fixed(whorl, saved, tmp_path):
    output = tmp_path / "total.o"
    report = whorl(
        "compile", saved(SUM), "-o", output, "--dim", "n=3", "--input", "steps=7", "--name", "total", "--json"
    )
    assert report.document["name"] == "total"
    assert report.document["inputs"] == {"x": "float32[3]"}
    assert set(report.document["needs"]) <= {"free", "malloc", "memcpy", "memset"}


def test_compile_that_needs_a_length_says_which_and_how(whorl, saved, tmp_path):
    text = model("""main (float[batch, 3, 4, 4] x) => (float[batch, 3, 3, 3] y, int64[batch, 3, 3, 3] i) {
        y, i = MaxPool <kernel_shape = [2, 2]> (x)
    }""")
    report = whorl("compile", saved(text), "-o", tmp_path / "conv.o")
    assert report.code == 6
    assert report.err.endswith("\n  fix: fix lengths: --dim batch=N\n")


def test_regions_are_libraries_in_a_folder(whorl, saved, tmp_path):
    report = whorl("compile", saved(SUM), "--regions", "-o", tmp_path / "parts")
    library, header = (f"{tmp_path}/parts/region0_add.{suffix}" for suffix in ("so", "h"))
    assert (report.code, report.out) == (0, f"wrote  Loop 'add' as {library}: call region0_add_run, see {header}\n")
    document = json.loads(whorl("compile", saved(SUM), "--regions", "-o", tmp_path / "parts", "--json").out)
    assert document["regions"][0]["outputs"] == {"y": "float32[n]"}
    assert whorl("compile", saved(SUM), "--regions", "-o", tmp_path, "--dim", "n=3").err == (
        "whorl: --dim applies to a model as a whole, not to --regions of it\n  fix: leave out --dim\n"
    )
