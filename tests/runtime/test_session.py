"""Sessions: results belong to the caller, threads share a session, and it survives pickling and fork."""

import copy
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_text import ROLLOUT, model

import whorl

F32 = np.float32
pytestmark = pytest.mark.usefixtures("each_backend")


# ---- results belong to the caller --------------------------------------------------------------------------------

ALIASES = model("""
    main (float[2, 3] x, seq(float[2, 3]) items, int64 count) => (float[2, 3] same, float[3, 2] turned, float[6] flat,
        float[2, 3] fixed, float[2, 3] twice, seq(float[2, 3]) list, float[2, 3] carried, float[2, 3] other,
        float[count, 2, 3] rows, float[3] inner, float[3] branch) {
        same = Identity(x)
        turned = Transpose(x)
        six = Constant<value = int64[1] {6}> ()
        flat = Reshape(x, six)
        fixed = Constant<value = float[2, 3] {1, 2, 3, 4, 5, 6}> ()
        twice = Identity(same)
        list = SequenceInsert(items, x)
        carried, other, inner_first, rows = Loop (count, "", x, fixed, row) <
            body = step (int64 i, bool on, float[2, 3] a, float[2, 3] b, float[3] c)
            => (bool on_out, float[2, 3] a_out, float[2, 3] b_out, float[3] c_out, float[2, 3] row_out) {
            on_out = Identity(on)
            a_out = Identity(b)
            b_out = Identity(a)
            c_out = Constant<value = float[3] {7, 8, 9}> ()
            row_out = Identity(x)
        }>
        row = Constant<value = float[3] {0, 0, 0}> ()
        inner = Identity(inner_first)
        is_true = Constant<value = bool {1}> ()
        branch = If (is_true) <
            then_branch = a () => (float[3] t) { t = Constant<value = float[3] {4, 5, 6}> () },
            else_branch = b () => (float[3] e) { e = Identity(row) }
        >
    }""")


def feeds():
    x = np.arange(6, dtype=F32).reshape(2, 3)
    return {"x": x, "items": [x, x + 1], "count": np.array(2)}


def arrays(value):
    return [array for item in value for array in arrays(item)] if isinstance(value, list) else [value]


def same(actual, expected):
    return all(np.array_equal(a, b) for a, b in zip(arrays(actual), arrays(expected), strict=True))


def test_mutating_results_changes_neither_feeds_nor_each_other_nor_later_runs():
    session, passed = whorl.InferenceSession(ALIASES), feeds()
    expected = session.run(None, feeds())
    outputs = session.run(None, passed)
    results = arrays(outputs)
    for k, array in enumerate(results):
        others = results[:k] + results[k + 1 :]
        before = copy.deepcopy(others)
        array[...] = -99
        assert same(others, before)
    assert same([*passed.values()], [*feeds().values()])
    assert same(session.run(None, passed), expected)


def test_results_are_contiguous_and_writable():
    for array in arrays(whorl.InferenceSession(ALIASES).run(None, feeds())):
        assert array.flags.c_contiguous and array.flags.writeable and array.flags.owndata


def test_mutating_the_feeds_after_a_run_does_not_change_its_results():
    passed = feeds()
    outputs = whorl.InferenceSession(ALIASES).run(None, passed)
    expected = copy.deepcopy(outputs)
    for array in arrays([*passed.values()]):
        array[...] = 0
    assert same(outputs, expected)


def test_feeds_may_be_read_only():
    passed = feeds()
    passed["x"].flags.writeable = False
    whorl.InferenceSession(ALIASES).run(None, passed)


# ---- threads -----------------------------------------------------------------------------------------------------


def test_many_threads_run_one_session_with_right_results():
    session = whorl.InferenceSession(ROLLOUT)
    wrong = []

    def work(worker):
        random = np.random.default_rng(worker)
        for _ in range(30):
            count, table = int(random.integers(0, 13)), random.integers(0, 100, 12).astype(F32)
            (total,) = session.run(None, {"count": np.array(count), "table": table})
            if total != table[:count].sum():
                wrong.append((worker, count))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_failing_runs_do_not_disturb_the_ones_of_other_threads():
    session = whorl.InferenceSession(ROLLOUT)
    table, report = np.ones(12, F32), []

    def work(count):
        for _ in range(30):
            try:
                report.append((count, float(session.run(None, {"count": np.array(count), "table": table})[0])))
            except whorl.RunError as error:
                report.append((count, str(error)))

    threads = [threading.Thread(target=work, args=(count,)) for count in (3, 40, 12, 50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failure = "Gather 'read_row' in body of Loop 'rollout' (iteration 12): index 12 is outside [-12, 12) of axis 0"
    assert set(report) == {(3, 3.0), (12, 12.0), (40, failure), (50, failure)}


# ---- pickling, copying, fork -------------------------------------------------------------------------------------


def chain(length):
    nodes = [helper.make_node("Add", [f"v{k}", "one"], [f"v{k + 1}"]) for k in range(length)]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("v0", f"v{length}")]
    one = numpy_helper.from_array(np.ones(2, F32), "one")
    graph = helper.make_graph(nodes, "chain", infos[:1], infos[1:], [one])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=9)


