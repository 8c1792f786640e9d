"""Where older ONNX versions of an op differ from the hub's, for reading and for writing; one file a family of ops."""
