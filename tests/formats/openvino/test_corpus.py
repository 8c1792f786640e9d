"""Every IR of the corpus: it gives OpenVINO's outputs, or differs as `known_differences.txt` says, or is refused."""

import re

import pytest
from compilers import needs_linker
from formats.openvino.corpus import CORPUS, known_differences, models, path_of, readable, refused, runs, same

import whorl
from whorl.errors import LoadError, RunError
from whorl.formats.openvino.files import load_ir
from whorl.formats.openvino.reading.context import IrOptions
from whorl.ir.parse import parse_module
from whorl.ir.text import print_module
from whorl.ir.verify import verify
from whorl.runtime.session import Session

if not models():
    pytest.skip(f"there is no corpus in {CORPUS}", allow_module_level=True)

FAIL = {
    "probes/L16_trip_param_dynX": "takes a slice of scanned input 0, which has 2",
    "probes/L19_trip_m2_dim": "takes a slice of scanned input 0, which has 5",
    "probes/L21_trip_2pow32p3": "takes a slice of scanned input 0, which has 5",
    "probes/M03_zero_iter_noncarried_last_and_concat": "no iteration ran|1 is expected, but actual: 2",
    "probes/M03b_zero_iter_noncarried_dyn": "no iteration ran, so there is no last value",
    "probes/M21b_concat_bad_axis_dim_static": "1 is expected, but actual: 2",
    "probes/T13_part2_notdiv": r"length \(5\) of axis 0 of scanned input 0 is not divisible by step \(2\)",
}
"""What runs say that fail, here and, but for known differences, in OpenVINO."""
AS_THE_PLUGIN = (
    "probes/L08_slice_start1_end_m2",
    "probes/L21_trip_2pow32p3",
    "probes/M01_cond_false_const",
    "probes/M03_zero_iter_noncarried_last_and_concat",
    "probes/M03b_zero_iter_noncarried_dyn",
    "probes/T04_start1",
    "probes/T05b_start0_end3_dyn",
    "probes/T06b_start1_end4_dyn",
    "probes/T08b_end6_dyn",
    "probes/T15b_rev_start_m2_dyn",
)
"""Differences that are none in the meaning of the CPU plugin."""


def load(model, compat=""):
    return load_ir(path_of(model), IrOptions(compat))


def outcomes(module, model, backend):
    """For each stored run with outputs of the CPU plugin whether they are ours; None where ours fails."""
    session, actual = Session(module, backend=backend), []
    names = [value.name for value in module.main.arguments]
    for run in runs(model):
        try:
            outputs = session.execute(None, run.feeds(names))
        except RunError as error:
            assert model in FAIL
            assert re.search(FAIL[model], str(error)), error
            outputs = None
        if "ovcpu" in run.outputs:
            actual.append(None if outputs is None else same(outputs, run.outputs["ovcpu"]))
    return actual


@pytest.mark.parametrize("model", models())
def test_model_loads_or_is_refused_with_a_code(model):
    if model in refused():
        with pytest.raises(LoadError, match=refused()[model]):
            load(model)
        return
    module = load(model)
    verify(module)
    text = print_module(module)
    assert print_module(parse_module(text)) == text


@pytest.mark.parametrize("backend", ["interpreter", "native"])
@pytest.mark.parametrize("model", readable())
def test_model_gives_what_openvino_gives(model, backend):
    does = known_differences().get(model, "equal")
    actual = outcomes(load(model), model, backend)
    if does == "equal":
        assert all(actual)
    else:
        assert (None if does == "fails" else False) in actual


@pytest.mark.parametrize("model", AS_THE_PLUGIN)
def test_meaning_of_the_cpu_plugin(model):
    assert all(actual for actual in outcomes(load(model, "openvino-cpu"), model, "interpreter"))


RANKS = {
    "probes/I10_rank_mismatch_dyn": (
        "If 'If_2' (line 1): OV506: CPU plug-in doesn't support If operation with dynamic rank: output 0 is float32[*]"
        "\n  fix: let the output have one rank, or leave out the option"
    ),
    "probes/M23b_grow_rank": (
        "Loop 'Loop_3' (line 1): OV506: CPU plug-in doesn't support Loop operation with dynamic rank: "
        "output 0 is float32[*]\n  fix: let the output have one rank, or leave out the option"
    ),
}
"""Models that the CPU plugin refuses for the rank of an output, and what the profile says."""


@pytest.mark.parametrize("model", RANKS)
def test_profile_of_the_cpu_plugin_refuses_ranks_that_only_a_run_knows(model):
    with pytest.raises(LoadError) as caught:
        load(model, "openvino-cpu")
    assert str(caught.value) == RANKS[model]


def test_known_differences_are_models():
    assert set(known_differences()) <= set(models())


COMPILED = (
    "from_onnx/loop_nested",
    "from_onnx/loop_while_cond",
    "from_onnx/scan_both_rev",
    "probes/L09_part2_stride2",
    "probes/L16_trip_param_dynX",
    "probes/M05_swap",
    "probes/M06b_iter_i32_1d",
    "probes/N_Loop_TI",
    "probes/T10_part2_stride2_rev",
    "ti_from_rnn/lstm_seqlens_ti",
)


@needs_linker
@pytest.mark.parametrize("model", COMPILED)
def test_library_of_a_model_gives_what_the_interpreter_gives(model, tmp_path):
    module = load(model)
    whorl.compile(module, tmp_path / "m.so")
    library, session = whorl.load_compiled(tmp_path / "m.so"), Session(module, backend="interpreter")
    taken = {each.name for each in library.get_inputs()}
    for run in runs(model):
        feeds = run.feeds([value.name for value in module.main.arguments])
        try:
            expected = session.execute(None, feeds)
        except RunError:
            with pytest.raises(RunError):
                library.run(None, {name: x for name, x in feeds.items() if name in taken})
            continue
        assert same(library.run(None, {name: x for name, x in feeds.items() if name in taken}), expected)
