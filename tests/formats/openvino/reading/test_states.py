"""ReadValue and Assign: values that last between runs, in the net and in bodies, and the session's view of them."""

import pickle
import threading

import numpy as np
import pytest
from formats.openvino.ir_text import constant, graph, layer, loop, net, parameter, result

import whorl
from whorl.errors import RunError
from whorl.ir.verify import verify

X = np.array([1, 2], np.float32)
WEIGHTS = np.array([10, 20], np.float32).tobytes() + np.int64(3).tobytes() + b"\x01"
PAIR, THREE, TRUE = constant(20, 0, 8), constant(21, 8, 8, "", "i64"), constant(22, 16, 1, "", "boolean")


def read(inputs: int = 0, shape: str = "2", id: int = 1, variable: str = "v") -> str:
    data = {"variable_id": variable, "variable_type": "f32", "variable_shape": shape}
    return layer(id, "ReadValue", inputs, version="opset6", **data)


def assign(id: int = 3, variable: str = "v") -> str:
    return layer(id, "Assign", 1, version="opset6", variable_id=variable)


def running_sum(first: str = "", *constants: str) -> bytes:
    """y = the sum of all x so far; `first` is the edge to the ReadValue, if any."""
    layers = [parameter(0, name="x"), *constants, read(bool(first)), layer(2, "Add", 2, name="y"), assign(), result(4)]
    port = 1 if first else 0
    return net(layers, f"{first} 1:{port}-2:0 0:0-2:1 2:2-3:0 2:2-4:0")


def session(data: bytes, backend: str = "interpreter") -> whorl.InferenceSession:
    options = whorl.SessionOptions()
    options.backend = backend
    return whorl.InferenceSession(whorl.load(data, weights=WEIGHTS), options)


def run(session: whorl.InferenceSession, **feeds: np.ndarray) -> list[float]:
    return session.run(None, feeds or {"x": X})[0].tolist()


def test_state_without_a_first_value_begins_with_zeros(each_backend):
    summing = session(running_sum(), each_backend)
    verify(summing.module)
    assert [run(summing) for _ in range(3)] == [[1, 2], [2, 4], [3, 6]]


def test_first_value_may_be_a_constant():
    assert [run(session(running_sum("20:0-1:0", PAIR))) for _ in range(2)] == [[11, 22], [11, 22]]


def test_first_value_may_depend_on_inputs(each_backend):
    summing = session(running_sum("9:1-1:0", layer(9, "Negative", 1)).replace(b"</edges>", EDGE), each_backend)
    assert [run(summing), run(summing), run(summing, x=5 * X)] == [[0, 0], [1, 2], [6, 12]]
    summing.reset_state()
    assert run(summing, x=7 * X) == [0, 0]


EDGE = b'<edge from-layer="0" from-port="0" to-layer="9" to-port="0"/></edges>'


def test_state_that_grows_begins_empty():
    layers = [parameter(0, name="x"), read(shape="?"), layer(2, "Concat", 2, axis=0, name="y"), assign(), result(4)]
    growing = session(net(layers, "1:0-2:0 0:0-2:1 2:2-3:0 2:2-4:0"))
    assert [run(growing) for _ in range(3)] == [[1, 2], [1, 2, 1, 2], [1, 2] * 3]
    assert growing.get_state()["v"].shape == (6,)


def test_inputs_and_outputs_do_not_list_states():
    summing = session(running_sum("20:0-1:0", PAIR))
    assert [value.name for value in summing.get_inputs()] == ["x"]
    assert [value.name for value in summing.get_outputs()] == ["y"]
    assert summing.get_overridable_initializers() == []
    assert summing.module.output_names == ["y", "v.next"] and summing.module.visible_outputs == ["y"]


