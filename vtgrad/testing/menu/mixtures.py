"""What programs are made of, where the model predicts them."""

__all__ = ["DUALS", "MIXTURES", "mixture_of"]


def _mixture(**counts: int) -> tuple[str, ...]:
    return tuple(name for name, count in counts.items() for _ in range(count))


#: Programs of different flavours; each name as often as its share. One mixture of everything
#: would seldom do the same kind of thing often enough to meet its rarer consequences.
MIXTURES: dict[str, tuple[str, ...]] = {
    "everything": (
        "leaf", "view", "region", "pieces", "apply", "saving", "saving_part", "detach", "write",
        "fill", "count", "set_item", "augment_item", "beside", "rearrange", "resize", "flag",
        "hook", "delete", "inspect", "backward", "gradient", "second_order", "inference",
    ),
    "writes": _mixture(
        leaf=2,
        region=4, view=2, write=4, fill=1, set_item=3, augment_item=2, apply=2, saving=1,
        rearrange=1, detach=1, inspect=1, backward=1, gradient=1, second_order=1,
    ),
    "refusals": _mixture(
        pieces=3, view=3, region=2, write=3, fill=2, set_item=1, detach=2, saving=4, flag=1,
        backward=3, gradient=2, leaf=1, apply=1,
    ),
    "tables": _mixture(
        saving_part=6, beside=6, region=2, view=1, saving=1, set_item=1, write=1, count=1,
        rearrange=1, detach=1, backward=1, gradient=3, second_order=1, delete=1, inspect=1,
    ),
    "hooks": _mixture(
        hook=4, region=2, pieces=1, write=3, set_item=1, augment_item=1, apply=2, backward=3,
        gradient=2, inspect=1, delete=1,
    ),
    "inference": _mixture(
        inference=6, view=2, region=2, write=3, set_item=1, fill=1, saving=3, apply=1, detach=1,
        flag=1, inspect=1, backward=1, gradient=1, rearrange=1, leaf=1,
    ),
}  # fmt: skip

#: Programs in which tensors have tangents.
DUALS: dict[str, tuple[str, ...]] = {
    "duals": _mixture(
        dual=5, grown=8, carry=4, unpacked=2, level=1, without_forward=1,
        view=2, region=3, pieces=1, write=3, fill=1, set_item=3, augment_item=1, apply=2, saving=2,
        leaf=1, detach=1, rearrange=1, resize=1, flag=1, delete=1, inspect=1, inference=1, count=1,
        backward=1, gradient=2, second_order=1, hook=1,
    ),
    "recorded": _mixture(
        dual=5, grown=6, carry=3, unpacked=1, level=1, saving=3, saving_part=2, beside=1, region=2,
        write=2, set_item=2, apply=1, hook=1, gradient=5, backward=1, second_order=1,
    ),
}  # fmt: skip


def mixture_of(name: str, *, custom: bool) -> tuple[str, ...]:
    """Return what programs of a flavour are made of, with operators of the user's or without."""
    plain = {**MIXTURES, **DUALS}[name]
    if not custom:
        return plain
    # The model does not know what such operators do in inference mode.
    kept = tuple(step for step in plain if step != "inference")
    return (*kept, *("custom",) * (len(kept) // 3))
