"""Reading the derivative tables.

The tables are the YAML files in ``vtgrad/ops/derivatives``; ``README.md`` beside them defines
their language. This module turns each entry into an `Operator` and refuses what it does not
understand, naming the file and the operator.
"""

import ast
import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml

__all__ = ["Argument", "Composite", "Operator", "TableError", "read_composites", "read_table"]

_KEYS: Final = {
    "op",
    "aliases",
    "node",
    "kernel",
    "copy",
    "copy_doc",
    "grad",
    "fresh",
    "inplace",
    "inplace_node",
    "ufunc",
    "writer",
    "overlap",
    "distinct",
    "name",
    "out",
    "doc",
    "real_result",
    "overlapping",
    "replay",
    "number_first",
    "overload_of",
    "python",
    "read_first",
    "undifferentiable",
    "variants",
    "when",
    "refuses_floats",
    "may_alias",
    "reuses_memory",
}


class TableError(Exception):
    """An entry that cannot be understood."""


@dataclasses.dataclass(frozen=True)
class Argument:
    """One parameter of an operator.

    Attributes
    ----------
    name : str
        Its name.
    type : str
        ``Tensor``, ``Tensor | Number``, ``Tensor | None``, ``Tensors`` or any Python type.
    default : str or None
        Its default, as Python text.
    keyword_only : bool
        Whether it stands after the ``*``.
    checked : bool
        Whether the function looks at it before it does anything: a dimension, dimensions or a
        flag, which are written ``Dim``, ``Dims`` and ``Flag``.
    """

    name: str
    type: str
    default: str | None
    keyword_only: bool
    checked: bool = False

    @property
    def is_tensor(self) -> bool:
        """Whether a single tensor can be passed."""
        return self.type in {"Tensor", "Tensor | Number", "Tensor | None"}

    @property
    def is_list(self) -> bool:
        """Whether a sequence of tensors is passed."""
        return self.type == "Tensors"


@dataclasses.dataclass(frozen=True)
class Operator:
    """One entry of a table; the fields are the keys of the language.

    What is called ``pow.Tensor_Scalar`` in the table has the `base` ``pow``, which is what users
    call it, the `overload` ``Tensor_Scalar``, and the `name` ``pow_Tensor_Scalar``, which is what
    the generated function is called.

    A view with a `copy` is two operators: the first `has_copy`, the second `copies_view`, that is,
    its results are copies of the parts that the view shows.
    """

    name: str
    base: str
    overload: str | None
    arguments: tuple[Argument, ...]
    returns: str
    results: tuple[str, ...]
    node: str | None
    node_name: str | None
    kernel: str
    ufunc: str | None
    ufunc_if: str | None
    ufunc_inexact: bool
    formulas: Mapping[str, str]
    regions: frozenset[str]
    region_if: str | None
    fresh: frozenset[str]
    inplace: str | None
    inplace_node: str | None
    writer: str | None
    distinct: bool
    overlap: str
    out: bool
    exact_out: str | None
    doc: str
    overlapping: bool
    replay: bool
    real_result: bool
    variants: frozenset[str] | None
    inplace_function: bool
    python: Mapping[str, str]
    when: str | None
    read_first: str | None
    undifferentiable: bool
    may_alias: bool
    reuses_memory: bool
    number_first: str | None
    refuses_floats: bool
    aliases: tuple[str, ...]
    where: str
    copies_view: bool = False
    has_copy: bool = False

    @property
    def tensors(self) -> tuple[Argument, ...]:
        """The arguments that are tensors or lists of them, in order."""
        return tuple(a for a in self.arguments if a.is_tensor or a.is_list)

    @property
    def edged(self) -> tuple[Argument, ...]:
        """The tensors that have an edge: those with a formula. An index or a mask has none."""
        return tuple(a for a in self.tensors if a.name in self.formulas)

    @property
    def other_names(self) -> Mapping[str, str]:
        """What the aliases stand for: each of them for the operator, with ``_`` in place.

        Aliases of an overload are those of its group.
        """
        if self.is_overload:
            return {}
        found = dict.fromkeys(self.aliases, self.name)
        if self.inplace is not None:
            found |= {f"{alias}_": self.inplace for alias in self.aliases}
        return found

    @property
    def spoken_inplace(self) -> str:
        """What errors and the record of writes call the in-place variant."""
        own = self.inplace is not None and self.inplace != f"{self.name}_"
        return str(self.inplace) if own else f"{self.base.removesuffix('_')}_"

    @property
    def nodes(self) -> tuple[str, ...]:
        """The classes of its nodes: of the operator itself, and of its in-place variant."""
        return tuple(dict.fromkeys(n for n in (self.node, self.inplace_node) if n is not None))

    @property
    def is_helper(self) -> bool:
        """Whether users do not see it in any way: it is there for formulas and composites."""
        return self.variants is not None and not self.variants

    @property
    def is_public(self) -> bool:
        """Whether users see it under its own name, and not as an overload only."""
        return not self.is_helper and not self.is_overload

    @property
    def is_overload(self) -> bool:
        """Whether its name says that it is one of several overloads."""
        return self.overload is not None and self.name == _function_name(self.base, self.overload)

    @property
    def plain_arguments(self) -> list[Argument]:
        """The arguments that are no tensors."""
        return [a for a in self.arguments if not (a.is_tensor or a.is_list)]

    @property
    def can_be_inplace(self) -> bool:
        """Whether its node can be that of a write to the first argument."""
        return self.inplace is not None or self.returns in {"Self", "Geometry"}

    @property
    def is_plain_view(self) -> bool:
        """Whether it shows some of the elements of one tensor, each of them once."""
        return self.returns == "View" and not (self.overlapping or self.replay)

    @property
    def is_view(self) -> bool:
        """Whether the results alias the first argument."""
        return self.returns in {"View", "Views"}


