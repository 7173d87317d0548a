"""Calls of view operators, indexing and creation that are compared one by one."""

# ruff: noqa: E501 (a call is easier to find and compare on one line)

from tests.oracle.menu import DTYPES

_LAYOUTS = ("{a}", "{p}", "{g}", "{x}", "{v}", "{s}", "{e}", "{k}", "{q}", "{i}")


def _on(layouts: tuple[str, ...], calls: str) -> tuple[str, ...]:
    """Each method call, separated by a bar, on each layout."""
    return tuple(f"{t}.{call.strip()}" for t in layouts for call in calls.split("|"))


_DIMS = ("0", "1", "-1", "2", "-2", "5")

VIEWS: dict[str, tuple[str, ...]] = {
    "view": _on(
        _LAYOUTS, "view(6)|view(-1)|view(2, 3)|view((3, 2))|view(1, 6, 1)|view(-1, 2)|view(-1, -1)"
    )
    + _on(
        ("{e}", "{s}", "{k}"),
        "view(0, -1)|view(-1, 0)|view(())|view(1)|view(3, 4)|view(-2)|view(2, 2, 3)",
    ),
    "reshape": _on(_LAYOUTS, "reshape(6)|reshape(-1)|reshape(3, 2)|reshape((2, 3))|reshape(-1, 1)")
    + _on(("{q}", "{k}"), "reshape(4, 3)|reshape(2, 6)|reshape(3, 2, 2)"),
    "select": tuple(
        f"{t}.select({d}, {n})" for t in _LAYOUTS for d in _DIMS for n in (0, 1, -1, 7)
    ),
    "narrow": _on(
        _LAYOUTS,
        "narrow(0, 0, 1)|narrow(1, 1, 2)|narrow(-1, -2, 1)|narrow(0, 0, 0)|narrow(0, 1, 5)|narrow(0, 0, -1)|narrow(4, 0, 1)|narrow(0, 9, 0)",
    ),
    "transpose": tuple(
        f"{t}.{op}({d}, {e})"
        for t in _LAYOUTS
        for op in ("transpose", "swapaxes")
        for d in ("0", "-1")
        for e in ("0", "1", "-2", "4")
    ),
    "t": _on(_LAYOUTS, "t()|T|mT"),
    "permute": _on(
        _LAYOUTS,
        "permute(1, 0)|permute((0, 1))|permute(2, 0, 1)|permute(-1, 0)|permute(0, 0)|permute(0)|permute(())|permute(0, 5)",
    ),
    "movedim": _on(
        _LAYOUTS,
        "movedim(0, 1)|movedim(-1, 0)|movedim((0, 1), (1, 0))|movedim(0, 5)|movedim((0, 0), (1, 0))",
    ),
    "unsqueeze": tuple(f"{t}.unsqueeze({d})" for t in _LAYOUTS for d in (*_DIMS, "3", "-3")),
    "squeeze": _on(
        (*_LAYOUTS, "{col}", "{o}"),
        "squeeze()|squeeze(0)|squeeze(1)|squeeze(-1)|squeeze((0, 1))|squeeze(7)|squeeze(())",
    ),
    "expand": _on(
        (*_LAYOUTS, "{col}", "{o}"),
        "expand(2, 3)|expand(4, 2, 3)|expand(-1, 3)|expand(1, 2, 3)|expand(3)|expand(-1)|expand(2, -1)|expand(0, 3)|expand(2)|expand((2, 5))|expand(-1, 2, 3)",
    ),
    "expand_as": (
        "{s}.expand_as({a})",
        "{v}.expand_as({a})",
        "{a}.expand_as({v})",
        "{col}.expand_as({a})",
        "{a}.view_as({p}.t())",
        "{v}.view_as({col})",
        "{a}.view_as({i})",
    ),
    "flatten": _on(
        _LAYOUTS,
        "flatten()|flatten(0, 1)|flatten(1)|flatten(-2, -1)|flatten(1, 0)|flatten(0, 5)|ravel()",
    ),
    "unflatten": _on(
        ("{a}", "{v}", "{p}", "{s}", "{k}"),
        "unflatten(1, (3, 1))|unflatten(0, (-1, 1))|unflatten(-1, (2, 2))|unflatten(0, (1, 2))|unflatten(4, (1,))",
    ),
    "diagonal": _on(
        (*_LAYOUTS, "{sq}"),
        "diagonal()|diagonal(1)|diagonal(-1)|diagonal(0, 1, 0)|diagonal(0, -1, -2)|diagonal(5)|diagonal(0, 0, 0)|diagonal(0, 0, 7)",
    ),
    "unfold": _on(
        _LAYOUTS,
        "unfold(0, 1, 1)|unfold(1, 2, 1)|unfold(-1, 2, 2)|unfold(0, 2, 3)|unfold(0, 5, 1)|unfold(0, 0, 1)|unfold(0, 1, 0)|unfold(6, 1, 1)|unfold(0, -1, 1)",
    ),
    "as_strided": _on(
        _LAYOUTS,
        "as_strided((2,), (1,))|as_strided((2, 2), (1, 1))|as_strided((2, 2), (2, 1), 1)|as_strided((), ())|as_strided((3,), (0,))|as_strided((9,), (9,))|as_strided((2,), (1, 1))|as_strided((2,), (-1,))|as_strided((0,), (1,), 2)|as_strided((1,), (1,), -1)",
    ),
    "split": tuple(
        f"{t}.split({n})[{k}]"
        for t in ("{a}", "{p}", "{v}", "{k}", "{e}", "{s}")
        for n in ("1", "2", "2, dim=1", "[1, 1]", "[1, 2], -1", "0", "-1", "[2, 2]", "2, 4")
        for k in (0, -1)
    )
    + tuple(
        f"{t}.chunk({n})[{k}]"
        for t in ("{a}", "{p}", "{v}", "{e}", "{s}")
        for n in ("1", "2", "2, 1", "7", "0")
        for k in (0, -1)
    ),
    "unbind": tuple(
        f"{t}.unbind({d})[{k}]"
        for t in ("{a}", "{p}", "{v}", "{k}", "{s}", "{e}")
        for d in ("", "1", "-1", "4")
        for k in (0, -1)
    )
    # Rows that a loop gives are other views here, with the same values.
    + ("[r.detach() for r in {a}][1]", "len({a})", "len({s})", "list({s})")
    + ("[r.detach() for r in {v}][2]",),
    "tensor_split": tuple(
        f"{t}.tensor_split({n})[{k}]"
        for t in ("{a}", "{p}", "{v}", "{e}", "{s}")
        for n in (
            "2",
            "2, dim=1",
            "(1,)",
            "(0, 1), dim=1",
            "(1, 5)",
            "0",
            "L.tensor([1])",
            "L.tensor(2)",
            "5",
        )
        for k in (0, -1)
    ),
    "detach": _on(
        _LAYOUTS,
        "detach()|data|detach_()|requires_grad_(False)|is_contiguous()|dim()|numel()|size()|size(0)|size(-1)|element_size()|ndim|itemsize|nbytes",
    ),
    "conj": _on(
        (
            "{z}",
            "{z}.t()",
            "{z}[0, 1]",
            "{z}[:0]",
            "{a}",
            "{i}",
            "{s}",
            "{z}.conj()",
            "{z}.conj().imag",
            "{z}._neg_view()",
        ),
        "conj()|conj().conj()|resolve_conj()|resolve_neg()|is_conj()|is_neg()|conj_physical()|real|imag|adjoint()|H|mH|mT|_neg_view()|conj().imag|conj().real"
        "|conj().resolve_conj()|conj().clone()|conj().detach()|conj().contiguous()|conj().t()|conj()[..., :1]|conj().reshape(-1)|conj().sum()|conj().abs()|conj() * 2|conj().tolist()"
        "|numpy()|detach().numpy()|detach().numpy(force=True)|conj().detach().numpy()",
    )
    + tuple(
        f"L.{op}({t})"
        for op in "conj resolve_conj resolve_neg is_conj is_neg conj_physical real imag adjoint view_as_real view_as_complex".split()
        for t in (
            "{z}",
            "{a}",
            "{i}",
            "{z}.conj()",
            "{z}.conj().imag",
            "{k}",
            "{q}",
            "{k}.permute(2, 1, 0)",
            "{k}[:, 1:]",
            "{k}[:, :, :1]",
            "{s}",
            "{h}",
            "{z}._neg_view()",
            "{k}._neg_view()",
            "2",
        )
    ),
    "view dtype": tuple(
        f"{t}.view(L.{dtype})"
        for t in (
            "{i}",
            "{i}.t()",
            "{i}[:, 1:]",
            "{i}[:, :2]",
            "{i}[0, 0]",
            "{i}[:0]",
            "{j}",
            "{n}",
            "{m}",
            "{a}",
            "{f}",
            "{f}[:, :2]",
            "{f}[:, 1:]",
            "{k}",
            "{q}",
            "{z}",
            "{z}.t()",
            "{z}.conj()",
            "{z}.conj().imag",
            "{z}._neg_view()",
            "{i}.expand(2, 2, 3)",
            "{i}[:, :1].expand(2, 4)",
        )
        for dtype in (
            "int64",
            "int32",
            "int16",
            "uint8",
            "bool",
            "float64",
            "float32",
            "complex64",
            "complex128",
        )
    )
    + (
        "{i}.view(dtype=L.int32)",
        "{a}.view(L.float64).add_(1)",
        "{i}.view(L.int32, 2)",
        "{i}.view('int32')",
    ),
    "real=": tuple(
        f"[setattr({t}, '{part}', {value}), {t}][1]"
        for t in ("{Z}", "{z}", "{A}", "{i}", "{Z}.conj()", "{Z}[0]")
        for part in ("real", "imag")
        for value in (
            "2",
            "1.5",
            "True",
            "1j",
            "{v}",
            "{s}",
            "{a}",
            "{z}",
            "{col}",
            "{k}",
            "None",
            "[1.0, 2.0, 3.0]",
            "{i}",
            "{f}",
            "{o}",
        )
    ),
    "lazy writes": tuple(
        f"[{t}.{call}, {{Z}}][1]"
        for t in (
            "{Z}.conj()",
            "{Z}.real",
            "{Z}.imag",
            "{Z}.conj().imag",
            "L.view_as_real({Z})",
            "{Z}.mH",
            "{Z}._neg_view()",
            "{Z}[0].conj()",
            "{Z}.conj()[:, 1:]",
            "{Z}.conj().t()[1]",
            "{Z}.t().conj().real",
            "{z}.conj()",
        )
        for call in (
            "zero_()",
            "fill_(2)",
            "mul_(2)",
            "add_({s})",
            "mul_({s})",
            "copy_({s})",
            "copy_({z}[0, 0])",
            "mul_(1j)",
            "t_()",
            "neg_()",
            "conj_physical_()",
            "abs_()",
            "exp_()",
            "__setitem__(0, 3)",
            "__setitem__((0, ...), {s})",
        )
    ),
    "t_": _on(
        ("{A}", "{P}", "{V}", "{K}", "{W}", "{a}"),
        "t_()|transpose_(0, 1)|transpose_(0, -1)|swapaxes_(0, 1)|squeeze_()|squeeze_(0)|unsqueeze_(0)|unsqueeze_(-1)|unsqueeze_(9)|as_strided_((2,), (1,))|as_strided_((2,), (1,), 1)|transpose_(0, 7)",
    ),
}

