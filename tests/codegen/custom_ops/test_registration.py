"""RegisterCustomOps: one domain a process, and a version that is too old refused."""

from compilers import needs_linker

from codegen.custom_ops.fake_runtime import FakeRuntime, LoadedOps
from codegen.library.samples import library
from whorl.codegen.custom_ops.interface import API_VERSION, DOMAIN

pytestmark = needs_linker


def test_domain_is_made_once_and_added_to_each_session(tmp_path):
    runtime, ops = FakeRuntime([]), LoadedOps([library()], "Loop 'l'", tmp_path)
    assert [ops.register(runtime, options, API_VERSION + 5) for options in (8, 9)] == [None, None]
    assert runtime.domains == [DOMAIN]
    (domain, op), *added = runtime.added
    assert domain == 5000 and op and added == [(8, 5000), (9, 5000)]


def test_older_runtime_is_refused_with_a_text(tmp_path):
    runtime, ops = FakeRuntime([]), LoadedOps([library()], "Loop 'l'", tmp_path)
    assert [ops.register(runtime, newest=API_VERSION - 1) for _ in range(2)] == [1, 2]
    assert runtime.texts[0] == (1, f"the library needs onnxruntime of API version {API_VERSION} or newer")
    assert not runtime.domains
