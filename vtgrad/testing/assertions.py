"""Writes what a judge expects as lines of a script, which fail where the judge's comparison failed.

The message of a failing line is what the judge says. Most of what a judge compares it names by the
expression that has it, such as ``t1._version``.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Check", "equal", "freed", "near", "observed", "raised_by", "true"]


@dataclass(frozen=True)
class Check:
    """How a script shows a divergence. If it says nothing, the last step itself raises the error.

    Attributes
    ----------
    lines : tuple of str
        Statements that run after the program.
    refusal : tuple of str or None
        The kinds of errors of which the last step must raise one: empty if it must not raise one.
        None if nothing is asserted of it.
    """

    lines: tuple[str, ...] = ()
    refusal: tuple[str, ...] | None = None


#: What is compared, where that is not an expression.
_EXPRESSIONS = (
    (r"error of (t\d+)\.(\w+)", r"kind_of(lambda: \1.\2)"),
    (r"(t\d+) has a grad_fn", r"\1.grad_fn is not None"),
    (r"(t\d+)\.grad_fn\.name\(\)", r'\1.grad_fn.name().rpartition("::")[2]'),
    (
        r"what hooks have seen",
        "sorted([(name, g.reshape(-1).tolist()) for name, g in seen], key=lambda pair: pair[0])",
    ),
    (r"dtypes of (\w+)", r'[str(t.dtype).rpartition(".")[2] for t in \1 if t is not None]'),
    (
        r"tangent of ([\w\[\]]+) is there",
        r"vt.autograd.forward_ad.unpack_dual(\1).tangent is not None",
    ),
    (r"tangent of ([\w\[\]]+)(.*)", r"vt.autograd.forward_ad.unpack_dual(\1).tangent\2"),
)


def _expression(what: str) -> str | None:
    """Return the expression that has what is compared."""
    for pattern, expression in _EXPRESSIONS:
        found = re.fullmatch(pattern, what)
        if found is not None:
            return found.expand(expression)
    try:
        ast.parse(what, mode="eval")
    except SyntaxError:
        return None
    return what


def equal(what: str, expected: object) -> Check | None:
    """Expect one value; of a tensor, its elements in nested lists."""
    expression = _expression(what)
    if expression is None or not _can_be_written(expected):
        return None
    if isinstance(expected, tuple):
        expression = f"tuple({expression})"
    elif isinstance(expected, list | float) and not expression.startswith(("sorted", "[")):
        expression += ".tolist()"
    lines = [f"expected = {expected!r}", f"found = {expression}"]
    test = "found is None" if expected is None else "found == expected"
    return Check((*lines, f"assert {test}, {_message(what)}"))


def near(what: str, expected: object, tolerances: tuple[float, float], *, is_none: bool) -> Check:
    """Expect the elements of a tensor to lie near those of nested lists.

    Parameters
    ----------
    tolerances : tuple of float
        The relative and the absolute one.
    is_none : bool
        Whether there is None, which stands for zeros, instead of a tensor.
    """
    expression = _expression(what)
    lines = [f"expected = {expected!r}", f"found = {expression}.tolist()"]
    if is_none:
        lines[1] = f"found = 0 if {expression} is None else {expression}.tolist()"
    rtol, atol = tolerances
    test = f"np.allclose(found, expected, {rtol!r}, {atol!r})"
    return Check((*lines, f"assert {test}, {_message(what)}"))


def true(condition: str, sentence: str) -> Check:
    """Expect a condition; the sentence says what is wrong otherwise."""
    return Check((f"assert {condition}, {sentence!r}",))


def raised_by(statement: str, sentence: str) -> Check:
    """Expect that a statement does not raise; the sentence says what it raised, up to the error."""
    caught = "except Exception as error:"
    text = f'    raise AssertionError(f"{sentence} {{type(error).__name__}}: {{error}}") from error'
    return Check(("try:", f"    {statement}", caught, text))


def freed() -> Check:
    """Expect all tensors to be gone with their names, without the garbage collector."""
    named = 're.fullmatch(r"[th]\\d+|seen|[wghkr]", name)'
    message = """f"alive after the program's end, so in a cycle: {', '.join(left)}\""""
    return Check(
        (
            "import gc, re, weakref",
            "collects = gc.isenabled()",
            "gc.disable()",
            f"names = [name for name in globals() if {named}]",
            'made = [name for name in names if name[0] == "t"]',
            "references = {name: weakref.ref(globals()[name]) for name in made}",
            "for name in names: del globals()[name]",
            "left = [name for name, reference in references.items() if reference() is not None]",
            "if collects: gc.enable()",
            f"assert not left, {message}",
        )
    )


def observed(
    sentence: str, defs: Sequence[str], uses: Sequence[str], cells: Mapping[str, object]
) -> Check:
    """Expect what `Step.observe` found not to be so.

    Parameters
    ----------
    sentence : str
        What it said, after the name of the result if there are several.
    defs, uses : sequence of str
        The names that the step binds, and those that it reads.
    cells : mapping of str to list of int
        Which elements of its storage a result must show.
    """
    at_least = re.fullmatch(r"(t\d+\._version): expected at least (\d+), found .*", sentence)
    if at_least is not None:
        text, least = at_least.groups()
        lines = (f"expected, found = {least}, {text}",)
        message = f'f"{text}: expected at least {{expected}}, found {{found}}"'
        return Check((*lines, f"assert found >= expected, {message}"))
    own = re.match(r"(t\d+): ", sentence)
    name = own[1] if own else defs[0] if defs else ""
    if "returned no tensor" in sentence:
        return true(f"isinstance({name}, vt.Tensor)", sentence)
    if "returned its operand" in sentence:
        return true(" and ".join(f"{d} is not {use}" for d in defs for use in uses), sentence)
    if " made " in sentence:
        return true(f"{name}.dtype == vt.float64", sentence)
    shape = re.search(r" returned shape .*, expected (\(.*\))", sentence)
    if shape is not None:
        return true(f"tuple({name}.shape) == {shape[1]}", sentence)
    places = f"zip({name}.shape, {name}.stride(), strict=True)"
    if "overlaps itself" in sentence:
        return true(f"all(stride or size < 2 for size, stride in {places})", sentence)
    steps = f"np.ix_(*[np.arange(size) * stride for size, stride in {places}])"
    found = f"np.ravel(sum({steps}, start={name}.storage_offset())).tolist()"
    return true(f"{found} == {cells.get(name, [])!r}", sentence)


def _can_be_written(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_can_be_written, value))
    return value is None or isinstance(value, bool | int | float | str)


def _message(what: str) -> str:
    head = what.replace("{", "{{").replace("}", "}}")
    quote = "'" if '"' in head else '"'
    return f"f{quote}{head}: expected {{expected}}, found {{found}}{quote}"