_INDICES = (
    "0|-1|1|5|-5|:|1:|:-1|::2|5:|-1:|::-1|::0|...|None|()|True|False|0, 0|0, 5|:, 0|:, 1:|..., 0|0, ...|None, 0|0, None"
    "|:, None|..., None, :|0:1, 1|:, :|0, 0, 0|..., ...|[0]|[1, 0]|[0, 0]|[]|[-1]|[9]|[0, 1], [0, 2]|[0, 1], 1:|:, [0, 2]"
    "|:, [2, 0, 0]|[0, 1], 0|0, [0, 2]|[[0, 1], [1, 0]]|[0], None, [1]|[0], :, None|[1, 0], [0]|[0, 1], [0, 1, 2]|..., [1]"
    "|L.tensor(1)|L.tensor([1, 0])|L.tensor([[0], [1]])|L.tensor(1), L.tensor(0)|L.tensor([0, 1]), 0|:, L.tensor([2, 1])"
    "|L.tensor([], dtype=L.int64)|L.tensor(True)|L.tensor([True, False])|[True, False]|[True, False, True]|:, [True, False, True]"
    "|[True, True], [0, 1]|[True, False], None|1.5|'x'|L.tensor(1.5)|L.tensor([0.5])|L.tensor([1, 0], dtype=L.int32)"
    "|L.tensor([1, 0], dtype=L.uint8)|slice(0, 2)|slice(None), 0|[0, slice(None)]|(0,)|(0, 1)|range(2)|(slice(0, 1), [0])"
).split("|")
_WRITTEN = (
    "2",
    "0.5",
    "True",
    "{s}",
    "{v}",
    "{w}[:2]",
    "{a}",
    "{f}[0]",
    "{i}",
    "L.tensor([[7.0]], dtype=L.float64)",
    "1j",
)
_SOURCES = ("{a}", "{p}", "{k}", "{v}", "{i}")

