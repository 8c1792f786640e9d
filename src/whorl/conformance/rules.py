"""What the suite checks: the rules of control flow, in one sentence each."""

from __future__ import annotations

from whorl.conformance.files import read_json

Rule = int | str

RULES: dict[Rule, str] = {row["rule"]: row["says"] for row in read_json("suite")["rules"]}
