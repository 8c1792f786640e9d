"""XML files of modelspec."""

from whorl.formats.mdf.files import read_mdf


def test_xml_of_modelspec_is_read(tmp_path):
    text = """<?xml version="1.0" encoding="UTF-8"?>
    <Model id="m"><Graph id="g"><Node id="A">
      <InputPort id="x" shape="(2, 3)" type="float"/>
      <Parameter id="k" value="[1, 2.5]"/><Parameter id="s" value="k * 2"/><Parameter id="n" value="3"/>
      <OutputPort id="y" value="s"/></Node>
      <Node id="B"><InputPort id="x"/></Node>
      <Edge id="e" sender="A" receiver="B" sender_port="y" receiver_port="x"/>
      <conditions/></Graph></Model>"""
    (tmp_path / "m.xml").write_text(text)
    graph = read_mdf(tmp_path / "m.xml").graphs["g"]
    assert {id: each.value for id, each in graph.nodes["A"].parameters.items()} == {"k": [1, 2.5], "s": "k * 2", "n": 3}
    assert (graph.nodes["A"].input_ports["x"].shape, graph.edges["e"].receiver) == ((2, 3), "B")