def test_states_may_be_read_set_and_reset():
    summing = session(running_sum("20:0-1:0", PAIR))
    assert summing.get_state() == {"v": None}
    run(summing)
    assert summing.get_state()["v"].tolist() == [11, 22]
    summing.set_state({"v": [5, 6]})
    assert run(summing) == [6, 8]
    summing.reset_state("v")
    assert run(summing) == [11, 22]


def test_states_supplied_out_are_copies():
    summing = session(running_sum())
    (first,) = summing.run(None, {"x": X})
    first[:], summing.get_state()["v"][:] = 99, 99
    supplied = np.array([3, 4], np.float32)
    assert run(summing) == [2, 4]
    summing.set_state({"v": supplied})
    supplied[:] = 99
    assert run(summing) == [4, 6]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"w": X}, "the model has no state 'w'\n  fix: choose from v"),
        ({"v": np.zeros(3, np.float32)}, "state 'v' has shape [3], expected float32[2]\n  fix: reshape the array"),
        ({"v": np.zeros(2, np.int64)}, "state 'v' is int64[2], expected float32[2]"),
        ([1], "the states are list, expected a dictionary\n  fix: write {name: array}"),
    ],
)
def test_wrong_state_is_refused_and_changes_nothing(values, message):
    summing = session(running_sum())
    run(summing)
    with pytest.raises(RunError) as error:
        summing.set_state(values)
    assert str(error.value).startswith(message) and run(summing) == [2, 4]


def test_reset_of_an_unknown_state_is_refused():
    with pytest.raises(RunError, match="the model has no state 'w'"):
        session(running_sum()).reset_state("w")


def test_failed_run_leaves_states_as_they_were():
    summing = session(running_sum())
    run(summing)
    with pytest.raises(RunError):
        run(summing, x=np.zeros(3, np.float32))
    assert run(summing) == [2, 4]


def test_state_may_be_fed_for_one_run():
    assert run(session(running_sum()), x=X, v=np.array([5, 5], np.float32)) == [6, 7]


