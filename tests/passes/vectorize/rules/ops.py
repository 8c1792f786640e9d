"""Single ops for all rows at once, beside a loop that computes row after row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from passes.vectorize.programs import check

ROWS = (0, 1, 3)


def program(op: str, operands: Sequence[str], result: str, mapped: Sequence[bool], fixed: Mapping[int, str]) -> str:
    """A loop over the rows of the mapped operands, whose body is one op: `op` with {0}, {1} ... for its operands.

    `fixed` are the elements of those that are constants of the body.
    """
    names = [f"x{k}" for k in range(len(operands))]
    types = [each.partition("[") for each in operands]
    outer = [
        f"%{name}: {dtype}[n{', ' if len(rest) > 1 else ''}{rest}" if is_mapped else f"%{name}: {dtype}[{rest}"
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
    for count in ROWS:
        turned = [
            np.stack([np.roll(x, k) for k in range(count)]) if count else np.zeros((0, *x.shape), x.dtype)
            for x in operands
        ]
        pairs = zip(operands, turned, mapped, strict=True)
        every = {f"x{k}": rows if is_mapped else x for k, (x, rows, is_mapped) in enumerate(pairs)}
        feeds.append({name: x for name, x in every.items() if int(name[1:]) not in constants})
    check(text, *feeds)
