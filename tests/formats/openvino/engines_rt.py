from pathlib import Path
import tempfile
import whorl
from formats.openvino.through_ir import CORE, HINTS, tensor_of, array_of


def load(text):
    path = Path(text.decode())
    module = whorl.load(path)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "m.xml"
        whorl.save(module, out)
        model = CORE.read_model(out)
    ready = CORE.compile_model(model, "CPU", HINTS)

    def run(inputs):
        request = ready.create_infer_request()
        held = []
        for k, port in enumerate(ready.inputs):
            names = {*port.get_names(), port.get_node().get_friendly_name()}
            v = [v for n, v in inputs.items() if n in names]
            if not v:
                v = [inputs[str(k)]] if str(k) in inputs else [list(inputs.values())[k]]
            t = tensor_of(v[0])
            held.append(t)
            request.set_input_tensor(k, t)
        request.infer()
        return [array_of(request.get_output_tensor(k)) for k in range(len(ready.outputs))]

    return run
