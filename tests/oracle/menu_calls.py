"""Calls of operators that take more than one tensor and a dimension, written out one by one."""

# ruff: noqa: E501 (a call is easier to find and compare on one line)
from tests.oracle.menu import ANY, DTYPES

_PRODUCTS = (
    ("{v}", "{a}", "{k}", "{s}", "{p}", "{e}", "{x}", "{f}", "{i}", "{z}", "{q}"),
    ("{w}", "{sq}", "{k}", "{s}", "{a}.t()", "{q}", "{f}.t()", "{i}.t()", "{z}.t()", "{e}")
    + ("{k}.transpose(1, 2)", "{m}.t()"),
)
_CASTS = "double float half long int short char byte bool".split()

_LISTED: dict[str, str] = {
    "add": (
        "{a}.add({b}, alpha=2) | {a}.add({b}, alpha=0.5) | {i}.add({j}, alpha=0.5) | {i}.add({j}, alpha=3)"
        " | {A}.add_({b}, alpha=-2) | {a}.add(3, alpha=2) | {m}.add({m}, alpha=True) | {z}.add({a}, alpha=1j)"
        " | {a}.add({b}, alpha=1j)"
    ),
    "sub": (
        "{a}.sub({b}, alpha=2) | {A}.sub_({b}, alpha=-2) | L.sub({a}, 1, alpha=2) | {m}.sub({m}) | {a}.rsub(1)"
        " | L.rsub({a}, {b})"
    ),
    "pow": (
        "L.pow({pos}, {u}) | L.pow(2, {a}) | L.pow(2.5, {a}) | L.pow({a}, 2) | L.pow({a}, 3) | L.pow({pos}, 0.5)"
        " | L.pow({pos}, -1) | L.pow({a}, 0) | 2 ** {i} | {i} ** -1 | {i} ** 2 | {i} ** 2.0 | {zero} ** 2"
        " | {zero} ** {zero} | 0.0 ** {zero} | {zero} ** 0.5 | {z} ** 2 | {pos} ** {z} | 2j ** {a} | {pos} ** 1j"
        " | {A}.pow_(3) | {pos}.clone().pow_({u}) | {u}.clone().pow_({a}) | {j} ** {j} | {m} ** {m}"
    ),
    "clamp": (
        "{a}.clamp(0, 1) | {a}.clamp(-0.5, 2.0) | {a}.clamp(min=0.5) | {a}.clamp(max=0.5) | {a}.clamp({u}, {b})"
        " | {a}.clamp(min={b}) | {a}.clamp(max={v}) | {a}.clamp({s}, {b}) | {i}.clamp(0, 2) | {i}.clamp(0.5, 2)"
        " | {a}.clamp() | {a}.clamp(2, 0) | {nan}.clamp(0, 1) | {A}.clamp_(0, 1) | {A}.clamp_({u}, {b})"
        " | {A}.clamp_(min=0.5) | {P}.clamp_(max={v}) | {f}.clamp({a}, {b}) | {z}.clamp(0, 1) | {i}.clamp_(0.5)"
        " | {a}.clamp({u}, 1) | {m}.clamp(0) | L.clamp({a}.detach(), 0, 1, out={OE})"
        " | L.clamp({a}.detach(), 0, 1, out={OF})"
    ),
    "where": (
        "L.where({m}, {a}, {b}) | L.where({m}, {a}, 2) | L.where({m}, 1, {a}) | L.where({m}, 1, 2)"
        " | L.where({m}, 1.0, 2) | L.where({mv}, {a}, {s}) | L.where({m}, {f}, {b}) | L.where({m}, {a}, {i})"
        " | L.where({i}, {a}, {b}) | L.where({m}, {p}, {p}) | L.where({m}) | {a}.where({m}, {b})"
        " | {a}.where({m}, 0) | L.where({m}, {v}, {col}) | L.where({n}, {a}, {b}) | L.where({m}, {f}, {s})"
        " | L.where({m}, {i}, 0.5) | L.where({m}, {z}, {a}) | L.where({m}, 1j, {f})"
        " | L.where({m}, {a}.detach(), {b}.detach(), out={O})"
    ),
    "lerp": (
        "L.lerp({a}, {b}, 0.25) | L.lerp({a}, {b}, {u}) | {a}.lerp({v}, {s}) | {A}.lerp_({b}, 0.75)"
        " | {A}.lerp_({b}, {u}) | {f}.lerp({a}, 0.5) | {i}.lerp({i}, 0.5) | {a}.lerp({b}, {f})"
        " | {P}.lerp_({P}, 0.5) | {z}.lerp({z}, 0.5) | {z}.lerp({z}, 1j) | {a}.lerp({b}, 2)"
        " | L.lerp({a}.detach(), {b}.detach(), 0.5, out={O})"
    ),
    "addcmul": (
        "L.addcmul({a}, {b}, {p}) | {a}.addcmul({b}, {v}, value=2) | {A}.addcmul_({b}, {u}, value=-0.5)"
        " | {i}.addcmul({i}, {j}, value=2) | {i}.addcmul({i}, {j}, value=0.5) | {f}.addcmul({a}, {b})"
        " | {s}.addcmul({v}, {col}) | {A}.addcmul_({A}, {A})"
        " | L.addcmul({a}.detach(), {b}.detach(), {b}.detach(), out={O}) | {V}.addcmul_({b}, {u})"
    ),
    "addcdiv": (
        "L.addcdiv({a}, {b}, {pos}) | {a}.addcdiv({b}, {w}, value=2) | {A}.addcdiv_({b}, {u}, value=-0.5)"
        " | {i}.addcdiv({i}, {j}) | {f}.addcdiv({a}, {b}) | {a}.addcdiv({i}, {j}) | {P}.addcdiv_({b}, {pos})"
        " | {a}.addcdiv({b}, {i})"
    ),
    "sum_to_size": (
        "{a}.sum_to_size(2, 3) | {a}.sum_to_size(1, 3) | {a}.sum_to_size((3,)) | {a}.sum_to_size(size=(2, 1))"
        " | {a}.sum_to_size(()) | {a}.sum_to_size(1) | {a}.sum_to_size(2) | {a}.sum_to_size(1, 2, 3) | {j}.sum_to_size(3)"
        " | {p}.sum_to_size(2, 3) | {p}.sum_to_size(1, 1) | {k}.sum_to_size(3, 1) | {e}.sum_to_size(3) | {s}.sum_to_size(())"
    ),
    "complex": (
        "L.complex({a}, {b}) | L.complex({a}, {v}) | L.complex({p}, {s}) | L.complex({f}, {f}) | L.complex({f}, {a})"
        " | L.complex({i}, {i}) | L.complex({e}, {e}) | L.polar({pos}.detach(), {b}) | L.polar({pos}.detach(), {v}) | L.polar({pos}.detach().float(), {f})"
        " | L.complex({a}.detach(), {b}.detach(), out={O}) | L.polar({z}, {a})"
    ),
    "mm": (
        "L.mm({a}, {sq}) | L.mm({a}, {b}) | L.mm({p}, {sq}) | L.mm({e}, {sq})"
        " | L.mm({a}.detach(), {sq}.detach(), out={O}) | L.mm({v}, {sq}) | L.mm({i}, {i}.t()) | L.mm({a}, {f}.t())"
        " | L.mm({a}, {p}.t()) | L.mm({z}, {z}.t()) | L.mm({x}, {sq}) | L.mm({e}.t(), {e})"
    ),
    "mv": (
        "L.mv({a}, {v}) | L.mv({p}, {v}) | L.mv({a}, {col}) | L.mv({e}, {v}) | L.mv({i}, {i}[0])"
    ),
    "bmm": (
        "L.bmm({k}, {k}.transpose(1, 2)) | L.bmm({q}, {q}) | L.bmm({a}, {a}) | L.bmm({k}, {k})"
        " | L.bmm({q}, {q}.transpose(1, 2))"
    ),
    "dot": (
        "L.dot({v}, {w}) | {v}.dot({v}) | {v}.dot({a}) | {i}[0].dot({i}[1]) | {v}.dot({o}) | {z}[0].dot({z}[1])"
        " | {e}[:, 0].dot({e}[:, 1])"
    ),
    "outer": (
        "L.outer({v}, {w}) | {v}.outer({v}) | {v}.outer({a}) | {v}.outer({i}[0]) | {z}[0].outer({v})"
    ),
    "addmm": (
        "L.addmm({v}, {a}, {sq}) | L.addmm({a}, {b}, {sq}, beta=0.5, alpha=2) | {a}.addmm({b}, {sq}, beta=0)"
        " | {A}.addmm_({b}, {sq}) | L.addmm({s}, {a}, {sq}) | L.addmm({a}, {b}, {p})"
        " | {A}.addmm_({b}, {sq}, beta=2, alpha=0.5) | L.addmm({nan}, {a}, {sq}, beta=0)"
    ),
    "einsum": (
        "L.einsum('ij,kj->ik', {a}, {b}) | L.einsum('ij->', {a}) | L.einsum('ij->j', {a})"
        " | L.einsum('ij->ji', {a}) | L.einsum('ij,ij->i', {a}, {b}) | L.einsum('i,j->ij', {v}, {w})"
        " | L.einsum('bij,bkj->bik', {k}, {k}) | L.einsum('ii->i', {sq}) | L.einsum('ii', {sq})"
        " | L.einsum('ij,jk,k->i', {a}, {sq}, {v}) | L.einsum('...j,j->...', {k}.transpose(1, 2), {v})"
        " | L.einsum('ij,jk', {a}, {sq}) | L.einsum('ij,j', {a}, {v}) | L.einsum('ij,jk->ik', {a}, {a})"
        " | L.einsum('ij->ii', {a}) | L.einsum('ijk,j->ik', {k}, {v})"
    ),
    "fill_": (
        "{A}.fill_(2) | {A}.fill_({s}) | {A}.fill_({v}) | {V}.fill_(0.5) | {i}.fill_(2.7) | {a}.fill_(1)"
        " | {m}.fill_(3) | {A}.fill_(1j) | {Z}.fill_(1j) | {n}.fill_(300) | {n}.fill_(-1) | {P}.fill_({s})"
        " | {a}.detach().fill_({i}[0, 0]) | {A}.fill_({z}[0, 0])"
    ),
    "zero_": ("{A}.zero_() | {P}.zero_() | {V}.zero_() | {i}.zero_() | {a}.zero_() | {m}.zero_()"),
    "copy_": (
        "{A}.copy_({b}) | {A}.copy_({v}) | {A}.copy_({f}) | {A}.copy_({i}) | {P}.copy_({b}) | {V}.copy_({col})"
        " | {i}.copy_({a}) | {A}.copy_({A}) | {A}.copy_({k}) | {A}.copy_({s}) | {f}.detach().copy_({a})"
        " | {A}.copy_(other={b}) | {A}.copy_({z}) | {Z}.copy_({a}) | {m}.copy_({b}) | {S}.copy_({S}.t()) | {e}.clone().copy_({e})"
    ),
    "cat": (
        "L.cat([{a}, {b}]) | L.cat([{a}, {b}], dim=1) | L.cat([{a}, {p}], -1) | L.cat([{a}, {e}])"
        " | L.cat([{a}, {f}]) | L.cat([{a}, {i}]) | L.cat([{i}, {j}]) | L.cat([{a}, {v}]) | L.cat([{a}, {k}])"
        " | L.cat([{a}]) | L.cat([]) | L.cat([{a}, {a}]) | L.cat([{s}, {s}]) | L.cat([{a}, {b}], dim=2)"
        " | L.cat(({p}, {p})) | L.cat([{a}, {col}], 1) | L.cat([{a}, {col}], 0) | L.cat([{m}, {i}])"
        " | L.cat([{z}, {a}]) | L.cat([L.zeros(0), {a}]) | L.cat([{a}.detach()[:1], {b}.detach()[1:]], out={OE})"
    ),
    "stack": (
        "L.stack([{a}, {b}]) | L.stack([{a}, {b}], dim=1) | L.stack([{a}, {p}], -1) | L.stack([{a}, {v}])"
        " | L.stack([{s}, {s}]) | L.stack([{a}, {f}]) | L.stack([{a}, {i}]) | L.stack([{a}, {b}], dim=3)"
        " | L.stack([]) | L.stack([{p}, {p}], 2)"
    ),
    "repeat": (
        "{a}.repeat(2, 1) | {a}.repeat(1, 2, 3) | {v}.repeat(2) | {a}.repeat(2) | {a}.repeat(0, 1) | {s}.repeat(3)"
        " | {p}.repeat((2, 2)) | {a}.repeat(-1, 1)"
    ),
    "roll": (
        "{a}.roll(1) | {a}.roll(1, 0) | {a}.roll((1, 2), (0, 1)) | {a}.roll(-4, 1) | {p}.roll(1, 1)"
        " | {a}.roll((1, 2), 0) | {a}.roll(1, 5) | {e}.roll(1) | {s}.roll(1)"
    ),
    "flip": (
        "{a}.flip(0) | {a}.flip((0, 1)) | {a}.flip(-1) | {a}.flip(()) | {p}.flip(0) | {a}.flip(3)"
        " | {a}.flip((0, 0)) | {x}.flip(1)"
    ),
    "gather": (
        "{a}.gather(1, {ix}) | {a}.gather(0, {ix}) | L.gather({a}, -1, {ix}) | {p}.gather(0, {ix})"
        " | {a}.gather(1, {iv}) | {a}.gather(2, {ix}) | {a}.gather(0, {i}) | {a}.gather(1, {f})"
        " | {a}.gather(1, L.tensor([[0], [1]])) | {a}.gather(1, L.tensor([[0, 0, 0]])) | {a}.gather(0, {ix}.int())"
        " | {s}.gather(0, L.tensor(0)) | {i}.gather(1, {ix})"
    ),
    "scatter": (
        "{a}.scatter(0, L.tensor([[0, 1, 0]]), {b}) | {a}.scatter(1, L.tensor([[2, 0], [1, 2]]), {b})"
        " | {a}.scatter(1, L.tensor([[2, 0], [1, 2]]), 5) | {A}.scatter_(1, L.tensor([[2], [1]]), {b})"
        " | {A}.scatter_(1, L.tensor([[2], [1]]), 0.5) | {a}.scatter(1, L.tensor([[7]]), {b})"
        " | {a}.scatter(0, {iv}, {b}) | {a}.scatter(1, L.tensor([[2]]), {f})"
    ),
    "scatter_add": (
        "{a}.scatter_add(0, {ix}, {b}) | {a}.scatter_add(1, {ix}, {b}) | {A}.scatter_add_(1, {ix}, {b})"
        " | {a}.scatter_add(1, L.tensor([[0, 0, 0]]), {b}[:1]) | {i}.scatter_add(1, {ix}, {i})"
        " | {P}.scatter_add_(1, {ix}, {b}) | {a}.scatter_add(1, {ix}, {f}) | {a}.scatter_add(1, {iv}, {b})"
        " | {a}.scatter_add(5, {ix}, {b})"
    ),
    "index_select": (
        "{a}.index_select(1, {iv}) | {a}.index_select(0, L.tensor([1, 1, 0]))"
        " | {a}.index_select(1, L.tensor([], dtype=L.int64)) | {p}.index_select(0, L.tensor([1]))"
        " | {a}.index_select(0, {iv}) | {a}.index_select(1, {ix}) | {a}.index_select(1, L.tensor(2))"
        " | {s}.index_select(0, L.tensor([0])) | {a}.index_select(1, L.tensor([-1])) | {a}.index_select(1, {v})"
        " | {k}.index_select(-1, L.tensor([1, 0]))"
    ),
    "take": (
        "{a}.take({iv}) | {a}.take({ix}) | {a}.take(L.tensor([-1, 5])) | {a}.take(L.tensor([6])) | {p}.take({ix})"
        " | {a}.take({v}) | {i}.take({iv}) | {e}.take(L.tensor([], dtype=L.int64))"
    ),
    "masked_select": (
        "{a}.masked_select({m}) | {a}.masked_select({mv}) | {p}.masked_select({m}) | {a}.masked_select({i})"
        " | {v}.masked_select({m}) | L.masked_select({s}, {m})"
    ),
    "masked_fill": (
        "{a}.masked_fill({m}, 2) | {a}.masked_fill({mv}, {s}) | {a}.masked_fill({m}, {v})"
        " | {v}.masked_fill({m}, 1) | {i}.masked_fill({m}, 2.5) | {A}.masked_fill_({m}, 1.5)"
        " | {A}.masked_fill_({mv}, {s}) | {V}.masked_fill_({m}, 0) | {P}.masked_fill_({m}, {s})"
        " | {a}.masked_fill({i}, 1) | {f}.masked_fill({m}, {s}) | {a}.masked_fill({m}, 1j)"
        " | {W}.masked_fill_({m}, 1) | {a}.masked_fill({n}, 1)"
    ),
    "index_fill": (
        "{a}.index_fill(1, {iv}, 2) | {a}.index_fill(1, {iv}, {s}) | {A}.index_fill_(0, L.tensor([0]), 0.5)"
        " | {P}.index_fill_(1, {iv}, {s}) | {a}.index_fill(0, {iv}, 1) | {a}.index_fill(1, {iv}, {v})"
        " | {i}.index_fill(1, {iv}, 2.5)"
    ),
    "index_add": (
        "{a}.index_add(1, {iv}, {p}[:, :2]) | {a}.index_add(0, L.tensor([1, 1]), {b})"
        " | {A}.index_add_(0, L.tensor([1, 1]), {b}, alpha=2) | {a}.index_add(0, L.tensor([0]), {b})"
        " | {a}.index_add(0, L.tensor([0, 5]), {b}) | {a}.index_add(0, L.tensor([0, 1]), {f})"
        " | {P}.index_add_(0, L.tensor([0, 1]), {b}) | {i}.index_add(0, L.tensor([0, 0]), {i})"
    ),
    "index_copy": (
        "{a}.index_copy(0, L.tensor([1, 0]), {b}) | {A}.index_copy_(0, L.tensor([1]), {b}[:1])"
        " | {P}.index_copy_(1, L.tensor([2, 0]), {b}[:, :2]) | {a}.index_copy(0, L.tensor([1, 0]), {f})"
        " | {a}.index_copy(0, L.tensor([1]), {b})"
    ),
    "index_put": (
        "{a}.index_put((L.tensor([1]), L.tensor([2])), {s}) | {a}.index_put((L.tensor([1, 0]),), {v})"
        " | {A}.index_put_((L.tensor([1, 1]),), {b}, accumulate=True)"
        " | {A}.index_put_(({m},), L.tensor(2.0, dtype=L.float64)) | {a}.index_put((L.tensor([1, 0]),), {f})"
        " | {a}.index_put((L.tensor([9]),), {v}) | {P}.index_put_((L.tensor([0, 1]), {iv}), {w}[:2])"
        " | {A}.index_put_(({m},), {v})"
    ),
    "nonzero": (
        "{a}.nonzero() | {m}.nonzero() | {zero}.nonzero() | {s}.nonzero() | {e}.nonzero() | L.nonzero({p})"
        " | L.nonzero({m}, as_tuple=True)[0] | L.nonzero({m}, as_tuple=True)[1]"
    ),
    "argsort": (
        "{a}.argsort() | {a}.argsort(0) | {a}.argsort(dim=1, descending=True) | {ties}.argsort(stable=True)"
        " | {v}.argsort() | {s}.argsort()"
    ),
    "topk": (
        "{a}.topk(2)[0] | {a}.topk(2)[1] | {a}.topk(1, dim=0)[0] | {a}.topk(2, largest=False)[0] | {a}.topk(5)[0]"
        " | {p}.topk(2, 1)[0] | {v}.topk(0)[0] | {i}.topk(2)[0] | {a}.topk(2).values"
    ),
}

