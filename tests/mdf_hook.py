"""A pytest plugin: modeci_mdf's execution engine is whorl's from here on."""

import modeci_mdf.execution_engine
import modeci_mdf.interfaces.onnx.exporter

from whorl.formats.mdf import execution_engine

for name in ("EvaluableGraph", "EvaluableParameter", "EvaluableFunction", "EvaluableNode", "main"):
    setattr(modeci_mdf.execution_engine, name, getattr(execution_engine, name))
modeci_mdf.interfaces.onnx.exporter.EvaluableGraph = execution_engine.EvaluableGraph
