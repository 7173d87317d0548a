"""Calls of operators that cut, join, turn and merge, written out one by one."""

# ruff: noqa: E501 (a call is easier to find and compare on one line)
from itertools import product

_LISTED: dict[str, str] = {
    "fill_diagonal_": (
        "{S}.fill_diagonal_(2) | {A}.fill_diagonal_(0.5) | {P}.fill_diagonal_(1) | {V}.fill_diagonal_(1) | {K}.fill_diagonal_(1)"
        " | {W}.fill_diagonal_(1) | {s}.clone().fill_diagonal_(1) | {a}.fill_diagonal_(1) | {i}.fill_diagonal_(2.7)"
        " | {i}.fill_diagonal_(1j) | {m}.fill_diagonal_(2) | {Z}.fill_diagonal_(1j) | {A}.fill_diagonal_({s})"
        " | {S}.fill_diagonal_(1, wrap=True) | L.zeros(10, 3).fill_diagonal_(2, wrap=True)"
        " | L.zeros(5, 3).fill_diagonal_(2, wrap=True) | L.zeros(0, 3).fill_diagonal_(2) | L.zeros(4, 1).fill_diagonal_(2, wrap=True)"
        " | L.zeros(3, 1, 3).expand(3, 3, 3).fill_diagonal_(2) | L.zeros(1, 3).expand(3, 3).fill_diagonal_(2)"
        " | {sq}.repeat(3, 1).fill_diagonal_(7, wrap=True)"
    ),
    "masked_scatter": (
        "{a}.masked_scatter({m}, {b}) | {a}.masked_scatter({mv}, {pos}) | {v}.masked_scatter({m}, {b}) | {A}.masked_scatter_({m}, {b})"
        " | {P}.masked_scatter_({m}, {b}) | {V}.masked_scatter_({mv}, {k}) | {W}.masked_scatter_({m}, {b}) | {a}.masked_scatter({m}, {v})"
        " | {a}.masked_scatter({m}, {o}) | {a}.masked_scatter({m}, {f}) | {a}.masked_scatter({i}, {b}) | {a}.masked_scatter({n}, {b})"
        " | {a}.masked_scatter({m}, {p}) | {s}.masked_scatter({m}, {b}) | {i}.masked_scatter({m}, {i} + 9) | {z}.masked_scatter({m}, {z} * 2)"
        " | {a}.masked_scatter({m}, 2) | {e}.masked_scatter({e} > 0, {e}) | {a}.masked_scatter({m}, {k})"
        " | {a}.detach().clone().masked_scatter_({m}, {b}) | {A}.masked_scatter_({m}, {b}.detach()) | {K}.masked_scatter_({m}, {b})"
    ),
    "put": (
        "{a}.put({iv}, {w}[:2]) | {a}.put({ix}, {b}, accumulate=True) | {a}.put(L.tensor([-1, 5, 0]), {v}, accumulate=True) | {p}.put({iv}, {w}[1:])"
        " | {A}.put_({iv}, {w}[:2]) | {P}.put_({iv}, {w}[:2]) | {V}.put_({iv}, {w}[:2], True) | {a}.put(L.tensor([6]), {o}) | {a}.put(L.tensor([-7]), {o})"
        " | {a}.put({iv}, {v}) | {a}.put({iv}, {f}[0, :2]) | {a}.put({iv}.int(), {w}[:2]) | {a}.put({v}, {w}) | {s}.put(L.tensor([0]), {o}) | {s}.put(L.tensor(0), {s})"
        " | {e}.put(L.tensor([], dtype=L.int64), {e}) | {e}.put(L.tensor([0]), {o}) | {i}.put({iv}, {i}[0, :2]) | {m}.put({iv}, {m}[0, :2], accumulate=True)"
        " | {z}.put({iv}, {z}[0, :2]) | {a}.put({iv}.t(), {p}.t()[0, :2]) | {a}.put(0, {o}) | {a}.put({iv}, 2.0) | {a}.put(L.tensor([[0, 1], [2, 3]]).t(), {sq}[:2, :2])"
        " | {A}.put_({ix}, {b}, accumulate=True) | {W}.put_(L.tensor([0, 1, 2]), {W})"
    ),
    "diag": (
        "{v}.diag() | {v}.diag(1) | {v}.diag(-2) | {a}.diag() | {a}.diag(1) | {a}.diag(-5) | {p}.diag() | {s}.diag() | {k}.diag() | L.diag({x}) | {e}.diag()"
        " | L.diag({v}, 1) | {m}.diag() | {i}.diag(diagonal=1) | L.diag({v}.detach(), out={OE}) | L.diag({v}.detach(), out={OF}) | L.diag({a}.detach(), out={OE})"
        " | L.diag({a}, out={O}) | {v}.diag(1.5)"
    ),
    "diag_embed": (
        "{v}.diag_embed() | {a}.diag_embed() | {a}.diag_embed(1) | {a}.diag_embed(-1, 0, 2) | {a}.diag_embed(0, 1, 1) | {a}.diag_embed(0, -1, 2)"
        " | {a}.diag_embed(0, 3, 1) | {s}.diag_embed() | {e}.diag_embed() | {p}.diag_embed(1, 0, 1) | {k}.diag_embed(offset=2, dim1=1, dim2=-1) | {m}.diag_embed() | L.diag_embed({a}, 0, 2, 0)"
    ),
    "diagflat": (
        "{a}.diagflat() | {v}.diagflat(1) | {p}.diagflat(-1) | {s}.diagflat() | {e}.diagflat() | L.diagflat({x}) | {i}.diagflat()"
    ),
    "rot90": " | ".join(
        [
            f"{{{t}}}.rot90({k}, {d})"
            for t, k, d in product("apk", (-1, 0, 1, 2, 3), ("(0, 1)", "(1, 0)", "(-1, 0)"))
        ]
        + [
            "{a}.rot90()",
            "{v}.rot90()",
            "{a}.rot90(1, (0, 0))",
            "{a}.rot90(1, (0, -2))",
            "{a}.rot90(1, (0,))",
            "{a}.rot90(1, (0, 1, 1))",
            "{a}.rot90(1, (0, 5))",
        ]
        + [
            "L.rot90({x}, 1, (0, 1))",
            "{e}.rot90()",
            "{a}.rot90(1.5)",
            "{s}.rot90(1, (0, 1))",
            "{k}.rot90(1, (0, 2))",
            "{x}.rot90(0)",
            "{g}.rot90(2)",
        ]
    ),
    "repeat_interleave": (
        "{a}.repeat_interleave(2) | {a}.repeat_interleave(2, 0) | {p}.repeat_interleave(2, 1) | {a}.repeat_interleave(3, -1) | {a}.repeat_interleave(0, 0) | {a}.repeat_interleave(-1, 0)"
        " | {a}.repeat_interleave(L.tensor([2, 0, 1]), 1) | {a}.repeat_interleave(L.tensor([2, 0, 1]), 0) | {a}.repeat_interleave(L.tensor([2]), 0) | {a}.repeat_interleave(L.tensor(2), 1)"
        " | {v}.repeat_interleave(L.tensor([2, 0, 1])) | {a}.repeat_interleave(L.tensor([2, -1, 1]), 1) | {a}.repeat_interleave(L.tensor([[2, 1, 1]]), 1) | {s}.repeat_interleave(2)"
        " | {s}.repeat_interleave(2, 0) | L.repeat_interleave(L.tensor([1, 0, 2])) | L.repeat_interleave({iv}.int()) | L.repeat_interleave({v}) | {v}.repeat_interleave(L.tensor([2, 0, 1]), output_size=3)"
        " | {v}.repeat_interleave(L.tensor([1.0, 1.0, 2.0])) | {e}.repeat_interleave(2, 0) | {a}.repeat_interleave(2, 5) | {a}.repeat_interleave(2, 1) | {i}.repeat_interleave(2, 1)"
    ),
    "narrow_copy": (
        "{a}.narrow_copy(1, 1, 2) | {p}.narrow_copy(0, 0, 1) | {a}.narrow_copy(-1, -2, 1) | {a}.narrow_copy(1, 2, 2) | {a}.narrow_copy(1, 5, 0) | {a}.narrow_copy(1, 3, 0)"
        " | {s}.narrow_copy(0, 0, 1) | {a}.narrow_copy(1, 1, -1) | L.narrow_copy({a}.detach(), 1, 0, 2, out={OE}) | L.narrow_copy({i}, 0, 1, 1)"
    ),
    "unsafe_split": (
        "L.unsafe_split({a}, 2, 1)[0] | {a}.unsafe_split(2, 1)[1] | {A}.unsafe_split(1)[1].mul_(2) | {p}.unsafe_split(2)[1] | {a}.unsafe_split(0) | {a}.unsafe_split(2, 5) | {s}.unsafe_split(1)"
        " | {a}.unsafe_split(1)[0].mul_(3) | {a}.unsafe_split(2, -1)[1]._version | {a}.unsafe_split(-1)"
    ),
    "unsafe_chunk": (
        "L.unsafe_chunk({a}, 2, 1)[0] | {a}.unsafe_chunk(2, 1)[1] | {A}.unsafe_chunk(2)[1].add_(1) | {a}.unsafe_chunk(0) | {s}.unsafe_chunk(1) | {e}.unsafe_chunk(2)[0]"
    ),
    "unsafe_split_with_sizes": (
        "L.unsafe_split_with_sizes({a}, (1, 2), 1)[1] | {a}.unsafe_split_with_sizes([1, 2], -1)[0] | {A}.unsafe_split_with_sizes((1, 1))[1].exp_()"
        " | {a}.unsafe_split_with_sizes((1, 1), 1) | {a}.unsafe_split_with_sizes((-1, 4), 1)"
    ),
    "hstack": (
        "L.hstack([{v}, {w}]) | L.hstack([{a}, {b}]) | L.hstack(({k}, {k})) | L.hstack([{s}, {s}]) | L.hstack([]) | L.hstack([{v}, {a}]) | L.hstack([{a}, {p}]) | L.hstack([{s}, {v}])"
        " | L.hstack([{v}.detach(), {w}.detach()], out={OE}) | L.hstack({a}) | L.hstack([{i}, {f}])"
    ),
    "vstack": (
        "L.vstack([{v}, {w}]) | L.vstack([{a}, {b}]) | L.vstack(({k}, {k})) | L.vstack([{s}, {s}]) | L.vstack([]) | L.vstack([{v}, {a}]) | L.vstack([{a}, {k}]) | L.row_stack([{v}, {a}])"
        " | L.vstack([{v}.detach(), {w}.detach()], out={OE})"
    ),
    "dstack": "L.dstack([{v}, {w}]) | L.dstack([{a}, {b}]) | L.dstack([{k}, {k}]) | L.dstack([{s}, {s}]) | L.dstack([]) | L.dstack([{v}, {a}]) | L.dstack([{a}, {p}])",
    "column_stack": "L.column_stack([{v}, {w}]) | L.column_stack([{a}, {b}]) | L.column_stack([{s}, {o}]) | L.column_stack([]) | L.column_stack([{v}, {sq}]) | L.column_stack([{p}[0], {a}])",
    "concat": "L.concat([{a}, {b}], dim=1) | L.concat([{a}, {p}]) | L.concatenate([{a}, {b}], -1) | L.concat([])",
    "atleast_1d": "L.atleast_1d({s}) | L.atleast_1d({v}) | L.atleast_1d({s}, {a})[0] | L.atleast_1d([{s}, {a}])[1] | L.atleast_1d(3)",
    "atleast_2d": "L.atleast_2d({s}) | L.atleast_2d({v}) | L.atleast_2d({a}) | L.atleast_2d({v}, {a})[0] | L.atleast_2d({W}).mul_(2)",
    "atleast_3d": "L.atleast_3d({s}) | L.atleast_3d({v}) | L.atleast_3d({a}) | L.atleast_3d({p}) | L.atleast_3d({k}) | L.atleast_3d(({v}, {a}))[1] | L.atleast_3d({A}).mul_(2)",
    "meshgrid": (
        "L.meshgrid({v}, {w}, indexing='ij')[0] | L.meshgrid({v}, {w}, indexing='ij')[1] | L.meshgrid([{v}, {o}])[0] | L.meshgrid({v}, {o}, indexing='xy')[0] | L.meshgrid({v}, {o}, {w}, indexing='xy')[1]"
        " | L.meshgrid({v}, {s}, indexing='ij')[1] | L.meshgrid({v}, {a}, indexing='ij') | L.meshgrid({v}, {f}[0], indexing='ij') | L.meshgrid({v}, {w}, indexing='zz') | L.meshgrid([], indexing='ij')"
        " | L.meshgrid({v}, indexing='xy')[0] | L.meshgrid({p}[0], {W}, indexing='ij')[0]"
    ),
    "cartesian_prod": "L.cartesian_prod({v}, {w}) | L.cartesian_prod({v}) | L.cartesian_prod({v}, {a}) | L.cartesian_prod({i}[0], {i}[1], {iv})",
    "combinations": "L.combinations({v}) | L.combinations({v}, 3) | L.combinations({v}, 1) | L.combinations({v}, 0) | L.combinations({v}, r=2, with_replacement=True) | L.combinations({v}, -1) | L.combinations({a}) | L.combinations({v}, 4)",
    "block_diag": "L.block_diag({a}, {v}) | L.block_diag({s}, {p}, {o}) | L.block_diag({k}) | L.block_diag({a}, {i}) | L.block_diag({e}, {a}) | L.block_diag({a})",
    "copies": (
        "L.select_copy({a}, 0, 1) | L.select_copy({p}, -1, -1) | L.select_copy({a}, 0, 5) | L.slice_copy({a}, 1, 0, 3, 2) | L.slice_copy({a}) | L.view_copy({a}, (3, 2)) | L.view_copy({p}, (-1,)) | L.view_copy({a}, (4,))"
        " | L.t_copy({a}) | L.t_copy({v}) | L.t_copy({k}) | L.transpose_copy({a}, 0, 1) | L.transpose_copy({a}, 0, 3) | L.permute_copy({k}, (2, 0, 1)) | L.permute_copy({k}, (0, 0, 1)) | L.expand_copy({col}, (2, 3))"
        " | L.expand_copy({v}, (2, -1)) | L.expand_copy({v}, (2, 4)) | L.alias_copy({p}) | L.diagonal_copy({a}, 1) | L.diagonal_copy({k}, 0, 1, 2) | L.as_strided_copy({a}, (2, 2), (1, 1), 1) | L.as_strided_copy({a}, (2,), (1,), 9)"
        " | L.squeeze_copy({col}) | L.squeeze_copy({col}, 1) | L.squeeze_copy({col}, (0, 1)) | L.unsqueeze_copy({a}, 1) | L.unsqueeze_copy({p}, -1) | L.unfold_copy({v}, 0, 2, 1) | L.unfold_copy({k}, 1, 2, 1)"
        " | L.unbind_copy({a})[1] | L.unbind_copy({p}, 1)[0] | L.split_copy({a}, 2, 1)[1] | L.split_with_sizes_copy({a}, (1, 2), 1)[0] | L.select_copy({a}.detach(), 0, 1, out={OE}) | L.select_copy({a}.detach(), 0, 1, out={OF})"
        " | L.t_copy({p}.detach(), out={O}) | L.transpose_copy({p}.detach(), 0, 1, out={OT}) | L.select_copy({a}, 0, 1, out={OE}) | L.select_copy({i}, 0, 1)"
    ),
    "scatter_out": (
        "L.scatter({a}.detach(), 1, {ix}, {b}.detach(), out={O}) | L.scatter({a}.detach(), 1, {ix}, 2.0, out={OE}) | L.scatter({a}.detach(), 1, {ix}, 2.0, out={OF}) | L.scatter({a}, 1, {ix}, {b}, out={O})"
        " | L.take_along_dim({a}.detach(), {ix}, 1, out={OE}) | L.index_copy({a}.detach(), 0, L.tensor([1, 0]), {b}.detach(), out={O}) | L.index_add({a}.detach(), 0, L.tensor([1, 1]), {b}.detach(), out={OT})"
    ),
}
_HOW = ("'sum'", "'prod'", "'mean'", "'amax'", "'amin'")
_MERGED = (
    "{a}.scatter_reduce(0, {ix}, {b}, %s)",
    "({a} * 1.1).scatter_reduce(1, {ix}, {b}, %s, include_self=False)",
    "{zero}.scatter_reduce(1, {ix}, {zero}, %s)",
    "({zero} + 0.1).scatter_reduce(0, L.tensor([[0, 1, 1]]), {zero}[:1], %s, include_self=False)",
    "{ties}.scatter_reduce(1, {ix}, {ties}, %s)",
    "{p}.scatter_reduce(-1, L.tensor([[2], [0]]), {k}[0].t()[:, :1], %s)",
    "{A}.scatter_reduce_(1, {ix}, {b}, %s)",
    "{P}.scatter_reduce_(1, {ix}, {b}, %s)",
    "{V}.scatter_reduce_(0, {ix}, {b}, %s)",
    "{i}.scatter_reduce(1, {ix}, {i}, %s)",
    "{i}.scatter_reduce(1, {ix}, -{i}, %s, include_self=False)",
    "{n}.scatter_reduce(1, {ix}, {n}, %s, include_self=False)",
    "{m}.scatter_reduce(1, {ix}, {m}, %s)",
    "{z}.detach().scatter_reduce(1, {ix}, {z}.detach(), %s)",
    "{nan}.scatter_reduce(1, {ix}, {nan}, %s)",
    "{s}.scatter_reduce(0, L.tensor(0), {s}, %s)",
    "{a}.scatter_reduce(1, {ix}, {f}, %s)",
    "{a}.scatter_reduce(1, {ix} + 3, {b}, %s)",
    "{a}.scatter_reduce(1, {iv}, {b}, %s)",
    "{a}.detach().scatter_reduce(1, L.zeros((2, 0), dtype=L.int64), {b}.detach(), %s)",
    "{a}.detach().scatter_reduce(0, {ix}[:1], {b}.detach(), %s)",
    "L.scatter_reduce({a}.detach(), 1, {ix}, {b}.detach(), %s, out={OE})",
    "L.scatter_reduce({a}.detach(), 1, {ix}, {b}.detach(), %s, out={OF})",
    "{a}.index_reduce(0, L.tensor([1, 1]), {b}, %s)",
    "{a}.index_reduce(1, {iv}, {p}[:, :2], %s, include_self=False)",
    "{zero}.index_reduce(1, L.tensor([0, 1, 0]), {zero}, %s)",
    "{ties}.index_reduce(1, L.tensor([0, 1, 0]), {ties}, %s)",
    "{A}.index_reduce_(0, L.tensor([1, 1]), {b}, %s)",
    "{P}.index_reduce_(1, {iv}, {b}[:, 1:], %s)",
    "{i}.index_reduce(0, L.tensor([1, 1]), {i}, %s)",
    "{i}.index_reduce(0, L.tensor([1, 1]), -{i}, %s, include_self=False)",
    "{m}.index_reduce(0, L.tensor([1, 1]), {m}, %s)",
    "{z}.detach().index_reduce(0, L.tensor([1, 1]), {z}.detach(), %s)",
    "{s}.index_reduce(0, L.tensor(0), {s}, %s)",
    "{a}.index_reduce(0, L.tensor([2]), {b}[:1], %s)",
    "{a}.index_reduce(0, L.tensor([0]), {b}, %s)",
    "{a}.index_reduce(0, L.tensor([0, 1]), {f}, %s)",
    "{a}.index_reduce(0, L.tensor([[0, 1]]), {b}, %s)",
    "{a}.index_reduce(0, L.tensor([0, 1]).int(), {b}, %s)",
    "{a}.index_reduce(0, L.tensor([0.0, 1.0]), {b}, %s)",
    "{k}.index_reduce(1, L.tensor([2, 2, 0]), {k} * 2, %s)",
    "L.index_reduce({a}.detach(), 0, L.tensor([0, 1]), {b}.detach(), %s, out={OE})",
)
_REDUCED = (
    "{a}.detach().scatter(1, {ix}, {b}.detach(), reduce=%s)",
    "{a}.detach().scatter(1, {ix}, 2.5, reduce=%s)",
    "{i}.scatter(1, {ix}, 2.5, reduce=%s)",
    "{m}.scatter(1, {ix}, {m}, reduce=%s)",
    "{z}.detach().scatter(1, {ix}, 2j, reduce=%s)",
    "{i}.scatter_(1, {ix}, {i} + 1, reduce=%s)",
    "{i}.scatter_(1, {ix}, value=2, reduce=%s)",
    "{a}.scatter_(1, {ix}, value=2, reduce=%s)",
    "{a}.scatter(1, {ix}, {f}, reduce=%s)",
    "L.scatter({a}.detach(), 1, {ix}, {b}.detach(), reduce=%s, out={OE})",
)

STRUCTURE: dict[str, tuple[str, ...]] = {
    **{op: tuple(calls.split(" | ")) for op, calls in _LISTED.items()},
    "scatter_reduce": tuple(call % how for call in _MERGED for how in (*_HOW, "'no'")),
    "scatter_reduced": tuple(
        call % how for call in _REDUCED for how in ("'add'", "'multiply'", "'sum'")
    ),
}
