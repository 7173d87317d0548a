"""Reading the derivative tables.

The tables are the YAML files in ``vtgrad/ops/table``; ``README.md`` beside them defines their
language. This module turns each entry into an `Operator` or a `Composite` and refuses what it does
not understand, naming the file, the line and the operator.
"""

import ast
import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

import yaml

from vtgrad.codegen.language import Argument, Composite, Operator, TableError, function_name

__all__ = ["KEYS", "read_composites", "read_table"]

# Wheels have libyaml, which reads the tables ten times as fast as the parser in Python.
_LOADER: Final = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader

# The keys of an entry; `README.md` beside the tables explains each.
KEYS: Final = {
    "op",
    "aliases",
    "also",
    "batch",
    "called",
    "cast",
    "node",
    "kernel",
    "copy",
    "grad",
    "forward",
    "pattern",
    "fresh",
    "inplace",
    "inplace_node",
    "ufunc",
    "writer",
    "overlap",
    "distinct",
    "name",
    "names",
    "out",
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


def read_table(path: Path) -> list[Operator]:
    """All entries of one file.

    Raises
    ------
    TableError
        If an entry is not understood.
    """
    operators: list[Operator] = []
    common: dict[str, object] = {}
    for place, entry in _entries(path):
        if "all" in entry:
            common = _common(place, entry)
        if "op" not in entry and ("all" in entry or "composite" in entry):
            continue
        operator = _operator(place, {**common, **entry})
        operator = dataclasses.replace(operator, has_copy="copy" in entry)
        operators.append(operator)
        if operator.has_copy:
            operators.append(_copy_of_view(operator, str(entry["copy"])))
    return operators


def _entries(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """The entries of one file, each with the file and the line where it begins."""
    loader = _LOADER(path.read_text("utf-8"))
    try:
        root = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        line = 0 if error.problem_mark is None else error.problem_mark.line + 1
        raise TableError(f"{path.name}:{line}: {error.problem}") from None
    for node in [] if root is None else root.value:
        place = f"{path.name}:{node.start_mark.line + 1}"
        _check_keys(path.name, node)
        entry = loader.construct_document(node)
        if not isinstance(entry, dict):
            raise TableError(f"{place}: an entry is a mapping, not {entry!r}")
        yield place, entry


def _check_keys(file: str, node: yaml.Node) -> None:
    """Refuse a key that a mapping has twice, of which YAML would keep the second."""
    if not isinstance(node, yaml.MappingNode):
        return
    known: set[object] = set()
    for key, value in node.value:
        if key.value in known:
            raise TableError(f"{file}:{key.start_mark.line + 1}: {key.value!r} is stated twice")
        known.add(key.value)
        _check_keys(file, value)


def _common(place: str, entry: Mapping[str, object]) -> dict[str, object]:
    """What the first entry of a table says of all others that do not say it themselves."""
    given = entry["all"]
    if not isinstance(given, dict) or set(given) != {"names"} or set(entry) != {"all"}:
        raise TableError(f"{place}: 'all' states 'names', and nothing else")
    return dict(given)


_COMPOSITE_KEYS: Final = frozenset(
    {"composite", "variants", "called", "python", "may_alias", "names", "batch"}
)


def read_composites(path: Path) -> list[Composite]:
    """What one file says of functions that are written by hand.

    Raises
    ------
    TableError
        If an entry is not understood.
    """
    found: list[Composite] = []
    for place, entry in _entries(path):
        if "composite" not in entry:
            continue
        name = str(entry["composite"])
        where = f"{place}: {name}"
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
                _rule(entry),
                None if entry.get("batch") is None else str(entry["batch"]),
            )
        )
    return found


def _rule(entry: Mapping[str, object]) -> str | None:
    """How names of dimensions follow; None if the operator refuses them."""
    rule = entry.get("names")
    return None if rule in (None, "refused") else str(rule)


