"""Tensors of classes of users.

Note [Classes of gradients]

Formulas compute gradients on arrays, which become plain tensors, so a gradient is a `Tensor`,
whatever class the differentiated tensor has. A class whose operators mean something else may state
another one in `TensorBase._gradient_class`: `grad`, the transforms of functions and ``.grad`` then
give gradients of that class. Hooks of tensors and backward of a custom Function get such gradients,
and saved tensors of the class that was saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar, cast

from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.operators import operators
from vtgrad.ops.calling.from_python import request_grad
from vtgrad.ops.generated import functional as F
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.extra_meta import NOTHING
from vtgrad.storage.key_set import OVERRIDES, keys
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.tensor_mixin import TensorMixin

__all__ = [
    "SubclassMethods",
    "brought_to",
    "class_of_saved",
    "in_class_of",
    "in_classes_of",
    "made_of",
    "override",
    "shown_in",
]

S = TypeVar("S", bound=TensorBase)
G = TypeVar("G")


class SubclassMethods(TensorMixin):
    """Classes of users, and the method that makes tensors of another class."""

    __slots__ = ()

    # Whether the class has a `__torch_function__` of its own; see Note [Overridden functions].
    _has_torch_function: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the class take functions over, if it defines ``__torch_function__``."""
        super().__init_subclass__(**options)
        cls._find_torch_function()

    def __dir__(self) -> list[str]:
        """The names of the attributes, without a protocol that the class does not have."""
        names = [*object.__dir__(self)]
        if not self._has_torch_function:
            names.remove("__torch_function__")
        return names

    @classmethod
    def _takes_functions_over(cls) -> bool:
        """Whether the class has ``__torch_function__``; also one that was assigned just now."""
        top = operators().tensor_class
        for kind in cls.__mro__:
            if kind is top:
                break
            if "__torch_function__" in kind.__dict__:
                return cls._find_torch_function()
        return cls._has_torch_function and cls._find_torch_function()

    @classmethod
    def _find_torch_function(cls) -> bool:
        """Whether the class has ``__torch_function__``; makes it ready if that has changed."""
        method: object = getattr(cls, "__torch_function__", None)
        own = getattr(method, "__func__", method)
        found = own is not None and own is not _DEFAULT
        if found is not cls._has_torch_function:
            if found:
                import_module("vtgrad.overrides.classes").prepare(cls)
            else:
                # A class above has one, and this one has None.
                cls._make = operators().tensor_class._make
            cls._has_torch_function = found
        return found

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """Run a function as for plain tensors, and turn its results into this class.

        A class that defines it takes over the functions that are called with its tensors, and
        calls this one by ``super()`` for what the function does.

        Parameters
        ----------
        func : callable
            A function of `vtgrad`, a method of `Tensor`, or ``__get__`` or ``__set__`` of one of
            its properties.
        types : iterable of type
            The classes of arguments that have ``__torch_function__``.
        args, kwargs
            The arguments.

        Returns
        -------
        object
            The result; tensors in it are of this class. NotImplemented if a class in `types` is not
            above this one.

        Examples
        --------
        >>> class Logged(vt.Tensor):
        ...     @classmethod
        ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
        ...         print(vt.overrides.resolve_name(func))
        ...         return super().__torch_function__(func, types, args, kwargs)
        >>> x = vt.ones(2, 3).as_subclass(Logged)
        >>> y = vt.exp(x) + 1
        vtgrad.exp
        vtgrad.add
        """
        run: Callable[..., object] = import_module(
            "vtgrad.overrides.dispatch"
        ).default_torch_function
        return run(cls, func, types, args, kwargs)

    @classmethod
    def _of_impl(cls, impl: TensorImpl) -> Self:
        """The tensor of this class on an impl that no other handle has.

        Unlike `_wrap`, also of a class whose operators give plain tensors.
        """
        if not cls._takes_functions_over():
            return cls._wrap(impl)
        tensor: Self = operators().tensor_class.__new__(cls)
        override(impl)
        tensor._impl = impl
        return tensor

    @staticmethod
    def _make_subclass(cls: type[S], data: TensorBase, require_grad: bool = False) -> S:
        """A tensor of a class on the memory of another one, for its ``__new__``.

        Parameters
        ----------
        cls : type
            A subclass of `Tensor`.
        data : Tensor
            Whose memory and version it shares; its gradients are not.
        require_grad : bool, default False
            Whether the result is a leaf that requires grad.

        Returns
        -------
        Tensor
            A leaf.

        Raises
        ------
        ArgumentTypeError
            If `cls` is no such class, or `data` no tensor.

        Examples
        --------
        >>> class Weight(vt.Tensor):
        ...     def __new__(cls, data):
        ...         return vt.Tensor._make_subclass(cls, data, True)
        >>> Weight(vt.ones(2)).is_leaf
        True
        """
        if not isinstance(data, SubclassMethods):
            raise ArgumentTypeError(
                f"_make_subclass takes a tensor, not {type(data).__name__}", argument="data"
            )
        made = _checked(cls)._of_impl(run_excluding(OVERRIDES, F.detach, data)._impl)
        if require_grad:
            request_grad(made)
        return cast("S", made)

    def as_subclass(self, cls: type[S]) -> S:
        """The tensor as an object of a class that inherits from `Tensor`.

        The ``__init__`` of the class does not run. Operators return tensors of the class of their
        first tensor; gradients are of the class `Tensor`.

        Parameters
        ----------
        cls : type
            A subclass of `Tensor`, or `Tensor` itself.

        Returns
        -------
        Tensor
            A view of the whole tensor: writing to one writes to the other, and gradients pass.

        Raises
        ------
        ArgumentTypeError
            If `cls` is no such class.

        Examples
        --------
        >>> class Weight(vt.Tensor):
        ...     decay = 0.01
        >>> w = vt.ones(2, requires_grad=True)
        >>> type(w.as_subclass(Weight) * 2).decay
        0.01
        """
        wanted = _checked(cls)
        alias = run_excluding(OVERRIDES, F.alias, self) if keys.active else F.alias(self)
        return cast("S", wanted._of_impl(alias._impl))


