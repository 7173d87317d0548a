"""Operators that are called with a tensor whose dimensions have names.

Note [Names follow a rule]

An operator computes as it does without names. Before it, the names of the result are found by the
rule that the tables state for the operator, and dimensions that are given by name are replaced by
their numbers; that refuses what does not fit before anything is done. After it, the results get
their names. An operator without a rule refuses: names are never dropped in silence.

A target (``out=``, or the tensor that an in-place operator writes) without names gets those of the
result. If it has names, they must be the same.
"""

from __future__ import annotations

from collections.abc import Callable

from vtgrad.errors import NamesMismatchError, NamesNotSupportedError
from vtgrad.ops.calling.take_over import is_named, keyed_operands
from vtgrad.ops.operator import Operator
from vtgrad.ops.rules.names.named_call import NamedCall
from vtgrad.ops.rules.names.rules import RULES
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.extra_meta import Names
from vtgrad.storage.key_set import NAMED
from vtgrad.storage.names import shown, unnamed
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["take_over_named"]


def take_over_named(
    operator: Operator,
    function: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
    /,
) -> object:
    """Call an operator, and name the dimensions of its results; see Note [Names follow a rule].

    Raises
    ------
    NamesNotSupportedError
        If there is no rule for the operator.
    NamesError
        If names do not agree, or there is no dimension of a name.
    """
    spoken = operator.spoken
    if operator.names is None:
        found = next(t._impl.names for t in keyed_operands(args, kwargs) if is_named(t))
        raise NamesNotSupportedError(
            f"{spoken} has no rule for names of dimensions, and got a tensor with "
            f"{shown(found)}; drop the names with rename(None), and name the result",
            operator=spoken,
            names=found,
        )
    call = NamedCall(operator, args, kwargs)
    names = RULES[operator.names](call)
    targets = call.targets()
    for target in targets:
        _check_target(target, names, spoken)
    result = run_excluding(NAMED, function, *call.args, **call.kwargs)
    if not unnamed(names):
        results = result if isinstance(result, tuple) else (result,)
        operands = call.operands()
        for one in results:
            # What returns its argument returns the argument's names.
            if isinstance(one, TensorBase) and (
                any(one is t for t in targets) or all(one is not t for t in operands)
            ):
                assert len(names) == one.ndim, operator
                one._impl.set_names(names)
    return result


def _check_target(target: TensorBase, names: Names, operator: str) -> None:
    own = target._impl.names
    if not unnamed(own) and own != names:
        raise NamesMismatchError(
            f"{operator} writes a result with names {shown(names)} into a tensor with names "
            f"{shown(own)}; rename that tensor first",
            names=names,
            target=own,
        )