CALLS: dict[str, tuple[str, ...]] = {
    **{op: tuple(calls.split(" | ")) for op, calls in _LISTED.items()},
    "div": tuple(
        f"{left}.div({right}, rounding_mode={mode})"
        for left in ("{a}", "{i}", "{A}")
        for right in ("{b}", "{j}", "2", "0.5", "{zero}")
        for mode in ("'floor'", "'trunc'", "None", "'x'")
    )
    + ("{A}.div_({b}, rounding_mode='floor')", "{A}.div_({b}, rounding_mode='trunc')")
    + ("{i}.div_(2)", "{i}.div_(2, rounding_mode='floor')"),
    "matmul": tuple(f"{left} @ {right}" for left in _PRODUCTS[0] for right in _PRODUCTS[1]),
    "clone": tuple(f"{{{letter}}}.clone()" for letter in ANY),
    "contiguous": tuple(f"{{{letter}}}.contiguous()" for letter in ANY),
    "to": tuple(f"{{{t}}}.to(L.{dtype})" for t in "apfimzs" for dtype in DTYPES)
    + ("{a}.to({f})", "{a}.to(L.float64, copy=True)", "{p}.to(L.float32)", "{a}.to('cpu')")
    + ("{a}.type_as({f})",),
    "casts": tuple(
        f"{{{t}}}.{cast}()" for t in ("a", "i", "m", "p", "z", "nan") for cast in _CASTS
    ),
    "tril": tuple(
        f"{t}.{op}({d})"
        for t in ("{a}", "{sq}", "{k}", "{p}", "{v}", "{i}", "{m}", "{e}")
        for op in ("tril", "triu")
        for d in ("", "1", "-1")
    )
    + ("{S}.tril_()", "{S}.triu_(1)", "{P}.tril_()", "{V}.triu_()"),
    "sort": tuple(
        f"{t}.sort(dim={d}, stable=True{order})[{k}]"
        for t in ("{a}", "{p}", "{ties}", "{nan}", "{i}", "{k}")
        for d in ("0", "-1", "3")
        for order in ("", ", descending=True")
        for k in (0, 1)
    )
    + ("{a}.sort()[0]", "{s}.sort()[0]", "{v}.sort(descending=True)[0]", "{a}.sort().values")
    + ("L.sort({v}).indices",),
}