def _copy_of_view(view: Operator, name: str) -> Operator:
    """The operator that returns copies of what a view shows."""
    if not view.is_view:
        raise TableError(f"{view.where}: only a view has a 'copy'")
    base, overload = _split_name(view.where, name)
    return dataclasses.replace(
        view,
        name=function_name(base, overload),
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
        also={},
        called={},
    )


def _exactness(out: object) -> str | None:
    """Which results ``out=`` takes in their own dtype only: all, or those of real operands."""
    if out in (None, False, True, *_OUT_DTYPES):
        return None
    if out not in ("exact", "exact for real"):
        known = ", ".join(map(repr, ("exact", "exact for real", *_OUT_DTYPES)))
        raise TableError(f"'out' is true or one of {known}, not {out!r}")
    return str(out)


_OUT_DTYPES: Final = ("in its dtype", "of its dtype")


def _out_dtype(
    where: str, entry: Mapping[str, object], arguments: Sequence[Argument]
) -> str | None:
    """What the argument `dtype` has to do with the dtype of ``out=``."""
    out = entry.get("out")
    if out not in _OUT_DTYPES:
        return None
    if all(a.name != "dtype" for a in arguments):
        raise TableError(f"{where}: 'out: {out}' needs an argument 'dtype'")
    return str(out)


def _names(where: str, entry: Mapping[str, object], key: str) -> dict[str, str]:
    """Names of parameters by other names."""
    given = entry.get(key, {})
    if not isinstance(given, dict) or not all(isinstance(v, str) for v in given.values()):
        raise TableError(f"{where}: {key!r} maps names of parameters to names")
    return {str(name): str(other) for name, other in given.items()}


def _operator(place: str, entry: dict[str, object]) -> Operator:
    signature = entry.get("op")
    if not isinstance(signature, str):
        raise TableError(f"{place}: an entry without 'op': {entry!r}")
    title, bracket, parameters = signature.partition("(")
    where = f"{place}: {title}"
    base, overload = _split_name(where, title)
    name = function_name(base, overload)
    if overload is None and "overload_of" in entry:
        base, overload = _split_name(where, str(entry["overload_of"]))
    unknown = set(entry) - KEYS
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
    formulas, regions, condition = _formulas(where, entry, arguments)
    ufunc, ufunc_if, inexact = _ufunc(where, entry, arguments)
    node = entry.get("node")
    if bool(formulas) != bool(node):
        raise TableError(f"{where}: 'node' and 'grad' go together")
    fresh = entry.get("fresh", [])
    inplace, writing = _inplace(name, entry)
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
        ufunc=ufunc,
        ufunc_if=ufunc_if,
        ufunc_inexact=inexact,
        formulas=formulas,
        forward=_words(where, entry, "forward"),
        pattern=_words(where, entry, "pattern"),
        batch=None if entry.get("batch") is None else str(entry["batch"]),
        regions=frozenset(regions),
        region_if=condition,
        fresh=frozenset(formulas if fresh is True else cast("list[str]", fresh)),
        inplace=inplace,
        inplace_node=None if inplace_node is None else str(inplace_node),
        writer=None if entry.get("writer") is None else str(entry["writer"]),
        distinct=bool(entry.get("distinct", False)),
        overlap=str(entry.get("overlap", "refused")),
        out=bool(entry.get("out", False)),
        exact_out=_exactness(entry.get("out")),
        out_dtype=_out_dtype(where, entry, arguments),
        also=_names(where, entry, "also"),
        called=_names(where, entry, "called"),
        cast=None if entry.get("cast") is None else str(entry["cast"]),
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
        names=_rule(entry),
        where=where,
    )


def _formulas(
    where: str, entry: Mapping[str, object], arguments: Sequence[Argument]
) -> tuple[dict[str, str], set[str], str | None]:
    """The formulas by argument, the arguments whose gradient is a region, and on what condition."""
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
    return formulas, regions, condition


