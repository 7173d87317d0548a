"""``python -m tests.oracle.sweep``: every call of the menu, one by one."""

import argparse
import sys
from collections.abc import Iterable, Iterator

from tests.oracle import (
    menu,
    menu_calls,
    menu_crossing,
    menu_special,
    menu_structure,
    menu_views,
)
from tests.oracle.cases import Case, case, failures
from tests.oracle.fuzz import missing_names
from tests.oracle.prelude import PRELUDE
from vtgrad.testing.program import script
from vtgrad.testing.session import Run
from vtgrad.testing.steps import Line

SIGNS = ("+", "-", "*", "/", "**", "//", "%", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^")
REDUCTIONS = (
    "sum mean prod max min amax amin argmax argmin any all var std norm logsumexp softmax"
    " log_softmax cumsum cumprod"
).split()


def promotion(op: str) -> Iterator[tuple[Line, ...]]:
    """All pairs of dtypes for a binary operator, with arrays, 0-d tensors and numbers."""
    for left in menu.DTYPES:
        for right in menu.DTYPES:
            yield tuple(
                Line(text, (f"t{k}",), "", f"{op} {left} {right}")
                for k, text in enumerate(
                    (
                        f"vt.tensor([1, 2], dtype=vt.{left})",
                        f"vt.tensor([2, 1], dtype=vt.{right})",
                        f"vt.tensor(1, dtype=vt.{left})",
                        f"vt.tensor(2, dtype=vt.{right})",
                        f"vt.{op}(t0, t1)",
                        f"vt.{op}(t0, t3)",
                        f"vt.{op}(t2, t1)",
                        f"vt.{op}(t2, t3)",
                        f"t0.clone().{op}_(t1)" if op not in menu.WITHOUT_INPLACE else "t0",
                    )
                )
            )


def unary_dtypes(op: str) -> Iterator[tuple[Line, ...]]:
    """A function of one tensor on every dtype."""
    for dtype in menu.DTYPES:
        texts = (
            f"vt.tensor([[0, 1], [1, 1]], dtype=vt.{dtype})",
            f"vt.{op}(t0)",
            f"vt.{op}(t0.t()[0])",
            f"vt.{op}(vt.tensor(1, dtype=vt.{dtype}))",
            f"t0.clone().{op}_()" if op not in menu.WITHOUT_INPLACE else "t0",
        )
        yield tuple(Line(t, (f"t{k}",), "", f"{op} {dtype}") for k, t in enumerate(texts))


def reduction_dtypes(op: str) -> Iterator[tuple[Line, ...]]:
    """A reduction on every dtype."""
    for dtype in menu.DTYPES:
        head = (
            Line(f"vt.tensor([[0, 1, 1], [1, 0, 1]], dtype=vt.{dtype})", ("t0",)),
            Line(f"vt.zeros((0, 2), dtype=vt.{dtype})", ("t1",)),
            Line(f"vt.tensor(1, dtype=vt.{dtype})", ("t2",)),
        )
        pair = "[0]" if op in ("max", "min") else ""
        for call in (
            f"t0.{op}()", f"t0.{op}(0){pair}", f"t0.{op}(-1, keepdim=True){pair}", f"t1.{op}()",
            f"t1.{op}(0){pair}", f"t1.{op}(1){pair}", f"t2.{op}()", f"t2.{op}(0){pair}",
        ):  # fmt: skip
            yield (*head, Line(call, ("t3",), "", f"{op} {dtype}"))


def setitem(target: str, index: str, value: str) -> str:
    """``x[index] = value`` as an expression: the method call, then the written tensor."""
    inside = "(" + index + ",)" if "," in index else index
    key = f"L_index[{index}]" if ":" in index or "..." in index else inside
    key = key.replace("L_index[", "__import__('numpy').index_exp[")
    if key.startswith("__import__") and "," not in index:
        key += "[0]"
    return f"[{target}.__setitem__({key}, {value}), {target}][1]"


def calls() -> dict[str, Iterable[str]]:
    """The single calls by operator."""
    found: dict[str, Iterable[str]] = {}
    for op in (*menu.UNARY, *menu.TESTS):
        found[op] = menu.unary(op)
    for op in menu.BINARY:
        found[op] = menu.binary(op)
    for sign in SIGNS:
        found[f"operator {sign}"] = menu.operators(sign)
    for op in REDUCTIONS:
        found[op] = menu.reduction(op)
    for op, texts in {**menu_calls.CALLS, **menu_special.CALLS}.items():
        found[f"{op} calls"] = texts
    for op, texts in menu_structure.STRUCTURE.items():
        found[f"{op} structure"] = texts
    for op, texts in menu_views.VIEWS.items():
        found[f"{op} views"] = texts
    found["getitem"] = menu_views.GETITEM
    found["setitem"] = (setitem(*parts) for parts in menu_views.SETITEM)
    found["creation"] = menu_views.CREATION
    found["random"] = menu_views.RANDOM
    found["bridge"] = menu_views.BRIDGE
    return found


def groups() -> dict[str, Iterator[Case]]:
    """The programs of these calls."""
    return {op: map(case, texts) for op, texts in calls().items()}


def programs() -> dict[str, Iterator[tuple[Line, ...]]]:
    """The dtype tables by operator."""
    found: dict[str, Iterator[tuple[Line, ...]]] = {}
    for op in menu.BINARY:
        found[f"{op} dtypes"] = promotion(op)
    for op in (*menu.UNARY, *menu.TESTS):
        found[f"{op} dtypes"] = unary_dtypes(op)
    for op in REDUCTIONS:
        found[f"{op} dtypes"] = reduction_dtypes(op)
    found["crossing writes"] = menu_crossing.crossing()
    found["crossing numbers"] = menu_crossing.numbers()
    found["crossing gradients"] = menu_crossing.recorded()
    return found


def all_groups() -> dict[str, Iterator[Case]]:
    """Single calls and dtype tables."""
    tables = {
        name: (Case(program[-1].op, program) for program in table)
        for name, table in programs().items()
    }
    return {**groups(), **tables}


def describe(one: Case, run: Run, peer: str) -> str:
    """A failed case in a few lines."""
    lines = [f"### {one.call}   [{run.signature}]"]
    lines += [f"    {divergence}" for divergence in run.divergences[:2]]
    lines.append(script(run.steps, peer, prelude=PRELUDE) if len(run.steps) < 12 else "")
    return "\n".join(lines)


def main() -> int:
    """Print the calls that differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*")
    parser.add_argument("--peer", default="vtgrad")
    parser.add_argument("--show", type=int, default=3, help="failures to print for each group")
    parser.add_argument("--brief", action="store_true", help="one line for each failure")
    options = parser.parse_args()
    missing = missing_names(options.peer)
    total = bad = 0
    for name, cases in all_groups().items():
        if options.groups and not any(
            name.split()[0] == wanted or name == wanted for wanted in options.groups
        ):
            continue
        if name.split()[0] in missing:
            print(f"{name}: missing")
            continue
        listed = list(cases)
        found = failures(listed, options.peer)
        total += len(listed)
        bad += len(found)
        if found:
            print(f"\n{name}: {len(found)} of {len(listed)} differ")
        for one, run in found[: options.show]:
            if options.brief:
                first = run.divergences[0]
                pair = f"{str(first.expected)[:150]} / {str(first.found)[:150]}"
                print(f"  {one.call}: {first.where}.{first.what} {pair}")
                continue
            print(describe(one, run, options.peer))
    print(f"{bad} of {total} calls differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
