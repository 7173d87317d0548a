"""What a derivative table says: operators, their parameters, and composites.

``vtgrad/ops/table/README.md`` defines the language; `tables` reads it.
"""

import dataclasses
from collections.abc import Mapping

__all__ = ["Argument", "Composite", "Operator", "TableError", "function_name", "record_name"]


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
    form : str or None
        How users give it, if not as one value: ``Sizes[order]`` or ``Correction``.
    """

    name: str
    type: str
    default: str | None
    keyword_only: bool
    checked: bool = False
    form: str | None = None

    def for_users(self) -> "Argument":
        """The argument as users call it: `input`, as PyTorch does, for `self`."""
        return dataclasses.replace(self, name="input") if self.name == "self" else self

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

    Its docstring `doc` stands in another file, under its `title`: `docstrings` joins them.

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
    out_dtype: str | None
    also: Mapping[str, str]
    called: Mapping[str, str]
    cast: str | None
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
    names: str | None
    forward: str | Mapping[str, str] | None
    pattern: str | Mapping[str, str] | None
    batch: str | None
    where: str
    copies_view: bool = False
    has_copy: bool = False
    doc: str = ""

    @property
    def title(self) -> str:
        """What the table calls it, as ``pow.Tensor_Scalar``."""
        return f"{self.base}.{self.overload}" if self.is_overload else self.name

    @property
    def tensors(self) -> tuple[Argument, ...]:
        """The arguments that are tensors or lists of them, in order."""
        return tuple(a for a in self.arguments if a.is_tensor or a.is_list)

    @property
    def edged(self) -> tuple[Argument, ...]:
        """The tensors that have an edge: those with a formula. An index or a mask has none."""
        return tuple(a for a in self.tensors if a.name in self.formulas)

    @property
    def arity(self) -> int:
        """The number of edges that the node has in fields; 0 if it has them in a tuple."""
        edged = self.edged
        return 0 if len(edged) > 2 or any(a.is_list for a in edged) else len(edged)

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
    def own_doc(self) -> str:
        """The docstring of its own function: of an overload, which users do not call, one line."""
        return self.doc.partition("\n")[0] if self.is_overload else self.doc

    @property
    def is_overload(self) -> bool:
        """Whether its name says that it is one of several overloads."""
        return self.overload is not None and self.name == function_name(self.base, self.overload)

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
    names : str or None
        The rule by which names of dimensions follow; None if it has none of its own.
    batch : str or None
        The rule by which it is called for a batch; None if the functions that it calls have one.
    """

    name: str
    variants: frozenset[str] | None
    called: str
    python: Mapping[str, str]
    may_alias: bool
    returns_itself: bool
    names: str | None = None
    batch: str | None = None


def function_name(base: str, overload: str | None) -> str:
    """What the function of an overload is called: ``fill_.Scalar`` is ``fill_Scalar_``."""
    if overload is None:
        return base
    end = "_" if base.endswith("_") else ""
    return f"{base.removesuffix('_')}_{overload}{end}"


def record_name(function: str) -> str:
    """What the record of a function is called. A single letter is the name of a type variable."""
    return function.upper() if len(function) > 1 else f"{function.upper()}_OPERATOR"