def read_table(path: Path) -> list[Operator]:
    """All entries of one file.

    Raises
    ------
    TableError
        If an entry is not understood.
    """
    operators: list[Operator] = []
    for entry in yaml.safe_load(path.read_text()) or []:
        if "composite" in entry:
            continue
        operator = dataclasses.replace(_operator(path.name, entry), has_copy="copy" in entry)
        operators.append(operator)
        if operator.has_copy:
            doc = str(entry.get("copy_doc", "")).strip()
            operators.append(_copy_of_view(operator, str(entry["copy"]), doc))
    return operators


_COMPOSITE_KEYS: Final = frozenset({"composite", "variants", "called", "python", "may_alias"})


@dataclasses.dataclass(frozen=True)
class Composite:
    """What a table says of a function that is written by hand in ``ops/composites``.

    Attributes
    ----------
    name : str
        The function.
    variants : frozenset of str or None
        Where users find it, if the table says so; `called`, what they call it.
    python : mapping of str to str
        The methods of Python that call it.
    may_alias, returns_itself : bool
        Whether the result of the kernel of the same name can be, or look at, an argument; whether
        it is the very argument if it is not a new array.
    """

    name: str
    variants: frozenset[str] | None
    called: str
    python: Mapping[str, str]
    may_alias: bool
    returns_itself: bool


def read_composites(path: Path) -> list[Composite]:
    """What one file says of functions that are written by hand.

    Raises
    ------
    TableError
        If an entry is not understood.
    """
    found: list[Composite] = []
    for entry in yaml.safe_load(path.read_text()) or []:
        if "composite" not in entry:
            continue
        name = str(entry["composite"])
        where = f"{path.name}: {name}"
        if set(entry) - _COMPOSITE_KEYS:
            raise TableError(f"{where}: unknown keys {sorted(set(entry) - _COMPOSITE_KEYS)}")
        found.append(
            Composite(
                name,
                _variants(where, entry),
                str(entry.get("called", name)),
                _python_operators(where, entry),
                bool(entry.get("may_alias", False)),
                entry.get("may_alias") == "itself",
            )
        )
    return found


def _copy_of_view(view: Operator, name: str, doc: str) -> Operator:
    """The operator that returns copies of what a view shows."""
    if not view.is_view:
        raise TableError(f"{view.where}: only a view has a 'copy'")
    base, overload = _split_name(view.where, name)
    return dataclasses.replace(
        view,
        name=_function_name(base, overload),
        returns="Tensor" if view.returns == "View" else "Copies",
        node=f"{view.node}_copy",
        inplace_node=f"{view.node}_copy",
        regions=frozenset(),
        region_if=None,
        overlapping=False,
        copies_view=True,
        has_copy=False,
        base=base,
        overload=overload,
        variants=frozenset() if name.startswith("_") else frozenset({"function"}),
        inplace_function=False,
        python={},
        out=view.returns == "View",
        exact_out="exact",
        doc=doc or f"What `{view.base}` shows, as a copy.",
    )