if TYPE_CHECKING:
    _ClassMethod = classmethod[Any, Any, Any]
else:
    _ClassMethod = classmethod


class _ForClassesOfUsers(_ClassMethod):
    """The class method as classes see it that define one of their own; others have none.

    Functions of PyTorch ask each argument for ``__torch_function__``. To them, a plain tensor of
    this library is an array like others.
    """

    def __get__(self, instance: object, owner: type[SubclassMethods] | None = None, /) -> Any:
        if owner is not None and owner._has_torch_function:
            return super().__get__(instance, owner)
        raise AttributeError(f"{owner} has no __torch_function__ of its own")


_DEFAULT: Final = vars(SubclassMethods)["__torch_function__"].__func__
# Type checkers see a class method.
type.__setattr__(SubclassMethods, "__torch_function__", _ForClassesOfUsers(_DEFAULT))


def _checked(cls: object) -> type[SubclassMethods]:
    """A class of tensors."""
    if not isinstance(cls, type) or not issubclass(cls, SubclassMethods):
        name = cls.__name__ if isinstance(cls, type) else f"a {type(cls).__name__}"
        raise ArgumentTypeError(
            f"as_subclass takes a class that inherits from vtgrad.Tensor, not {name}",
            argument="cls",
        )
    return cls


def made_of(cls: type[TensorBase], impl: TensorImpl) -> TensorBase:
    """The tensor of a class, whatever its operators give, on an impl that no other handle has."""
    if issubclass(cls, SubclassMethods) and cls._takes_functions_over():
        return cls._of_impl(impl)
    tensor = cls._wrap(impl)
    if type(tensor) is not cls:
        # Results on a scalar of `vtgrad.numpy` are arrays at first.
        cast("Any", tensor).__class__ = cls
    return tensor


_OVERRIDES: Final = NOTHING.with_overrides()


def override(impl: TensorImpl) -> None:
    """Give an impl the key by which ``__torch_function__`` of its tensor takes operators over."""
    extra = impl.extra_meta
    impl.set_extra_meta(_OVERRIDES if extra is None else extra.with_overrides())


def brought_to(cls: type[TensorBase], tensor: TensorBase) -> TensorBase:
    """The tensor itself, which no other code has, in a class; a view where that is impossible."""
    if issubclass(cls, SubclassMethods) and cls._has_torch_function:
        return cls._of_impl(F.alias(tensor)._impl)
    cast("Any", tensor).__class__ = cls
    return tensor


def in_class_of(gradient: G, model: object) -> G:
    """A gradient, a plain tensor so far, in the class that belongs to the class of `model`."""
    if isinstance(model, TensorBase) and type(gradient) is operators().tensor_class:
        cls = type(model)._gradient_class
        if cls is not None:
            gradient.__class__ = cls
    return gradient


def class_of_saved(tensor: object) -> type[TensorBase] | None:
    """The class in which backward gets a tensor that forward saves; None if that is `Tensor`."""
    if not isinstance(tensor, TensorBase):
        return None
    if isinstance(tensor, SubclassMethods) and tensor._has_torch_function:
        return type(tensor)
    number: type[TensorBase] | None = tensor._number_class
    stated: type[TensorBase] | None = tensor._gradient_class
    return number if type(tensor) is number else stated


def shown_in(cls: type[TensorBase] | None, tensor: G) -> G:
    """A tensor that others may hold, for users' code: in a class, if it is a plain tensor.

    It is a view of the whole tensor then, so that writes and gradients pass.
    """
    if cls is None or type(tensor) is not operators().tensor_class:
        return tensor
    assert isinstance(tensor, TensorBase)
    return cast("G", made_of(cls, F.alias(tensor)._impl))


def in_classes_of(gradients: Iterable[G], models: Sequence[object]) -> list[G]:
    """Each gradient in the class that belongs to the class of its model."""
    return [in_class_of(x, model) for x, model in zip(gradients, models, strict=True)]
