"""Writing the forward formulas: the tangents of results, from those of the arguments.

The formulas get arguments, tangents and results by name, as `ForwardFormula` says; see `forward`
in ``ops/table/README.md``. Operators that compute element by element have a second formula,
over arrays, which reuses the memory of intermediate results; see Note [Tangents over arrays]. The
handler finds them by the name of the row, see Note [One record for each operator].
"""

import ast
import re
from collections.abc import Mapping
from typing import Final

from vtgrad.codegen.formula import ARRAYS, TENSORS, Evaluation, Names, check_names, translate
from vtgrad.codegen.language import Operator, TableError
from vtgrad.codegen.library import Library
from vtgrad.codegen.memory_reuse import is_temporary, reusing
from vtgrad.codegen.template import fill, head

__all__ = ["emit_forward", "tangent_of"]

_FORWARD = """
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from vtgrad.ops import formulas as array_formulas
from vtgrad.ops import kernels as k
from vtgrad.ops.rules.tangents.derived import (
    along, difference_of_arrays, plus, reduced, sum_of_arrays, transposed, with_zeros
)
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated import reusing_formulas
from vtgrad.ops.generated import tensor_formulas
from vtgrad.ops.kernels.support.memory_reuse import into, reuse

_Given: TypeAlias = Mapping[str, Any]

# By row: of the arguments, those tangents that there are, and the result.
TANGENTS: Final[dict[str, Callable[[_Given, _Given, Any], Any]]] = {
    $tangents
}

# The same over arrays, and whether the tangent of the first argument may be written.
OVER_ARRAYS: Final[dict[str, Callable[[_Given, _Given, Any, int], Any]]] = {
    $over_arrays
}

# What writes to the tangent of the first argument.
ONTO: Final[dict[str, Callable[[_Given, _Given], Any]]] = {
    $onto
}
"""

# How an array answers what formulas ask of a tensor.
_ASKED: Final = {"shape": "shape", "dtype": "dtype", "ndim": "ndim"}

# What a row may say instead of a formula.
_WORDS: Final = ("linear", "elementwise", "reduction", "transposed")


def emit_forward(library: Library) -> str:
    """The formulas, as Python text.

    Raises
    ------
    TableError
        If a differentiable operator has no forward formula, or a wrong one.
    """
    tangents = over_arrays = onto = ""
    for operator in library.operators:
        name = operator.name
        if _kind(operator) == "formula":
            formula, _ = _formula(operator, library.names)
            tangents += f'"{name}": lambda a, t, result: {formula},\n'
            by_arrays = _formula_over_arrays(operator, library.names)
            if by_arrays is not None:
                over_arrays += f'"{name}": lambda a, t, result, own: {by_arrays},\n'
        call = _call_onto(operator)
        if call is not None:
            onto += f'"{name}": lambda a, t: {call},\n'
    text = head("the derivative tables", "The tangents of the results of all operators.")
    return text + fill(_FORWARD, tangents=tangents, over_arrays=over_arrays, onto=onto)


def tangent_of(operator: Operator, names: Names) -> dict[str, object]:
    """What the record of an operator says of tangents.

    Raises
    ------
    TableError
        As `emit_forward`.
    """
    kind = _kind(operator)
    if kind != "formula":
        return {"tangent": "" if kind == "none" else kind}
    _, uses = _formula(operator, names)
    written = operator.inplace is not None or operator.returns == "Self"
    by_arrays = written and _formula_over_arrays(operator, names) is not None
    return {
        "reads_result": "result" in uses,
        "reads_first": _readers_of_first(operator, names) if by_arrays else "",
    }


def _kind(operator: Operator) -> str:
    given = operator.forward
    if operator.undifferentiable or given == "refused":
        return "refused"
    if operator.is_view or operator.returns == "Geometry":
        return "view"
    if not operator.formulas:
        if given is not None:
            raise TableError(f"{operator.where}: 'forward' without 'grad'")
        return "none"
    if given == "zero" or (
        given is None and all(f == "zeros_like(grad)" for f in operator.formulas.values())
    ):
        return "zero"
    return "formula"


def _stated(operator: Operator) -> str | Mapping[str, str]:
    if operator.copies_view:
        return "linear"
    if operator.forward is not None:
        return operator.forward
    if operator.names == "unify":
        return "elementwise"
    raise TableError(f"{operator.where}: a differentiable operator states 'forward'")