def _words(where: str, entry: Mapping[str, object], key: str) -> str | dict[str, str] | None:
    """A formula or word for all, or one for each argument or result."""
    given = entry.get(key)
    if isinstance(given, dict):
        return {str(name): str(formula) for name, formula in given.items()}
    if given is not None and not isinstance(given, str):
        raise TableError(f"{where}: {key!r} is a word, a formula, or a mapping to these")
    return given


def _ufunc(
    where: str, entry: Mapping[str, object], arguments: Sequence[Argument]
) -> tuple[str | None, str | None, bool]:
    """The ufunc that the kernel is, the condition, and whether of inexact values only."""
    ufunc = entry.get("ufunc")
    if ufunc is None:
        return None, None, False
    if len(arguments) == 1 and arguments[0].is_tensor and isinstance(ufunc, str):
        return ufunc, None, True
    if [a.is_tensor for a in arguments[:2]] != [True, True]:
        raise TableError(
            f"{where}: only an operator of two tensors, or of nothing but one, can be a ufunc"
        )
    if not isinstance(ufunc, dict):
        return str(ufunc), None, False
    if not {"name"} < set(ufunc) <= {"name", "if", "inexact"}:
        raise TableError(f"{where}: 'ufunc' is a name, or has a 'name' and 'if' or 'inexact'")
    condition = str(ufunc["if"]) if "if" in ufunc else None
    return str(ufunc["name"]), condition, bool(ufunc.get("inexact", False))


def _inplace(name: str, entry: Mapping[str, object]) -> tuple[str | None, frozenset[str]]:
    """The in-place variant, and where users find it."""
    inplace = entry.get("inplace")
    if isinstance(inplace, dict):
        return str(inplace["name"]), frozenset(map(str, inplace["variants"]))
    if inplace == "function":
        return f"{name}_", _VARIANTS
    method = frozenset({"method"})
    return (f"{name}_" if inplace is True else str(inplace) if inplace else None), method


def _split_name(where: str, title: str) -> tuple[str, str | None]:
    """The name of an operator for users, and that of the overload."""
    found = re.fullmatch(r"(\w+)(?:\.(\w+))?", title.strip())
    if found is None:
        raise TableError(f"{where}: {title!r} is no name of an operator")
    return found[1], found[2]


_VARIANTS: Final = frozenset({"function", "method"})


def _variants(where: str, entry: Mapping[str, object]) -> frozenset[str] | None:
    """Where users find an operator; None if the entry does not say."""
    given = entry.get("variants")
    if given is None:
        return None
    names = given if isinstance(given, list) else [] if given == "none" else [given]
    if not _VARIANTS.issuperset(names):
        raise TableError(f"{where}: 'variants' is none, or some of {sorted(_VARIANTS)}")
    return _VARIANTS.intersection(names)


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
_CHECKED: Final = {"Dim": "int", "Dims": "Dims", "Flag": "bool", "Integer": "int"}
# Types that users give in several ways, and what the overload gets.
_FORMS: Final = {"Sizes": "Sequence[int]", "Correction": "float | None"}


def _argument(
    where: str, arg: ast.arg, default: ast.expr | None, *, keyword_only: bool
) -> Argument:
    if arg.annotation is None:
        raise TableError(f"{where}: argument {arg.arg!r} has no type")
    written = ast.unparse(arg.annotation).split(" | ")
    forms = [part for part in written if _form_of(part) in _FORMS]
    if len(forms) > 1:
        raise TableError(f"{where}: argument {arg.arg!r} is given in two ways")
    types = [_FORMS.get(_form_of(part), _CHECKED.get(part, part)) for part in written]
    return Argument(
        arg.arg,
        " | ".join(types),
        None if default is None else ast.unparse(default),
        keyword_only,
        bool(_CHECKED.keys() & set(written)),
        forms[0] if forms else None,
    )


def _form_of(part: str) -> str:
    return part.partition("[")[0]


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
