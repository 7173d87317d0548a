"""Dimensions by name, wherever a dimension is given."""

import vtgrad as vt


def reductions(x: vt.Tensor) -> list[vt.Tensor]:
    values, indices = x.max("C")
    return [
        values,
        indices,
        x.sum("N"),
        x.sum(("N", "C"), keepdim=True),
        x.sum(axis="N"),
        x.mean("N", keepdim=True),
        x.std("N"),
        x.var(("N",)),
        x.amax(("N",)),
        x.argmax("N"),
        x.any("N"),
        x.all(axis="N"),
        x.norm(2, "C"),
        x.nanmean("N"),
        x.nanmean(axis=("N", "C")),
        x.softmax("C"),
        x.cumsum("N"),
        x.diff(1, "C"),
        x.diff(dim="C"),
    ]


def views(x: vt.Tensor) -> list[vt.Tensor]:
    return [
        x.transpose("N", "C"),
        x.permute("C", "N"),
        x.movedim("C", 0),
        x.movedim("N", "C"),
        x.swapaxes("N", "C"),
        x.select("N", 0),
        x.narrow("N", 0, 1),
        x.squeeze("N"),
        x.flip("N"),
        x.diagonal(outdim="D", dim1="N", dim2="C"),
        vt.diagonal_copy(x, dim1="N", dim2="C"),
        vt.squeeze_copy(x, "N"),
        x.flatten(["N", "C"], "F"),
        x.unflatten("C", (("a", 3), ("b", 1))),
        *x.split(1, "N"),
        *vt.split(x, 1, "N"),
        *x.chunk(2, "N"),
        *x.unbind("N"),
    ]


def several(x: vt.Tensor, y: vt.Tensor, names: list[str]) -> vt.Tensor:
    joined = vt.cat([x, y], "N").sort("N").values
    return joined.refine_names("N", ..., None).align_as(y).sum(names).rename(N="M")


def by_number(x: vt.Tensor, dim: int, dims: tuple[int, int]) -> vt.Tensor:
    return x.sum(dim).sum(dims).select(dim, 0).transpose(*dims)