def _formula(operator: Operator, names: Names) -> tuple[str, set[str]]:
    """The expression, and the names that it reads."""
    stated = _stated(operator)
    several = operator.returns == "tuple"
    if stated == "linear":
        # Zeros stand for the tangents of arguments without one.
        values = [
            f'with_zeros(a["{a.for_users().name}"], t.get("{a.for_users().name}"))'
            if a.name in operator.formulas
            else f'a["{a.for_users().name}"]'
            for a in operator.arguments
        ]
        return _call(operator, values), set()
    uses: set[str] = set()
    if isinstance(stated, str) and stated not in _WORDS:
        return _translated(operator, stated, names, uses), uses
    if isinstance(stated, Mapping) and set(stated) <= set(operator.results) and several:
        parts = [
            _translated(operator, stated[one], names, uses) if one in stated else "None"
            for one in operator.results
        ]
        return f"({', '.join(parts)})", uses
    by_argument = (
        stated if isinstance(stated, Mapping) else dict.fromkeys(operator.formulas, stated)
    )
    needed = {name for name, f in operator.formulas.items() if f != "zeros_like(grad)"}
    if not needed <= set(by_argument) <= set(operator.formulas):
        raise TableError(f"{operator.where}: 'forward' is for {sorted(needed)}")
    sum = ""
    for argument, how in by_argument.items():
        key = "input" if argument == "self" else argument
        text = _contribution(operator, argument, how, names, uses)
        term = _term(key, text)
        sum = f"plus({sum}, {term})" if sum else term
    return sum or "None", uses


def _term(key: str, text: str) -> str:
    """The contribution of an argument to a sum; None if it has no tangent."""
    return f't.get("{key}")' if text == f't["{key}"]' else f'{text} if "{key}" in t else None'


def _call_onto(operator: Operator) -> str | None:
    """The write to the tangent of what overlaps itself; None if the operator refuses that."""
    if operator.inplace is None or operator.overlap != "unrecorded":
        return None
    values = ['t["input"]']
    for a in operator.arguments[1:]:
        key = a.for_users().name
        if a.name in operator.formulas:
            values.append(f'with_zeros(a["{key}"], t.get("{key}"))')
        else:
            values.append("0" if a.type == "Number" else f'a["{key}"]')
    return _call(operator, values).replace(f"F.{operator.name}(", f"F.{operator.inplace}(", 1)


def _formula_over_arrays(operator: Operator, names: Names) -> str | None:
    """The expression over arrays; None if there is none.

    There is one for operators that compute element by element, if all functions that their formulas
    call are kernels or helpers.
    """
    stated = _stated(operator)
    if operator.names != "unify" or operator.returns == "tuple" or stated == "linear":
        return None
    if isinstance(stated, str) and stated not in _WORDS:
        return None
    by_argument = (
        stated if isinstance(stated, Mapping) else dict.fromkeys(operator.formulas, stated)
    )
    total, are_temporary, may_own = "", True, False
    for nr, (argument, how) in enumerate(by_argument.items()):
        key = "input" if argument == "self" else argument
        try:
            text = _contribution_of_arrays(operator, argument, how, names)
        except TableError:
            return None
        if text is None:
            return None
        text, sum = _without_sign(text)
        text = _overwriting(text) if nr == 0 and argument == operator.arguments[0].name else text
        is_own = is_temporary(ast.parse(_plain(text), mode="eval").body, names.reuse)
        free = str((1 if are_temporary else 0) | (2 if is_own else 0))
        own = "own" if nr and may_own else "0"
        # Its memory is that of the first tangent, or nothing else holds it.
        may_own = text == f't["{key}"]' or text.startswith("into(") if nr == 0 else may_own
        are_temporary = are_temporary and is_own
        if nr == 0 and sum == "difference_of_arrays":
            text = f"k.neg({text})"
        term = _term(key, text)
        total = f"{sum}({own}, {free}, {total}, {term})" if nr else term
    return total or "None"


def _contribution_of_arrays(
    operator: Operator, argument: str, how: str, names: Names
) -> str | None:
    key = "input" if argument == "self" else argument
    if how == "linear":
        kernel = operator.kernel
        if kernel not in names.reuse.storing:
            return None
        text = _call(
            operator,
            [
                f'{"t" if a.name == argument else "a"}["{a.for_users().name}"]'
                for a in operator.arguments
            ],
        )
        return text.replace(f"F.{operator.name}(", f"k.{kernel}(", 1)
    if how in ("reduction", "transposed"):
        return None
    source = operator.formulas[argument] if how == "elementwise" else how
    tree = ast.parse(source.strip(), mode="eval").body
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    if not called <= names.kernels | names.helpers:
        return None
    text = _translated(operator, source, names, set(), ARRAYS)
    if "with_zeros(" in text:
        return None
    found = reusing(text, names.reuse, names.owning, "False") or text
    return re.sub(r"\bgrad\b", f't["{key}"]', found)


def _without_sign(text: str) -> tuple[str, str]:
    """A contribution, and the function that adds it: one that subtracts it spares a step."""
    for start in ("array_formulas.scaled(k.neg(", "k.neg("):
        if text.startswith(start) and text.count("k.neg(") == 1:
            call = ast.parse(text, mode="eval").body
            assert isinstance(call, ast.Call)
            if start == "k.neg(":
                return ast.unparse(call.args[0]), "difference_of_arrays"
            negated, *others = call.args
            assert isinstance(negated, ast.Call)
            call.args = [*negated.args, *others]
            return ast.unparse(call), "difference_of_arrays"
    return text, "sum_of_arrays"