GETITEM = tuple(f"{t}[{index}]" for t in _SOURCES for index in _INDICES) + tuple(
    f"{t}[{index}]"
    for t in ("{a}", "{p}")
    for index in (
        "{m}",
        "{a} > 0.6",
        "{mv}",
        "0, {mv}",
        ":, {mv}",
        "{ix}",
        "{ix}, {ix}",
        "{iv}",
        ":, {iv}",
        "..., {iv}",
        "{m}, None",
        "None, {m}",
        "{i} > 7",
    )
)
# Duplicates in an index array are left out of writes: PyTorch's gradient is wrong there.
_UNIQUE = tuple(
    index for index in _INDICES if index not in ("[0, 0]", ":, [2, 0, 0]", "[[0, 1], [1, 0]]")
)
SETITEM = tuple(
    (target, index, value)
    for target in ("{A}", "{P}", "{V}")
    for index in _UNIQUE
    for value in ("2", "{s}")
) + tuple(
    (target, index, value)
    for target in ("{A}", "{P}", "{i}")
    for index in (
        "0",
        "1:",
        ":, 0",
        "...",
        ":",
        "None",
        "[0]",
        "[1, 0]",
        ":, [0, 2]",
        "{m}",
        "{mv}.unsqueeze(0) & {m}",
        "[0, 1], [0, 2]",
        "0, 0",
        "True",
        "5:",
    )
    for value in _WRITTEN
)

