"""Operators of a user's own: what a rule says of one."""

from __future__ import annotations

import builtins
import inspect
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeGuard

from vtgrad.testing.jets import FloatArray
from vtgrad.testing.operator_types import ArrayFunction, GradientFunction, TensorFunction

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["CONSTANT", "FLOATING", "Rule", "RuleError", "Shape"]

Shape: TypeAlias = tuple[int, ...]

#: The dtypes of operands that gradients may be taken of, and of those that are constants.
FLOATING = ("float64", "float32", "complex128")
CONSTANT = ("int64", "bool")

_RESULTS = ("new", "view", "pieces", "written")

#: What the text of a program calls otherwise.
_TAKEN = frozenset({*"vt np seen w g h k p u r read kind_of".split(), *dir(builtins)})


class RuleError(ValueError):
    """A rule that cannot be right, whatever the operator does.

    Attributes
    ----------
    argument : str
        The argument of `Rule` that is wrong.

    Examples
    --------
    >>> from vtgrad.testing.checking import Rule
    >>> Rule("vt", lambda x: x * 2, lambda x: x * 2)
    Traceback (most recent call last):
    ...
    vtgrad.testing.custom.RuleError: the rule 'vt': `name` must not be that of something else ...
    """

    def __init__(self, rule: str, argument: str, must: str) -> None:
        super().__init__(f"the rule {rule!r}: `{argument}` {must}")
        self.argument = argument


