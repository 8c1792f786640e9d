"""onnxruntime's exceptions: the classes that whorl raises in their place."""

from whorl.errors import CancelledError as ModelLoadCanceled
from whorl.errors import FeedError, LoadError, RunError, UnsupportedError, WhorlError

Fail = EngineError = EPFail = WhorlError
InvalidArgument = RuntimeException = RunError
InvalidGraph = InvalidProtobuf = NoModel = NoSuchFile = LoadError
NotImplemented = UnsupportedError

__all__ = [
    "EPFail",
    "EngineError",
    "Fail",
    "FeedError",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "ModelLoadCanceled",
    "NoModel",
    "NoSuchFile",
    "NotImplemented",
    "RuntimeException",
]
