"""YAML to plain data and back: no tags, no aliases that multiply, no dates, no ids that stand twice."""

from __future__ import annotations

from typing import Any

from whorl.errors import LoadError, SaveError

try:
    import yaml
except ImportError:
    yaml: Any = None

MAX_EXPANSION = 1_000_000
"""The number of nodes that aliases may make of a file, unless it has a tenth of them without."""
PLAIN_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "seq", "map", "merge")}
_FIX = "install whorl[mdf], or use JSON"


def data_of_yaml(content: bytes) -> object:
    """The data of a YAML file. Errors: LoadError."""
    if yaml is None:
        raise LoadError("YAML files need pyyaml", fix=_FIX)
    text = content.decode("utf-8-sig")
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            return None
        count, expanded = _Walk().sizes(root)
        if expanded > max(MAX_EXPANSION, 10 * count):
            raise LoadError("its aliases multiply without end", fix="write out what the aliases stand for")
        return loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise LoadError(f"it is not YAML: {error.problem or error.context}", where) from None
    except (yaml.YAMLError, ValueError) as error:
        raise LoadError(f"it is not YAML: {error}") from None


def yaml_text(data: object) -> str:
    """Plain data as YAML, in the order that it has."""
    if yaml is None:
        raise SaveError("YAML files need pyyaml", fix=_FIX)

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

    try:
        return yaml.dump(data, Dumper=Dumper, sort_keys=False, indent=4, allow_unicode=True)
    except yaml.YAMLError as error:
        raise SaveError(f"a value of the model has no form in YAML: {error}") from None


class _Walk:
    """Goes once through the nodes of a file."""

    def __init__(self) -> None:
        self.expanded: dict[int, int] = {}

    def sizes(self, root: Any) -> tuple[int, int]:
        """How many nodes there are, and how many with every alias written out."""
        expanded = self.size(root)
        return len(self.expanded), expanded

    def size(self, node: Any) -> int:
        data = self.expanded.get(id(node))
        where = f"line {node.start_mark.line + 1}"
        if data == 0:
            raise LoadError("an alias stands inside what it names", where)
        if data is not None:
            return data
        self.expanded[id(node)] = 0
        if isinstance(node, yaml.ScalarNode):
            self.scalar(node, where)
            children = []
        elif isinstance(node, yaml.MappingNode):
            self.keys(node)
            children = [child for pair in node.value for child in pair]
        else:
            children = node.value
        if node.tag not in PLAIN_TAGS:
            raise LoadError(f"it has the tag {node.tag!r}", where, "write numbers, texts, lists and objects")
        self.expanded[id(node)] = size = 1 + sum(map(self.size, children))
        return size

    def scalar(self, node: Any, where: str) -> None:
        """A date is a text here, as it is in JSON."""
        if node.tag == "tag:yaml.org,2002:timestamp":
            node.tag = "tag:yaml.org,2002:str"

    def keys(self, node: Any) -> None:
        keys = set()
        for key, _ in node.value:
            where = f"line {key.start_mark.line + 1}"
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                text = key.value if isinstance(key, yaml.ScalarNode) else "a list"
                raise LoadError(f"the key {text} is not a text", where, "put it in quotes")
            if key.value in keys:
                raise LoadError(f"the id {key.value!r} stands twice in one object", where, "give each its own id")
            keys.add(key.value)