CREATION: tuple[str, ...] = (
    *"L.tensor(1)|L.tensor(1.5)|L.tensor(True)|L.tensor(1j)|L.tensor([])|L.tensor([[1, 2], [3, 4.5]])|L.tensor([1, True])|L.tensor([[1], [2, 3]])".split(
        "|"
    ),
    *"L.tensor('a')|L.tensor(None)|L.tensor([1, 'a'])|L.tensor({a})|L.tensor([{s}, {s}])|L.tensor(2, requires_grad=True)|L.tensor([1.5], dtype=L.int64)".split(
        "|"
    ),
    *"L.tensor([True, 0.5])|L.tensor([[], []])|L.tensor((1, 2))|L.tensor(range(3))|L.tensor([1e400])|L.tensor(300, dtype=L.uint8)|L.tensor(2**40)|L.tensor(2**70)".split(
        "|"
    ),
    *"L.as_tensor([1, 2])|L.as_tensor({a})|L.as_tensor({a}, dtype=L.float32)|L.zeros(2, 3)|L.zeros((2, 3))|L.zeros(())|L.zeros(0)|L.zeros(-1)|L.zeros(2.5)|L.ones(2, dtype=L.int64)".split(
        "|"
    ),
    *"L.full((2,), 3)|L.full((2,), 3.5)|L.full((2,), True)|L.full((2,), 1j)|L.full((2,), 3, dtype=L.float32)|L.full((), 2.0)|L.full((2,), 0.5, requires_grad=True)".split(
        "|"
    ),
    *"L.arange(5)|L.arange(5.0)|L.arange(1, 4)|L.arange(1, 4, 0.5)|L.arange(5, 1, -2)|L.arange(0)|L.arange(3, 1)|L.arange(0, 1, 0)|L.arange(2.5)|L.arange(4, dtype=L.float64)|L.arange(1, 2, 0.3)".split(
        "|"
    ),
    *"L.linspace(0, 1, 5)|L.linspace(1, 0, 3, dtype=L.float64)|L.linspace(0, 1, 1)|L.linspace(0, 1, 0)|L.linspace(0, 1, -1)|L.linspace(0, 10, 4, dtype=L.int64)|L.linspace(0, 1j, 3)".split(
        "|"
    ),
    *"L.eye(3)|L.eye(2, 3)|L.eye(0)|L.eye(2, dtype=L.int64)|L.eye(-1)|L.eye(3, 2, dtype=L.bool)".split(
        "|"
    ),
    *(
        f"L.{op}({{{t}}})"
        for op in ("zeros_like", "ones_like")
        for t in ("a", "p", "g", "x", "k", "q", "i", "m", "e", "s", "z")
    ),
    *(f"L.empty_like({{{t}}}).fill_(1)" for t in ("a", "p", "g", "x", "q", "i")),
    *"L.full_like({p}, 2)|L.full_like({i}, 2.5)|L.full_like({a}, 1j)|L.zeros_like({a}, dtype=L.int64)|L.zeros_like({a}, requires_grad=True)|L.ones_like({i}, requires_grad=True)".split(
        "|"
    ),
    *"{a}.new_zeros(2)|{a}.new_zeros((2, 2))|{f}.new_ones(2, 3)|{i}.new_full((2,), 3.5)|{a}.new_tensor([1, 2])|{i}.new_tensor([1.5])|{f}.new_empty(2).fill_(0)|{a}.new_zeros(2, dtype=L.bool)".split(
        "|"
    ),
    *(f"L.zeros(2, dtype=L.{dtype})" for dtype in DTYPES),
    *(f"L.tensor([1, 0], dtype=L.{dtype})" for dtype in DTYPES),
)