@dataclass(frozen=True)
class Rule:
    """One operator of a user's own, and what is independently known about it.

    Parameters
    ----------
    name : str
        What programs call it: a Python name.
    call : callable
        The operator: takes `operands` tensors, and `options` by keyword.
    reference : callable
        The same with NumPy alone: takes as many float64 arrays and returns the result, or a tuple
        of several. For a view it must pick elements of the arrays of `views_of`.
    gradient : callable, optional
        Takes the gradient of the result (a tuple of them if there are several results) and then
        the operands, and returns a tuple with an array for each operand; None stands for zeros.
        Without it, central differences of `reference` judge, except where the function has a kink
        or a jump.
    operands : int, default 1
        Number of tensors that it takes.
    result : {"new", "view", "pieces", "written"}
        ``"new"`` if it returns a tensor on memory that no operand has, ``"view"`` if it returns a
        view of an operand, ``"pieces"`` if it returns several that one call has made, as
        ``chunk`` does, so that they may not be written, ``"written"`` if it writes to the first
        operand and leaves its shape.
    accepts : callable, optional
        Takes the arrays; says whether the operator is defined there. Shapes are arbitrary, and
        so are numbers, many of them small integers and zeros.
    is_function : bool, default False
        Whether `call` applies a custom ``Function``. A view that one returns may not be
        written, and a tensor that one writes forgets its retained gradient.
    has_jvp : bool, default False
        Whether that ``Function`` has a ``jvp``; without one it refuses tensors with tangents.
    source : str, optional
        The text that defines `name`, to be put in front of a failing program. Unless given, the
        text of `call` where Python can find it.
    options : mapping, optional
        Arguments that are passed by keyword, also to `reference`, `gradient`, `accepts` and
        `raises`: the values of each, or a Hypothesis strategy for them.
    shapes : sequence or strategy, optional
        The shapes that operands have: a shape for an operator of one operand, a tuple of shapes
        for others. Without it they are arbitrary. Together operands have at most 64 elements, and
        results 256.
    dtypes : sequence, default ("float64",)
        The dtypes in which it is tested: one for all operands, or a tuple with one for each. Those
        of operands with gradients are ``"float64"``, ``"float32"`` or ``"complex128"``, those of
        constants ``"int64"`` or ``"bool"``. The arrays of float32 operands are float64 too.
    raises : sequence of tuple, optional
        Pairs of a class of exception and a function that takes the arrays and says whether the
        operator has to raise it there.
    is_random : bool, default False
        Whether it draws random numbers. Programs then call ``manual_seed`` first, and the other
        functions of the rule get the same number as ``seed``.
    once_differentiable : bool, default False
        Whether its gradients cannot be differentiated.
    views_of : sequence of int, default (0,)
        The operands that results are views of, if `result` is ``"view"`` or ``"pieces"``: each
        result is a view of one of them. The other operands only say which view.

    Raises
    ------
    RuleError
        If an argument cannot be right.

    Examples
    --------
    >>> rule = Rule("swish", lambda x: x * x.sigmoid(), lambda x: x / (1 + np.exp(-x)))
    >>> rule.result
    'new'
    """

    name: str
    call: TensorFunction
    reference: ArrayFunction[object]
    gradient: GradientFunction | None = None
    operands: int = 1
    result: Literal["new", "view", "pieces", "written"] = "new"
    accepts: ArrayFunction[bool] | None = None
    is_function: bool = False
    has_jvp: bool = False
    source: str | None = None
    options: Mapping[str, Sequence[object] | SearchStrategy[object]] = field(default_factory=dict)
    shapes: Sequence[object] | SearchStrategy[object] | None = None
    dtypes: Sequence[str | tuple[str, ...]] = ("float64",)
    raises: Sequence[tuple[type[Exception], ArrayFunction[bool]]] = ()
    is_random: bool = False
    once_differentiable: bool = False
    views_of: Sequence[int] = (0,)
    #: Derivatives that were found already, by operands.
    known: dict[object, tuple[FloatArray, FloatArray | None]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    #: Whether it returns views of memory that it has made, as ``einsum`` does: found out by a call.
    hides_bases: bool = field(default=False, init=False, repr=False, compare=False)

    #: Which operand each result is a view of, by number, where that is always the same one: found
    #: out by calls. Of an empty view it cannot be seen.
    homes: Mapping[int, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check_name()
        if self.operands < 1:
            raise self.error("operands", "must be at least one operand")
        if self.result not in _RESULTS:
            raise self.error("result", f"must be one of {_RESULTS}, not {self.result!r}")
        self._check_views_of()
        self._check_dtypes()
        self._check_arity("call", self.call, self.operands, self.options)
        names = [*self.options, *(["seed"] if self.is_random else [])]
        self._check_arity("reference", self.reference, self.operands, names)
        if self.gradient is not None:
            self._check_arity("gradient", self.gradient, self.operands + 1, names)
        if self.accepts is not None:
            self._check_arity("accepts", self.accepts, self.operands, names)
        for pair in self.raises:
            given: object = pair
            if not (isinstance(given, tuple) and len(given) == 2 and _is_exception(given[0])):
                raise self.error("raises", "must be pairs of a class of exception and a function")
            self._check_arity("raises", pair[1], self.operands, names)

    def noted(self, *, hides_bases: bool, homes: Mapping[int, int]) -> Rule:
        """Return the rule, with the note of what calls have shown."""
        if not hides_bases and not homes:
            return self
        noted = replace(self)
        object.__setattr__(noted, "hides_bases", hides_bases)
        object.__setattr__(noted, "homes", homes)
        return noted

    def error(self, argument: str, must: str) -> RuleError:
        """Return the error that an argument is wrong."""
        return RuleError(self.name, argument, must)

    def _check_name(self) -> None:
        name = self.name
        if not name.isidentifier() or keyword.iskeyword(name):
            raise self.error("name", "must be a Python name: programs cannot call it otherwise")
        if name in _TAKEN or re.fullmatch(r"[th]\d+", name):
            raise self.error("name", "must not be that of something else in a program")

    def _check_views_of(self) -> None:
        given: object = self.views_of
        if not isinstance(given, tuple | list) or not given:
            raise self.error(
                "views_of", f"must be a sequence of numbers of operands, not {given!r}"
            )
        for number in given:
            if type(number) is not int or not 0 <= number < self.operands:
                must = f"must be numbers of operands, from 0 to {self.operands - 1}, not {number!r}"
                raise self.error("views_of", must)
        if len(set(given)) < len(given):
            raise self.error("views_of", f"must name an operand once, not {given!r}")
        if self.result not in ("view", "pieces") and tuple(given) != (0,):
            raise self.error("views_of", f"is for views; `result` is {self.result!r}")
        if self.is_function and len(given) > 1:
            must = (
                "must be one operand of a custom Function: views of several require grad together"
            )
            raise self.error("views_of", must)

    def _check_dtypes(self) -> None:
        if isinstance(self.dtypes, str) or not self.dtypes:
            raise self.error("dtypes", "must be a sequence of dtypes, such as ('float32',)")
        for given, typing in zip(self.dtypes, self.typings, strict=True):
            if len(typing) != self.operands:
                raise self.error("dtypes", f"must name {self.operands} dtypes, not {given!r}")
            unknown = [dtype for dtype in typing if dtype not in FLOATING + CONSTANT]
            if unknown:
                raise self.error("dtypes", f"must be of {FLOATING + CONSTANT}, not {unknown[0]!r}")
            if len({dtype for dtype in typing if dtype in FLOATING}) != 1:
                must = "must give the operands that are no constants one floating or complex dtype"
                raise self.error("dtypes", must)
            if self.result != "new" and set(typing) - set(CONSTANT) != {"float64"}:
                raise self.error("dtypes", f"must be float64 where `result` is {self.result!r}")
            if self.result != "new" and {typing[i] for i in self.views_of} != {"float64"}:
                raise self.error("dtypes", "must not make a constant of an operand that is viewed")

    def _check_arity(
        self,
        argument: str,
        function: object,
        count: int,
        names: Sequence[str] | Mapping[str, object],
    ) -> None:
        """Refuse a function that cannot be called as it will be."""
        must = f"must take {count} argument{'s' * (count != 1)}"
        must += f" and by keyword {', '.join(names)}" if names else ""
        if not callable(function):
            raise self.error(argument, f"{must}; it is no function but {type(function).__name__}")
        try:
            signature = inspect.signature(function)
        except (ValueError, TypeError):
            return  # of a function that is not written in Python, or not known
        try:
            signature.bind(*range(count), **dict.fromkeys(names))
        except TypeError as error:
            raise self.error(argument, f"{must}: {error}") from None

    @property
    def typings(self) -> tuple[tuple[str, ...], ...]:
        """The dtypes, each with one for each operand."""
        return tuple(
            (dtype,) * self.operands if isinstance(dtype, str) else tuple(dtype)
            for dtype in self.dtypes
        )

    def choices(self, option: str) -> Sequence[object]:
        """Return the values of an option, once they are drawn from a strategy."""
        values = self.options[option]
        assert isinstance(values, Sequence)
        return values

    @property
    def shape_choices(self) -> tuple[tuple[Shape, ...], ...]:
        """The stated shapes, each with one for each operand, once they are drawn."""
        assert isinstance(self.shapes, Sequence)
        return tuple(map(self._shapes_of, self.shapes))

    def _shapes_of(self, given: object) -> tuple[Shape, ...]:
        shapes = (given,) if self.operands == 1 and _is_shape(given) else given
        if not (
            isinstance(shapes, tuple | list)
            and len(shapes) == self.operands
            and all(map(_is_shape, shapes))
        ):
            what = "shapes" if self.operands == 1 else f"tuples of {self.operands} shapes"
            raise self.error("shapes", f"must be {what}, which are tuples of sizes, not {given!r}")
        return tuple(tuple(shape) for shape in shapes)

    @property
    def takes_tangents(self) -> bool:
        """Whether it may be called with tensors that have tangents."""
        return self.has_jvp or not self.is_function


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)


def _is_shape(value: object) -> TypeGuard[Sequence[int]]:
    return isinstance(value, tuple | list) and all(
        isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in value
    )