def _exactness(out: object) -> str | None:
    """Which results ``out=`` takes in their own dtype only: all, or those of real operands."""
    if out in (None, False, True):
        return None
    if out not in ("exact", "exact for real"):
        raise TableError(f"'out' is true, 'exact' or 'exact for real', not {out!r}")
    return str(out)


def _operator(file: str, entry: dict[str, object]) -> Operator:
    signature = entry.get("op")
    if not isinstance(signature, str):
        raise TableError(f"{file}: an entry without 'op': {entry!r}")
    title, bracket, parameters = signature.partition("(")
    where = f"{file}: {title}"
    base, overload = _split_name(where, title)
    name = _function_name(base, overload)
    if overload is None and "overload_of" in entry:
        base, overload = _split_name(where, str(entry["overload_of"]))
    unknown = set(entry) - _KEYS
    if unknown:
        raise TableError(f"{where}: unknown keys {sorted(unknown)}")
    try:
        tree = ast.parse(f"def {name}{bracket}{parameters}: ...")
    except SyntaxError as error:
        raise TableError(f"{where}: bad signature {signature!r}: {error.msg}") from None
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    arguments = _arguments(where, function)
    returns, results = _returns(where, function)
    formulas: dict[str, str] = {}
    regions: set[str] = set()
    condition: str | None = None
    names = {a.name for a in arguments if a.is_tensor or a.is_list}
    grad = entry.get("grad", {})
    if not isinstance(grad, dict):
        raise TableError(f"{where}: 'grad' must map arguments to formulas")
    for argument, formula in grad.items():
        if argument not in names:
            raise TableError(f"{where}: a formula for {argument!r}, which is no tensor argument")
        if isinstance(formula, dict):
            if not {"region"} <= set(formula) <= {"region", "if"}:
                raise TableError(f"{where}: {argument}: expected a formula or 'region: formula'")
            regions.add(argument)
            if "if" in formula:
                condition = str(formula["if"])
            formulas[argument] = str(formula["region"])
        else:
            formulas[argument] = str(formula)
    ufunc = entry.get("ufunc")
    ufunc_if = None
    inexact = False
    if isinstance(ufunc, dict):
        if not {"name"} < set(ufunc) <= {"name", "if", "inexact"}:
            raise TableError(f"{where}: 'ufunc' is a name, or has a 'name' and 'if' or 'inexact'")
        ufunc_if = str(ufunc["if"]) if "if" in ufunc else None
        inexact = bool(ufunc.get("inexact", False))
        ufunc = ufunc["name"]
    if ufunc is not None and [a.is_tensor for a in arguments[:2]] != [True, True]:
        raise TableError(f"{where}: only an operator of two tensors can be a ufunc")
    node = entry.get("node")
    if bool(formulas) != bool(node):
        raise TableError(f"{where}: 'node' and 'grad' go together")
    fresh = entry.get("fresh", [])
    inplace = entry.get("inplace")
    writing: list[str] = ["method"]
    if isinstance(inplace, dict):
        writing = [str(variant) for variant in inplace["variants"]]
        inplace = inplace["name"]
    elif inplace == "function":
        inplace, writing = True, ["function", "method"]
    if "inplace_node" in entry and not (node and inplace):
        raise TableError(f"{where}: 'inplace_node' needs 'node' and 'inplace'")
    inplace_node = entry.get("inplace_node", node)
    return Operator(
        name=name,
        base=base,
        overload=overload,
        arguments=arguments,
        returns=returns,
        results=results,
        node=None if node is None else str(node),
        node_name=None if entry.get("name") is None else str(entry["name"]),
        kernel=str(entry.get("kernel", name)),
        ufunc=None if ufunc is None else str(ufunc),
        ufunc_if=ufunc_if,
        ufunc_inexact=inexact,
        formulas=formulas,
        regions=frozenset(regions),
        region_if=condition,
        fresh=frozenset(names if fresh is True else fresh),  # type: ignore[call-overload]  # a list of names, or true
        inplace=f"{name}_" if inplace is True else str(inplace) if inplace else None,
        inplace_node=None if inplace_node is None else str(inplace_node),
        writer=None if entry.get("writer") is None else str(entry["writer"]),
        distinct=bool(entry.get("distinct", False)),
        overlap=str(entry.get("overlap", "refused")),
        out=bool(entry.get("out", False)),
        exact_out=_exactness(entry.get("out")),
        doc=str(entry.get("doc", "")).strip(),
        overlapping=bool(entry.get("overlapping", False)),
        replay=bool(entry.get("replay", False)),
        real_result=bool(entry.get("real_result", False)),
        refuses_floats=bool(entry.get("refuses_floats", False)),
        variants=_variants(where, entry),
        inplace_function="function" in writing,
        python=_python_operators(where, entry),
        when=None if entry.get("when") is None else str(entry["when"]),
        read_first=None if entry.get("read_first") is None else str(entry["read_first"]),
        undifferentiable=bool(entry.get("undifferentiable", False)),
        may_alias=bool(entry.get("may_alias", False)),
        reuses_memory=bool(entry.get("reuses_memory", False)),
        number_first=str(entry["number_first"]) if "number_first" in entry else None,
        aliases=_aliases(where, entry),
        where=where,
    )