BRIDGE: tuple[str, ...] = tuple(
    f"L.tensor({expression})"
    for operand in (
        "{s}",
        "{o}",
        "{a}",
        "{i}",
        "{m}",
        "{e}",
        "{z}",
        "{v}",
        "{f}",
        "{i}[0, 0]",
        "{m}[0, 0]",
        "{z}[0, 0]",
    )
    for expression in (
        f"{operand}.item()",
        f"bool({operand})",
        f"int({operand})",
        f"float({operand})",
        f"complex({operand})",
        f"len({operand})",
        f"{operand}.tolist()",
        f"{operand}.detach().numpy()",
        f"[{operand}.dim(), {operand}.numel()]",
        f"[1, 2, 3][{operand}]",
        f"{operand} in [1]",
        f"0.75 in {operand}",
    )
) + (
    "L.from_numpy({a}.detach().numpy())",
    "L.from_numpy({a}.detach().numpy()[:, ::2])",
    "L.from_numpy({i}.numpy()).add_(1)",
    "L.from_numpy({a}.detach().numpy().T)",
    "L.as_tensor({a}.detach().numpy())",
    "L.tensor({a}.detach().numpy())",
    "L.from_numpy([1])",
    "L.tensor(hash({a}) == id({a}))",
    "{a}.numpy()",
    "{c}.numpy()",
    "L.tensor({a}.detach().numpy(), dtype=L.float32)",
    "__import__('copy').deepcopy({a})",
    "__import__('copy').deepcopy({c})",
    "__import__('copy').deepcopy({i})",
    "__import__('copy').copy({a})",
    "__import__('pickle').loads(__import__('pickle').dumps({a}))",
    "__import__('pickle').loads(__import__('pickle').dumps({i}[:, 1:]))",
    "L.tensor(__import__('numpy').asarray({i}))",
    "L.tensor(__import__('numpy').asarray({a}))",
)

# Values are each library's own: what is compared is everything else.
RANDOM: tuple[str, ...] = (
    *"L.rand(2, 3) * 0|L.rand((2,)) * 0|L.rand(2, dtype=L.float64) * 0|L.rand(2, requires_grad=True).detach() * 0|L.rand(0)|L.rand(-1)|L.rand(2, dtype=L.int64)".split(
        "|"
    ),
    *"L.randn(2, 3) * 0|L.randn(()) * 0|L.randn(2, dtype=L.float32) * 0|L.randint(5, (2, 3)) * 0|L.randint(1, 3, (4,)) // 3|L.randint(3, 1, (2,))|L.randint(2, (2,), dtype=L.float64) * 0".split(
        "|"
    ),
    *"L.randperm(5).sort()[0]|L.randperm(0)|L.randperm(3, dtype=L.int32).sort()[0]|L.randperm(-1)|L.rand_like({p}) * 0|L.randn_like({f}) * 0|L.randn_like({i})".split(
        "|"
    ),
    *"{A}.normal_().zero_()|{A}.uniform_().zero_()|{A}.uniform_(2, 1)|{P}.normal_(1, 2).zero_()|{A}.normal_(0, -1)|{i}.normal_()|{a}.uniform_()|{A}.uniform_(3, 3)|{V}.uniform_(1, 1)".split(
        "|"
    ),
    *"L.bernoulli(L.ones(3))|L.bernoulli(L.zeros(3, dtype=L.float64))|{A}.bernoulli_(1.0)|{A}.bernoulli_(0.0)|{A}.bernoulli_(2.0)|L.bernoulli({b})|{i}.bernoulli_(1.0)".split(
        "|"
    ),
    *"{A}.cauchy_().zero_()|{P}.cauchy_(1, 2).zero_()|{A}.cauchy_(0, 0)|{i}.cauchy_()|{a}.cauchy_()|{A}.log_normal_().zero_()|{A}.log_normal_(1, 0)|{i}.log_normal_()|{A}.geometric_(0.5).zero_()|{i}.clone().geometric_(0.5).zero_()|{A}.geometric_(1)|{m}.geometric_(0.5)".split(
        "|"
    ),
    "[L.manual_seed(3), x := L.rand(4), L.manual_seed(3), (L.rand(4) == x).all()][-1]",
    "(L.rand(4, generator=L.Generator().manual_seed(7)) == L.rand(4, generator=L.Generator().manual_seed(7))).all()",
    "(L.randn(4, generator=L.Generator().manual_seed(7)) == L.randn(4, generator=L.Generator().manual_seed(8))).all()",
)
