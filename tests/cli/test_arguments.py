"""Options that verbs share: the help of MODEL and OUT comes from the registry, what does not apply is refused."""

import argparse

import pytest

from whorl.cli import command_line
from whorl.cli.arguments import (
    UsageError,
    add_model,
    add_output,
    count,
    dims_of,
    load_options,
    refuse_options,
    save_options,
    seconds,
    size,
)
from whorl.errors import SaveError
from whorl.formats.options import LoadOptions, SaveOptions
from whorl.formats.registry import FORMATS


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_model(parser)
    add_output(parser)
    return parser.parse_args(arguments)


def test_help_of_a_model_names_every_suffix_that_is_read_or_written():
    parser = argparse.ArgumentParser()
    add_model(parser)
    add_output(parser)
    model, out = (next(a.help for a in parser._actions if a.dest == name) for name in ("model", "output"))
    assert all(suffix in str(model) for each in FORMATS for suffix in each.suffixes)
    assert all(suffix in str(out) for each in FORMATS for suffix in each.written)


def test_options_that_are_left_out_have_the_defaults_of_the_library():
    assert load_options(parsed("m.onnx", "out.onnx")) == LoadOptions()
    assert save_options(parsed("m.onnx", "out.onnx")) == SaveOptions()


def test_options_that_apply_are_passed_on():
    arguments = parsed("m.xml", "out.onnx", "--compat", "openvino-cpu", "--max-depth", "3", "--opset", "20")
    assert load_options(arguments) == LoadOptions(compat="openvino-cpu", max_depth=3)
    assert save_options(arguments) == SaveOptions(opset=20)


@pytest.mark.parametrize(
    ("model", "option", "text"),
    [
        ("m.onnx", ("--precision", "float32"), "--precision applies to MDF, not to ONNX"),
        ("m.json", ("--max-depth", "3"), "--max-depth applies to ONNX, MLIR text or OpenVINO IR, not to MDF"),
        ("m.xml", ("--condition-when-omitted", "honour"),
         "--condition-when-omitted applies to ONNX or MLIR text, not to OpenVINO IR"),
    ],
)  # fmt: skip
def test_option_that_the_format_read_does_not_have_is_refused(model, option, text):
    with pytest.raises(UsageError) as caught:
        load_options(parsed(model, "out.onnx", *option))
    assert str(caught.value) == f"{text}\n  fix: leave out {option[0]}"


def test_unknown_ending_of_the_output_is_refused():
    with pytest.raises(SaveError, match="has no ending whorl can write"):
        save_options(parsed("m.onnx", "out.txt"))


def test_option_without_effect_is_refused_only_where_it_is_used():
    names = argparse.Namespace(input=[], random=None, text=False, dim=["n=3"])
    refuse_options(names, ("--input", "--random", "--text"), "is unused")
    with pytest.raises(UsageError, match="--dim is unused"):
        refuse_options(names, ("--input", "--dim"), "is unused")


def test_dims_are_lengths_by_name():
    assert dims_of(["n=3", "m=0"]) == {"n": 3, "m": 0}
    for entry in ("n", "=3", "n=-1", "n=x"):
        with pytest.raises(UsageError, match="is not NAME=SIZE"):
            dims_of([entry])


@pytest.mark.parametrize(
    ("parse", "text"), [(count, "-1"), (count, "1.5"), (seconds, "soon"), (seconds, "-1"), (seconds, "nan")]
)
def test_number_that_cannot_be_is_refused(parse, text):
    with pytest.raises(argparse.ArgumentTypeError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "count"), [("0", 0), ("70000", 70_000), ("3k", 3 << 10), ("512M", 512 << 20), ("1G", 1 << 30)]
)
def test_size_is_bytes_or_has_a_unit(text, count):
    assert size(text) == count


@pytest.mark.parametrize("text", ["", "M", "-1", "1.5G", "5T", "many", "1 M"])
def test_text_that_is_no_size_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError) as caught:
        size(text)
    assert str(caught.value) == f"{text!r} is not a size such as 512M"


def test_options_in_bytes_of_all_verbs_are_sizes():
    (verbs,) = (each for each in command_line()._actions if each.dest == "verb")
    options = [option for verb in verbs.choices.values() for option in verb._actions]  # type: ignore[union-attr]
    sizes = {option.dest for option in options if option.type is size}
    assert sizes == {"budget", "disk_budget", "max_memory", "memory_budget"}
    assert sizes.isdisjoint(option.dest for option in options if option.type is not size)
    assert "BYTES" not in {option.metavar for option in options}