def _split_name(where: str, title: str) -> tuple[str, str | None]:
    """The name of an operator for users, and that of the overload."""
    found = re.fullmatch(r"(\w+)(?:\.(\w+))?", title.strip())
    if found is None:
        raise TableError(f"{where}: {title!r} is no name of an operator")
    return found[1], found[2]


def _function_name(base: str, overload: str | None) -> str:
    """What the function of an overload is called: ``fill_.Scalar`` is ``fill_Scalar_``."""
    if overload is None:
        return base
    end = "_" if base.endswith("_") else ""
    return f"{base.removesuffix('_')}_{overload}{end}"


_VARIANTS: Final = frozenset({"function", "method"})


def _variants(where: str, entry: Mapping[str, object]) -> frozenset[str] | None:
    """Where users find an operator; None if the entry does not say."""
    given = entry.get("variants")
    if given is None:
        return None
    names = given if isinstance(given, list) else [] if given == "none" else [given]
    if not _VARIANTS.issuperset(names):
        raise TableError(f"{where}: 'variants' is none, or some of {sorted(_VARIANTS)}")
    return frozenset(names)


def _python_operators(where: str, entry: Mapping[str, object]) -> dict[str, str]:
    given = entry.get("python", {})
    if not isinstance(given, dict):
        raise TableError(f"{where}: 'python' maps methods of Python to expressions")
    return {str(name): str(text) for name, text in given.items()}


def _aliases(where: str, entry: Mapping[str, object]) -> tuple[str, ...]:
    aliases = entry.get("aliases", [])
    if not isinstance(aliases, list) or not all(isinstance(a, str) for a in aliases):
        raise TableError(f"{where}: 'aliases' is a list of names")
    return tuple(aliases)


def _arguments(where: str, function: ast.FunctionDef) -> tuple[Argument, ...]:
    spec = function.args
    arguments: list[Argument] = []
    positional = spec.posonlyargs + spec.args
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(spec.defaults))
    defaults += spec.defaults
    for arg, default in zip(positional, defaults, strict=True):
        arguments.append(_argument(where, arg, default, keyword_only=False))
    for arg, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        arguments.append(_argument(where, arg, default, keyword_only=True))
    return tuple(arguments)


# Types whose values are looked at first, and what they are then.
_CHECKED: Final = {"Dim": "int", "Dims": "Dims", "Flag": "bool"}


def _argument(
    where: str, arg: ast.arg, default: ast.expr | None, *, keyword_only: bool
) -> Argument:
    if arg.annotation is None:
        raise TableError(f"{where}: argument {arg.arg!r} has no type")
    written = ast.unparse(arg.annotation).split(" | ")
    return Argument(
        arg.arg,
        " | ".join(_CHECKED.get(part, part) for part in written),
        None if default is None else ast.unparse(default),
        keyword_only,
        bool(_CHECKED.keys() & set(written)),
    )


def _returns(where: str, function: ast.FunctionDef) -> tuple[str, tuple[str, ...]]:
    returns = function.returns
    if isinstance(returns, ast.Name) and returns.id in {
        "Tensor",
        "View",
        "Views",
        "UnsafeSplit",
        "Self",
        "Geometry",
    }:
        return returns.id, ("result",)
    if isinstance(returns, ast.Subscript) and isinstance(returns.slice, ast.Tuple):
        names = tuple(ast.unparse(e) for e in returns.slice.elts)
        return "tuple", names
    raise TableError(
        f"{where}: returns Tensor, View, Views, UnsafeSplit, Self, Geometry "
        "or tuple[name, name, ...]"
    )
