"""Single ops for all rows at once, beside a loop that computes row after row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from passes.bits import assert_same_bits, interpreted
from passes.programs import read
from passes.vectorize.programs import check

from whorl.ir import dims
from whorl.ir.verify import verify
from whorl.passes.vectorize.modules import map_module

ROWS = (0, 1, 3)


def program(op: str, operands: Sequence[str], result: str, mapped: Sequence[bool], fixed: Mapping[int, str]) -> str:
    """A loop over the rows of the mapped operands, whose body is one op: `op` with {0}, {1} ... for its operands.

    `fixed` are the elements of those that are constants of the body. There is a row where rows share integers: these
    may be indices, which fail for no rows, too.
    """
    shared = [each for k, each in enumerate(operands) if not mapped[k] and k not in fixed]
    rows = "1 + n" if any(each.startswith(("int32", "int64")) for each in shared) else "n"
    names = [f"x{k}" for k in range(len(operands))]
    types = [each.partition("[") for each in operands]
    outer = [
        f"%{name}: {dtype}[{rows}{', ' if len(rest) > 1 else ''}{rest}" if is_mapped else f"%{name}: {dtype}[{rest}"
        for name, (dtype, _, rest), is_mapped in zip(names, types, mapped, strict=True)
    ]
    order = sorted((k for k in range(len(names)) if k not in fixed), key=lambda k: not mapped[k])
    constants = "".join(f"%x{k}: {operands[k]} = Constant() {{value = {operands[k]} {fixed[k]}}}\n" for k in fixed)
    inner = [f"%{names[k]}: {operands[k]}" for k in order]
    scanned = ", ".join("Scanned()" for k in mapped if k)
    inputs = "".join(f", %{names[k]}" for k in order)
    arguments = ", ".join(each for k, each in enumerate(outer) if k not in fixed)
    return f"""main({arguments}) {{
      %r: {result} = Loop(_, _{inputs}) {{scanned = ({scanned},), collected = (Collected(),)}}
      body(%i: int64[], %g: bool[], {", ".join(inner)}) {{
        {constants}%y: {result} = {op.format(*(f"%{name}" for name in names))}
        return %g, %y
      }}
      return r = %r
    }}"""


def check_op(
    op: str,
    operands: Sequence[np.ndarray],
    mapped: Sequence[bool],
    result: str = "float32[*]",
    constants: Sequence[int] = (),
) -> None:
    """The op gives the bits that it gives row by row; `operands` are those of one row, and each row has other ones.

    `constants` are the numbers of those that the body fixes.
    """
    types = [f"{x.dtype}[{', '.join(map(str, x.shape))}]" for x in operands]
    fixed = {k: f"<{' '.join(map(str, operands[k].ravel().tolist()))}>" for k in constants}
    text = program(op, types, result, mapped, fixed)
    feeds = []
    for count in ROWS[1 if "1 + n" in text else 0 :]:
        turned = [
            np.stack([np.roll(x, k) for k in range(count)]) if count else np.zeros((0, *x.shape), x.dtype)
            for x in operands
        ]
        pairs = zip(operands, turned, mapped, strict=True)
        every = {f"x{k}": rows if is_mapped else x for k, (x, rows, is_mapped) in enumerate(pairs)}
        feeds.append({name: x for name, x in every.items() if int(name[1:]) not in constants})
    check(text, *feeds)


def check_rows(
    op: str,
    operands: Sequence[np.ndarray],
    mapped: Sequence[bool],
    result: str = "float32[*]",
    constants: Sequence[int] = (),
) -> None:
    """As `check_op`, of a whole model instead of a loop, which may have lengths that only the run knows."""
    names = [f"x{k}" for k in range(len(operands))]
    typed = [f"{x.dtype}[{', '.join(map(str, x.shape))}]" for x in operands]
    inputs = [f"%{name}: {type}" for k, (name, type) in enumerate(zip(names, typed, strict=True)) if k not in constants]
    elements = {k: " ".join(map(str, operands[k].ravel().tolist())) for k in constants}
    fixed = "".join(f"%x{k}: {typed[k]} = Constant() {{value = {typed[k]} <{each}>}}\n" for k, each in elements.items())
    body = op.format(*(f"%{name}" for name in names))
    module = read(f"main({', '.join(inputs)}) {{\n {fixed} %y: {result} = {body}\n return y = %y\n}}")
    axes = {name: 0 if is_mapped else None for name, is_mapped in zip(names, mapped, strict=True)}
    batched = map_module(module, axes, {"y": 0}, dims.name("rows"))
    verify(batched)
    for count in (0, 1, 3):
        turned = {
            name: [np.roll(x, k if is_mapped else 0) for k in range(max(count, 1))]
            for name, x, is_mapped in zip(names, operands, mapped, strict=True)
        }
        expected = [
            interpreted(module, dict(zip(names, row, strict=True))) for row in zip(*turned.values(), strict=True)
        ]
        feeds = {name: np.stack(rows)[:count] if axes[name] == 0 else rows[0] for name, rows in turned.items()}
        results = [y for outputs in expected for y in outputs or ()]
        assert len(results) == len(expected)
        assert_same_bits([np.stack(results)[:count]], interpreted(batched, feeds))
