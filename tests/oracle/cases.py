"""Single calls of operators as small programs: operands, the call, its first two derivatives.

A call is written with the letters of a fixed set of operands and ``L`` for the library, for example
``L.exp({a})`` or ``{a}.mul({p})``.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tests.oracle.torch_judge import replay
from vtgrad.testing.session import Run
from vtgrad.testing.steps import Line

_LETTER = re.compile(r"\{(\w+)\}")
_LIBRARY = re.compile(r"\bL\.")
_FLOATS = "[[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]]"
_OTHERS = "[[1.0, 2.0, -0.5], [0.5, 3.0, 1.5]]"
_CUBE = "[[[0.5, 1.0], [-1.5, 2.0], [0.25, 1.0]], [[3.0, -0.5], [1.5, 1.0], [0.5, 2.5]]]"


def _leaf(values: str, dtype: str = "float64") -> str:
    return f"vt.tensor({values}, dtype=vt.{dtype}, requires_grad=True)"


# Letter: how the operand is made; the first line is the leaf, later ones start from ``_``.
OPERANDS: dict[str, tuple[str, ...]] = {
    "a": (_leaf(_FLOATS),),
    "b": (_leaf(_OTHERS),),
    "c": (_leaf("[[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]]"), "_.clone()"),
    "u": (_leaf("[[0.25, -0.5, 0.75], [0.125, 0.5, -0.25]]"),),
    "pos": (_leaf("[[0.5, 1.25, 2.0], [1.5, 0.75, 3.5]]"),),
    "p": (_leaf("[[0.5, 1.0], [-1.25, 2.0], [2.0, -0.5]]"), "_.t()"),
    "g": (_leaf("[[0.5, 1.0, 2.0], [9.0, 9.0, 9.0], [1.5, -2.0, 0.25]]"), "_[::2]"),
    "x": (_leaf("[[0.5], [-1.5]]"), "_.expand(2, 3)"),
    "v": (_leaf("[1.0, -2.0, 0.5]"),),
    "w": (_leaf("[0.5, 1.5, 2.0]"),),
    "col": (_leaf("[[1.5], [-0.5]]"),),
    "s": (_leaf("0.75"),),
    "o": (_leaf("[2.5]"),),
    "k": (_leaf(_CUBE),),
    "q": (_leaf(_CUBE), "_.permute(2, 0, 1)"),
    "sq": (_leaf("[[2.0, 0.5, 1.0], [0.25, 1.5, -1.0], [0.5, 0.75, 3.0]]"),),
    "ties": (_leaf("[[2.0, 2.0, 1.0], [1.0, 2.0, 1.0]]"),),
    "zero": (_leaf("[[0.0, 2.0, 3.0], [0.0, 0.0, 1.5]]"),),
    "nan": (_leaf("[[nan, 2.0, nan], [1.0, inf, -inf]]"),),
    "e": ("vt.zeros((0, 3), dtype=vt.float64, requires_grad=True)",),
    "f": (_leaf(_OTHERS, "float32"),),
    "h": (_leaf(_OTHERS, "float16"),),
    "z": (_leaf("[[0.5+1j, -1.25, 2j], [1.5, 0.75-0.5j, -0.5]]", "complex128"),),
    "i": ("vt.tensor([[3, -1, 2], [0, 5, 4]])",),
    "j": ("vt.tensor([[1, 2, 3], [2, 1, 2]], dtype=vt.int32)",),
    "n": ("vt.tensor([[3, 0, 200], [7, 5, 1]], dtype=vt.uint8)",),
    "m": ("vt.tensor([[True, False, True], [False, False, True]])",),
    "mv": ("vt.tensor([True, False, True])",),
    "ix": ("vt.tensor([[0, 1, 1], [1, 0, 0]])",),
    "iv": ("vt.tensor([2, 0])",),
    "A": (_leaf(_FLOATS), "_.clone()"),
    "P": (_leaf("[[0.5, 1.0], [1.25, 2.0], [2.0, 0.5]]"), "_.clone()", "_.t()"),
    "V": (_leaf("[[9.0, 9.0, 9.0], [0.5, 1.0, 2.0], [1.5, 2.0, 0.25]]"), "_.clone()", "_[1:]"),
    "K": (_leaf(_CUBE), "_.clone()"),
    "S": (_leaf("[[2.0, 0.5, 1.0], [0.25, 1.5, -1.0], [0.5, 0.75, 3.0]]"), "_.clone()"),
    "W": (_leaf("[0.5, 1.5, 2.0]"), "_.clone()"),
    "Z": (_leaf("[[0.5+1j, -1.25, 2j], [1.5, 0.75-0.5j, -0.5]]", "complex128"), "_.clone()"),
    "O": ("vt.zeros((2, 3), dtype=vt.float64)",),
    "OF": ("vt.zeros((2, 3), dtype=vt.float32)",),
    "OI": ("vt.zeros((2, 3), dtype=vt.int64)",),
    "OE": ("vt.empty((0,), dtype=vt.float64)",),
    "OT": ("vt.zeros((3, 2), dtype=vt.float64)", "_.t()"),
}


@dataclass(frozen=True)
class Case:
    """One call and the program around it."""

    call: str
    program: tuple[Line, ...]


def case(call: str, *, derivatives: bool = True, mode: str = "") -> Case:
    """The program of a call.

    Parameters
    ----------
    call : str
        An expression with the letters of operands in braces.
    derivatives : bool
        Whether to differentiate the result once and twice.
    mode : str
        A grad mode for the call itself.
    """
    steps: list[Line] = []
    names: dict[str, str] = {}
    leaves: list[str] = []
    count = 0

    def bind(text: str, op: str = "operand", backward: bool = False) -> str:
        nonlocal count
        name = f"t{count}"
        count += 1
        steps.append(Line(text, (name,), "", op, backward))
        return name

    for letter in dict.fromkeys(_LETTER.findall(call)):
        first, *rest = OPERANDS[letter]
        name = bind(first.replace("nan", "float('nan')").replace("inf", "float('inf')"))
        if "requires_grad" in first:
            leaves.append(name)
        for text in rest:
            name = bind(re.sub(r"\b_(?=[.\[])", name, text))
        names[letter] = name
    text = _LETTER.sub(lambda found: names[found[1]], call)
    text = _LIBRARY.sub("vt.", text)
    result = f"t{count}"
    count += 1
    steps.append(Line(text, (result,), mode, call))
    if derivatives and leaves:
        wanted = "[" + ", ".join(leaves) + "]"
        pick = "[0]" if len(leaves) == 1 else ""
        first_defs = tuple(f"t{count + k}" for k in range(len(leaves)))
        second_defs = tuple(f"t{count + len(leaves) + k}" for k in range(len(leaves)))
        options = "allow_unused=True, create_graph=True"
        gradient = f"vt.autograd.grad({result}, {wanted}, grad_outputs=ramp({result}), {options})"
        steps.append(
            Line(f"[dense(g) for g in {gradient}]{pick}", first_defs, "", call, backward=True)
        )
        total = first_defs[0]
        again = (
            f"vt.autograd.grad({total}, {wanted}, grad_outputs=ramp({total}), allow_unused=True)"
        )
        steps.append(
            Line(f"[dense(g) for g in {again}]{pick}", second_defs, "", call, backward=True)
        )
    return Case(call, tuple(steps))


def failures(cases: Iterable[Case], peer: str) -> list[tuple[Case, Run]]:
    """The cases whose programs diverge."""
    found = []
    for one in cases:
        run = replay(one.program, peer, "always")
        if run.divergences:
            found.append((one, run))
    return found