def _overwriting(text: str) -> str:
    """The contribution of what an operator writes: the last step may store into its tangent."""
    call = ast.parse(text, mode="eval").body
    first = 't["input"]'
    if not isinstance(call, ast.Call) or text.count(first) != 1 or call.keywords:
        return text
    name, operands = ast.unparse(call.func), call.args
    bits = "0"
    if name == "reuse":
        bits, name, operands = ast.unparse(operands[0]), ast.unparse(operands[1]), operands[2:]
    place = [nr for nr, one in enumerate(operands) if ast.unparse(one) == "t['input']"]
    if not name.startswith("k.") or not place:
        return text
    listed = ", ".join(map(ast.unparse, operands))
    return f"into(own and {place[0] + 1}, {bits}, {name}, {listed})"


def _readers_of_first(operator: Operator, names: Names) -> str:
    """The arguments whose contribution reads the value of the first one.

    Also the first one itself if it contributes nothing: its tangent is overwritten, and not kept.
    """
    stated = _stated(operator)
    by_argument = (
        stated if isinstance(stated, Mapping) else dict.fromkeys(operator.formulas, stated)
    )
    first = operator.arguments[0].for_users().name
    found = [] if operator.arguments[0].name in by_argument else [first]
    for argument, how in by_argument.items():
        uses: set[str] = set()
        _contribution(operator, argument, how, names, uses)
        if first in uses:
            found.append("input" if argument == "self" else argument)
    return " ".join(found)


def _plain(text: str) -> str:
    """A text with the calls of kernels that `reusing` has hidden."""
    text = re.sub(r"\binto\([^,]*, [^,]*, (k\.\w+), ", r"\1(", text)
    return re.sub(r"\breuse\([^,]*, (k\.\w+), ", r"\1(", text)


def _contribution(operator: Operator, argument: str, how: str, names: Names, uses: set[str]) -> str:
    key = "input" if argument == "self" else argument
    if how == "linear":
        uses.update(a.for_users().name for a in operator.tensors if a.name != argument)
        return _call(
            operator,
            [
                f'{"t" if a.name == argument else "a"}["{a.for_users().name}"]'
                for a in operator.arguments
            ],
        )
    if how not in _WORDS:
        return _translated(operator, how, names, uses)
    backward = _translated(operator, operator.formulas[argument], names, uses)
    given = "grads" if "grads" in backward else "grad"
    if how == "elementwise":
        return f'along(t["{key}"], lambda grad: {backward}, result)'
    if how == "transposed":
        return f'transposed(t["{key}"], lambda {given}: {backward}, result)'
    of = {a.name for a in operator.arguments}
    dims = 'a["dim"]' if "dim" in of else "None"
    keep = 'a["keepdim"]' if "keepdim" in of else "False"
    return f'reduced(t["{key}"], lambda grad: {backward}, result, {dims}, {keep})'


def _call(operator: Operator, values: list[str]) -> str:
    given = [
        f"{a.for_users().name}={value}" if a.keyword_only else value
        for a, value in zip(operator.arguments, values, strict=True)
    ]
    return f"F.{operator.name}({', '.join(given)})"


def _translated(
    operator: Operator,
    text: str,
    names: Names,
    uses: set[str],
    evaluation: Evaluation = TENSORS,
) -> str:
    """A formula whose arguments, tangents and results are found by name."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise TableError(f"{operator.where}: bad formula {text!r}: {error.msg}") from None
    check_names(operator, tree, text, names)
    several = operator.returns == "tuple"
    values: dict[str, str] = {"grad": "grad", "grads": "grads"}
    plain: dict[str, str] = {}
    for argument in operator.arguments:
        key = argument.for_users().name
        if argument.is_tensor or argument.is_list:
            values[argument.name] = f'a["{key}"]'
            values[f"{argument.name}_t"] = f'with_zeros(a["{key}"], t.get("{key}"))'
            if isinstance(operator.forward, Mapping) and argument.name in operator.forward:
                values[f"{argument.name}_t"] = f't["{key}"]'
            if len(operator.formulas) == 1:
                values[f"{argument.name}_t"] = f't["{key}"]'
        else:
            plain[argument.name] = f'a["{key}"]'
    for nr, result in enumerate(operator.results):
        if result not in values and result not in plain:
            values[result] = f"result[{nr}]" if several else "result"
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    uses.update("result" for r in operator.results if r in used and r not in plain)
    uses.update(a.for_users().name for a in operator.tensors if a.name in used)
    asked = _ASKED if evaluation is ARRAYS else None
    return translate(operator, tree, names, evaluation, values, plain, asked=asked)
