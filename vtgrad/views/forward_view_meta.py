# Compiled by mypyc.
"""The tangent of a view.

Note [The tangent of a view]

In forward mode a view follows the tangent of its forward base: its tangent is the same view of that
tangent. For most views the forward base is the base. They differ for a dual tensor and its views:

    d = make_dual(x, t)    base x, and no forward base: the tangent is d's own
    v = d[1:]              base x, forward base d

So nothing that is written to `x`, or to other views of `x`, changes the tangent of `d`. The forward
base is chosen when the view is made, whether or not a level is open then, and stays when the level
is closed.

The view of the tangent is made when it is first asked for, and always as if with recording on: in
which grad mode it is read first must not decide whether it may be written. The forward base may
have another dtype than the base, as in `make_dual(z.real, t)[1:]`, so the steps that make the view
are kept for each of the two.
"""

from __future__ import annotations

from typing import Final

from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.forward_grad import recorded
from vtgrad.graph.operators import operators
from vtgrad.graph.set_history import meta_of, own_meta
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views.view_fn import Replay, replay_of, restride_of
from vtgrad.views.view_info import ViewFunction, ViewInfo

__all__ = ["ForwardViewMeta"]

# What stands for `forward_info_` where it is not set.
_SHARED: Final = object()


class ForwardViewMeta(AutogradMeta):
    """The base and the forward base of a view; see Note [The tangent of a view].

    Attributes
    ----------
    base : TensorBase
        The base of the view; never a view itself.
    view_fn : Replay or None
        Makes the view from the base; see `ViewInfo`.
    forward_info_ : ViewInfo or None
        Only set where it differs from `backward_info`; read it through `forward_info`.
    """

    __slots__ = ("base", "forward_info_", "view_fn")

    base: TensorBase
    view_fn: Replay | None
    forward_info_: ViewInfo | None

    @property
    def backward_info(self) -> ViewInfo:
        """The base, and the function that makes the view again."""
        return ViewInfo(self.base, self.view_fn)

    @property
    def shared_view_info(self) -> bool:
        """Whether forward mode and backward mode have the same base.

        They differ for `d = make_dual(x, t)`, which is a view of `x` but has a tangent of its own,
        and for views of `d`.
        """
        return getattr(self, "forward_info_", _SHARED) is _SHARED

    @property
    def forward_info(self) -> ViewInfo | None:
        """The base in forward mode, and the function that makes the view again.

        None for a tensor that has its own tangent, as one that was made dual.
        """
        own: object = getattr(self, "forward_info_", _SHARED)
        if own is _SHARED:
            return self.backward_info
        assert own is None or isinstance(own, ViewInfo)
        return own

    def be_forward_base(self) -> None:
        """From now on the tangent is the tensor's own."""
        self.forward_info_ = None

    def share_forward_base(
        self,
        parent: TensorBase,
        of_parent: ForwardViewMeta,
        impl: TensorImpl,
        function: ViewFunction | None,
    ) -> None:
        """Follow the tangent of `parent`, of which this is a view.

        Parameters
        ----------
        of_parent : ForwardViewMeta
            The metadata of `parent`.
        impl : TensorImpl
            That of the view.
        function : callable or None
            Makes the view from `parent`; None if its geometry suffices.
        """
        if of_parent.shared_view_info:
            return
        info = of_parent.forward_info
        base: TensorBase = parent
        first: Replay | None = None
        if info is not None:
            base = info.base
            if isinstance(info.view_fn, Replay):
                first = info.view_fn
        replay = None
        if function is not None or first is not None:
            # From the forward base, which may be of another dtype than the base.
            replay = replay_of(base._impl, parent._impl, first, impl, function)
        self.forward_info_ = ViewInfo(base, replay)

    def change_forward_geometry(self, changed: TensorImpl) -> None:
        """Make the view of the tangent in a new geometry from now on."""
        own: object = getattr(self, "forward_info_", None)
        if isinstance(own, ViewInfo) and isinstance(own.view_fn, Replay):
            self.forward_info_ = ViewInfo(own.base, own.view_fn.then(restride_of(changed)))

    def fw_level(self, limit: int) -> int:
        """The highest open level below a limit at which there is a tangent; 0 for none."""
        own = super().fw_level(limit)
        info = self.forward_info
        if info is None:
            return own
        meta = info.base._impl.autograd_meta
        return own if meta is None else max(own, meta.fw_level(limit))

    def fw_grad(self, level: int, owner: TensorBase) -> TensorBase | None:
        """As for other tensors; made from the tangent of the base when it is first asked for."""
        own = super().fw_grad(level, owner)
        info = self.forward_info
        if info is None:
            return own
        # Also if the part was made before: it is not read while the whole is unfinished.
        meta = meta_of(info.base)
        whole = None if meta is None else meta.fw_grad(level, info.base)
        if own is not None or whole is None:
            return own
        view_fn, geometry = info.view_fn, owner._impl.geometry
        if view_fn is None:
            part = recorded(lambda: operators().as_strided(whole, *geometry))
        else:
            part = recorded(lambda: view_fn(whole))
        self.own_fw_grad().set(level, part)
        return part

    def set_fw_grad(
        self, new_grad: TensorBase, owner: TensorBase, level: int, is_inplace_op: bool
    ) -> None:
        """As for other tensors; a view that is written gives its base a tangent, zero elsewhere."""
        info = self.forward_info
        if is_inplace_op and info is not None and self.fw_grad(level, owner) is None:
            base = info.base
            zeros = operators().zeros_as_memory(base, new_grad)
            base_meta = own_meta(base)
            base_meta.set_fw_grad(zeros, base, level, False)
            part = self.fw_grad(level, owner)
            assert part is not None
            operators().copy_(part, new_grad)
            return
        super().set_fw_grad(new_grad, owner, level, is_inplace_op)