@pytest.mark.slow
def test_session_of_a_long_chain_is_pickled():
    session = pickle.loads(pickle.dumps(whorl.InferenceSession(chain(20_000))))
    assert session.run(None, {"v0": np.zeros(2, F32)})[0].tolist() == [20_000, 20_000]


def test_pickled_session_keeps_options_and_what_it_tells():
    options = whorl.SessionOptions()
    options.max_iterations, options.intra_op_num_threads = 5, 3
    session = whorl.InferenceSession(ROLLOUT, options)
    for again in (pickle.loads(pickle.dumps(session)), copy.deepcopy(session), copy.copy(session)):
        assert again.get_inputs() == session.get_inputs() and again.get_modelmeta() == session.get_modelmeta()
        assert again.get_session_options().intra_op_num_threads == 3
        with pytest.raises(whorl.IterationLimitError):
            again.run(None, {"count": np.array(6), "table": np.zeros(12, F32)})


def nest(depth):
    """Branches in branches, innermost `x + 1`; protobuf itself reads no more than some thirty."""
    text = "y0 = Add(x, one)"
    for k in range(1, depth + 1):
        other = f"else_branch = e () => (float z{k}) {{ z{k} = Identity(x) }}"
        text = f"y{k} = If (yes) <then_branch = t () => (float y{k - 1}) {{ {text} }}, {other}>"
    constants = "one = Constant<value = float {1}> () yes = Constant<value = bool {1}> ()"
    return model(f"main (float x) => (float y{depth}) {{ {constants} {text} }}")


def test_deep_nest_runs_and_is_pickled():
    session = pickle.loads(pickle.dumps(whorl.InferenceSession(nest(30))))
    assert session.run(None, {"x": np.array(1, F32)}) == [2]


def test_nest_deeper_than_max_depth_is_refused():
    options = whorl.SessionOptions()
    options.max_depth = 5
    whorl.InferenceSession(nest(5), options)
    with pytest.raises(whorl.LoadError) as caught:
        whorl.InferenceSession(nest(6), options)
    assert str(caught.value) == "graphs are nested deeper than 5\n  fix: raise max_depth if the file is trusted"


@pytest.fixture
def external(tmp_path):
    """A chain whose weights lie in a file beside the model."""
    path = tmp_path / "model.onnx"
    proto = chain(3)
    proto.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.full(2, 0.5, F32), "one"))
    onnx.save(proto, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert (tmp_path / "weights.bin").stat().st_size == 8
    return path


def test_session_with_weights_beside_the_model_is_pickled(external, monkeypatch, tmp_path):
    monkeypatch.chdir(external.parent)
    data = pickle.dumps(whorl.InferenceSession(external.name))
    monkeypatch.chdir("/")
    assert pickle.loads(data).run(None, {"v0": np.zeros(2, F32)})[0].tolist() == [1.5, 1.5]


def test_pickle_whose_weights_are_gone_is_a_load_error(external):
    data = pickle.dumps(whorl.InferenceSession(external))
    (external.parent / "weights.bin").unlink()
    with pytest.raises(whorl.LoadError, match=r"external data 'weights.bin' cannot be read: .*No such file"):
        pickle.loads(data)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_session_runs_in_a_forked_child_too(external):
    rollout, weights = whorl.InferenceSession(ROLLOUT), whorl.InferenceSession(external)
    passed = {"count": np.array(4), "table": np.arange(12, dtype=F32)}
    assert rollout.run(None, passed) == [6]
    child = os.fork()
    if child == 0:
        right = rollout.run(None, passed) == [6]
        right = right and weights.run(None, {"v0": np.zeros(2, F32)})[0].tolist() == [1.5, 1.5]
        os._exit(0 if right else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert rollout.run(None, passed) == [6]


BESIDE = """
import faulthandler, os, threading, time
import numpy as np, whorl
from onnx import parser

ROLLOUT = parser.parse_model(''' <ir_version: 9, opset_import: ["" : 21]>
main (int64 M, float[n] x) => (float[n] y) {
  y = Loop(M, , x) <body = b (int64 i, bool k, float[n] a) => (bool k2, float[n] c) { k2 = Identity(k) c = Sin(a) }>
}''').SerializeToString()

def run(session, n):
    return session.run(None, {"M": np.array(3), "x": np.zeros(n, "f")})[0].tolist() == [0] * n

def compile_on():
    n = 0
    while not over.is_set():
        n += 1
        run(whorl.InferenceSession(ROLLOUT), n % 40 + 1)

def serve(n):
    faulthandler.dump_traceback_later(20, exit=True)
    os._exit(0 if run(session, 50 + n) and run(whorl.InferenceSession(ROLLOUT), 90 + n) else 1)

session, over = whorl.InferenceSession(ROLLOUT), threading.Event()
thread = threading.Thread(target=compile_on)
thread.start()
found = []
for n in range(8):
    time.sleep(0.02 * n)
    child = os.fork()
    if not child:
        serve(n)
    found.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
over.set()
thread.join()
print(found)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_child_of_a_fork_beside_a_compiling_thread_loads_compiles_and_runs():
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", BESIDE]
    done = subprocess.run(command, env=os.environ | {"WHORL_CACHE": ""}, capture_output=True, text=True, timeout=300)
    assert done.stdout == f"{[0] * 8}\n", done.stderr