def test_runs_of_threads_follow_one_another():
    summing = session(running_sum())
    threads = [threading.Thread(target=lambda: [run(summing) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert summing.get_state()["v"].tolist() == [200, 400]


def test_pickled_session_begins_anew():
    summing = session(running_sum("20:0-1:0", PAIR))
    run(summing)
    assert run(pickle.loads(pickle.dumps(summing))) == [11, 22]


def test_two_results_of_a_state_before_and_after():
    layers = [parameter(0, name="x"), read(), layer(2, "Add", 2), assign(), result(4), result(5)]
    both = session(net(layers, "1:0-2:0 0:0-2:1 2:2-3:0 1:0-4:0 3:1-5:0"))
    both.run(None, {"x": X})
    assert [value.tolist() for value in both.run(None, {"x": X})] == [[1, 2], [2, 4]]


def test_onnx_has_states_as_inputs_and_outputs(tmp_path):
    module = whorl.load(running_sum("20:0-1:0", PAIR), weights=WEIGHTS)
    whorl.save(module, tmp_path / "m.onnx")
    first = whorl.run(tmp_path / "m.onnx", {"x": X})
    second = whorl.run(tmp_path / "m.onnx", {"x": X, "v": first["v.next"]})
    assert first["y"].tolist() == [11, 22] and second["y"].tolist() == [12, 24]


def test_optimized_model_keeps_its_states():
    summing = whorl.InferenceSession(whorl.optimize(whorl.load(running_sum("20:0-1:0", PAIR), weights=WEIGHTS)))
    assert [run(summing), run(summing)] == [[11, 22], [12, 24]]


def test_written_again_states_are_states(tmp_path):
    for first in ("", "20:0-1:0", "0:0-1:0"):
        whorl.save(whorl.load(running_sum(first, PAIR), weights=WEIGHTS), tmp_path / "m.xml")
        again, before = whorl.InferenceSession(tmp_path / "m.xml"), session(running_sum(first, PAIR))
        assert [run(again), run(again)] == [run(before), run(before)]


def test_library_takes_states_as_inputs_and_gives_them_as_outputs(tmp_path):
    module = whorl.load(running_sum("20:0-1:0", PAIR), weights=WEIGHTS)
    whorl.compile(module, tmp_path / "summing.so")
    library = whorl.load_compiled(tmp_path / "summing.so")
    assert [value.tolist() for value in library.run(None, {"x": X, "v": X})] == [[2, 4], [2, 4]]


# ---- in bodies -----------------------------------------------------------------------------------------------------


def body_with_state(first: str, *constants: str) -> bytes:
    """Three iterations, each of which adds x to the state and collects it."""
    maps = (
        '<input external_port_id="2" internal_layer_id="0"/>'
        '<output external_port_id="3" internal_layer_id="4"/>'
        '<output external_port_id="-1" internal_layer_id="5" purpose="execution_condition"/>'
    )
    inside = [parameter(0), *constants, TRUE, read(bool(first)), layer(2, "Add", 2), assign(), result(4), result(5)]
    body = graph(inside, f"{first} 1:{int(bool(first))}-2:0 0:0-2:1 2:2-3:0 2:2-4:0 22:0-5:0")
    layers = [parameter(0, name="x"), THREE, TRUE, loop(1, maps, "", body, 3).replace("loop1", "y"), result(2)]
    return net(layers, "21:0-1:0 22:0-1:1 0:0-1:2 1:3-2:0")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (body_with_state(""), [[3, 6], [6, 12]]),
        (body_with_state("20:0-1:0", PAIR), [[13, 26], [16, 32]]),
        (body_with_state("0:0-1:0"), [[4, 8], [7, 14]]),
    ],
    ids=["zeros", "constant", "computed"],
)
def test_state_in_a_body_lasts_over_iterations_and_runs(data, expected, each_backend):
    looping = session(data, each_backend)
    verify(looping.module)
    assert [run(looping), run(looping)] == expected
    assert looping.get_state()["v"].tolist() == expected[1] and list(looping.get_state()) == ["v"]
    looping.reset_state()
    assert [run(looping), run(looping)] == expected
    looping.set_state({"v": np.zeros(2, np.float32)})
    assert run(looping) == [3, 6]


def test_state_that_a_body_computes_first_is_not_set_where_no_iteration_runs():
    data = body_with_state("0:0-1:0")
    weights = WEIGHTS[:8] + np.int64(0).tobytes() + WEIGHTS[16:]
    module = whorl.load(data, weights=weights)
    assert [state.name for state in module.states] == ["v", "v.is_set"]
    optional = whorl.InferenceSession(module)
    with pytest.raises(RunError, match="no iteration ran"):
        optional.run(None, {"x": X})
    assert optional.get_state() == {"v": None}


# ---- what is refused -----------------------------------------------------------------------------------------------


def test_state_in_a_branch_changes_where_the_branch_is_taken(each_backend):
    then = graph([parameter(0), read(), layer(2, "Add", 2), assign(), result(4)], "1:0-2:0 0:0-2:1 2:2-3:0 2:2-4:0")
    otherwise = graph([parameter(0), result(4)], "0:0-4:0")
    entry = '<input external_port_id="1" internal_layer_id="0"/><output external_port_id="2" internal_layer_id="4"/>'
    inside = "".join(
        f"<{name}_port_map>{entry}</{name}_port_map><{name}_body>{body}</{name}_body>"
        for name, body in (("then", then), ("else", otherwise))
    )
    choice = layer(1, "If", 2, version="opset8", inside=inside, name="y")
    layers = [parameter(0, name="x"), parameter(9, "", "boolean", "go"), choice, result(2)]
    branching = session(net(layers, "9:0-1:0 0:0-1:1 1:2-2:0"), each_backend)
    taken = [run(branching, x=X, go=np.array(go)) for go in (True, False, True)]
    assert taken == [[1, 2], [1, 2], [2, 4]] and branching.get_state()["v"].tolist() == [2, 4]
