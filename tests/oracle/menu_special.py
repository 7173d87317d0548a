"""Calls of special functions, of sums with products, and of Python functions element by element."""

# ruff: noqa: E501 (a call is easier to find and compare on one line)
_LISTED: dict[str, str] = {
    "logit": (
        "{u}.logit(0.2) | L.logit({a}, eps=0.1) | L.logit({a}, -0.1) | {A}.logit_(0.25) | {pos}.logit(0.0)"
        " | {i}.logit(0.1) | L.logit({a}.detach(), 0.1, out={O}) | {nan}.logit(0.3)"
    ),
    "nan_to_num": (
        "{nan}.nan_to_num(1.5) | {nan}.nan_to_num(nan=2, posinf=3) | L.nan_to_num({nan}, 0.0, 1.0, -1.0)"
        " | {A}.nan_to_num_(1.0) | {nan}.clone().nan_to_num_(neginf=-5.0) | {i}.nan_to_num(2.5) | {f}.nan_to_num(posinf=1e300)"
    ),
    "frexp": (
        "{a}.frexp()[0] | {a}.frexp()[1] | L.frexp({p})[0] | {nan}.frexp()[1] | {zero}.frexp().mantissa"
        " | {f}.frexp().exponent | {h}.frexp()[0] | {i}.frexp() | {z}.frexp() | {e}.frexp()[0] | {s}.frexp()[0]"
    ),
    "xlogy": (
        "L.xlogy(2, {a}) | L.xlogy(0, {zero}) | L.xlogy(2.5, {pos}) | L.xlogy(1, {i}) | L.xlogy({zero}, 0) | L.xlogy({zero}, {zero})"
        " | L.xlogy(2, 3) | L.xlogy({zero}, {nan}) | L.xlogy(0.0, {nan})"
    ),
    "float_power": (
        "L.float_power(2, {a}) | L.float_power(2.5, {i}) | L.float_power({f}, 2) | {f}.float_power({i}) | {f}.float_power({a})"
        " | {i}.float_power(-1) | {f}.clone().float_power_(2) | {i}.clone().float_power_(2) | {A}.float_power_({f})"
        " | {A}.float_power_(2) | {A}.float_power_({z}) | {Z}.float_power_({a}) | L.float_power(2, 3) | {m}.float_power(0.5)"
        " | 1j * {f}.float_power(1j) | {s}.float_power({f})"
    ),
    "polygamma": (
        "L.polygamma(0, {pos}) | L.polygamma(1, {pos}) | {pos}.polygamma(2) | L.polygamma(3, {u}) | {P}.polygamma_(2)"
        " | {j}.polygamma(1) | {j}.float().polygamma(2) | L.polygamma(1, {z}) | L.polygamma(n=1, input={w})"
        " | {j}.clone().polygamma_(1) | L.polygamma(2, {pos}.detach(), out={O}) | L.polygamma(2, {j}, out={OI})"
    ),
    "mvlgamma": (
        "L.mvlgamma({pos}, 1) | {pos}.mvlgamma(p=2) | ({pos} + 1).mvlgamma(4) | {P}.mvlgamma_(2) | {j}.mvlgamma(2)"
        " | {j}.clone().mvlgamma_(2) | L.mvlgamma({pos}.detach(), 2, out={O}) | {f}.mvlgamma(1)"
    ),
    "igamma": (
        "L.igamma({pos}.detach(), {pos}) | {pos}.detach().igamma({u}) | {P}.detach().clone().igamma_({pos}) | L.igamma({j}, {pos})"
        " | L.igamma({pos}.detach(), {u}.detach(), out={O}) | L.igamma({j}, {j}) | L.igamma({pos}, {pos}) | {f}.igamma({f})"
        " | L.igamma({z}, {z}) | {j}.clone().igamma_({j})"
    ),
    "igammac": (
        "L.igammac({pos}.detach(), {pos}) | {pos}.detach().igammac({u}) | {P}.detach().clone().igammac_({pos}) | L.igammac({j}, {pos})"
        " | L.igammac({pos}.detach(), {u}.detach(), out={O}) | L.igammac({j}, {j}) | L.igammac({pos}, {pos}) | {f}.igammac({f})"
    ),
    "addmv": (
        "L.addmv({s}, {a}, {v}) | {v}[:2].addmv({a}, {w}, beta=0.5, alpha=2) | L.addmv({o}, {a}, {v}) | L.addmv({v}, {a}, {v})"
        " | L.addmv({v}, {sq}, {w}) | L.addmv({v}, {sq}.t(), {w}, beta=0) | {W}.addmv_({sq}, {v}) | {W}.addmv_({sq}, {v}, beta=2, alpha=0.5)"
        " | L.addmv({nan}[0], {sq}, {v}, beta=0) | L.addmv({v}, {sq}, {nan}[0], alpha=0) | L.addmv({v}, {f}, {v}) | L.addmv({a}, {a}, {v})"
        " | L.addmv({i}[0], {i}[:, :2], {i}[0, :2]) | L.addmv({i}[0, :2], {i}, {i}[0], alpha=2) | L.addmv({m}[0, :2], {m}, {m}[0])"
        " | L.addmv({z}[0, :2], {z}, {z}[0], alpha=1j) | L.addmv({v}[:2], {a}, {v}, alpha=1j) | L.addmv({h}[0, :2], {h}, {h}[0])"
        " | L.addmv({v}.detach(), {sq}.detach(), {w}.detach(), out=L.zeros(3, dtype=L.float64))"
    ),
    "addr": (
        "L.addr({sq}, {v}, {w}) | {sq}.addr({v}, {w}, beta=0.5, alpha=2) | L.addr({s}, {v}, {w}) | L.addr({v}, {w}, {v}) | {S}.addr_({v}, {w})"
        " | {S}.addr_({v}, {w}, beta=-1, alpha=0.5) | {A}.addr_({v}[:2], {w}) | L.addr({a}, {v}, {w}) | L.addr({a}, {a}, {v})"
        " | L.addr({sq}, {v}, {f}[0]) | L.addr({i}, {i}[0, :2], {j}[0]) | L.addr({i}, {i}[0, :2], {j}[0], alpha=0.5) | L.addr({i}, {v}[:2], {w})"
        " | L.addr({m}, {m}[0, :2], {m}[0]) | L.addr({m}, {m}[0, :2], {m}[0], beta=False) | L.addr({z}, {z}[0, :2], {v}, alpha=1j)"
        " | L.addr({nan}, {v}[:2], {w}, beta=0) | L.addr({f}, {h}[0, :2], {h}[1]) | {i}.clone().addr_({v}[:2], {w})"
        " | L.addr({a}.detach(), {v}.detach()[:2], {w}.detach(), out={O}) | L.addr({a}.detach(), {v}.detach()[:2], {w}.detach(), out={OF})"
    ),
    "baddbmm": (
        "L.baddbmm({s}, {k}, {k}.transpose(1, 2)) | {q}.baddbmm({q}, {k}[:, :2].transpose(1, 2) @ {k}[:, :2, :2].transpose(1, 2))"
        " | L.baddbmm({v}, {k}, {k}.transpose(1, 2), beta=0.5, alpha=2) | {K}.baddbmm_({k} @ {k}.transpose(1, 2), {k})"
        " | {K}.baddbmm_({k} @ {k}.transpose(1, 2), {k}, beta=2, alpha=0.5) | L.baddbmm({k}, {k}, {k})"
        " | L.baddbmm({f}, {k}, {k}.transpose(1, 2)) | L.baddbmm({nan}[0], {k}, {k}.transpose(1, 2), beta=0)"
        " | L.baddbmm({v}, {k}, {k}.transpose(1, 2), alpha=0) | L.baddbmm({i}[0], {i}[None], {i}[0, :3, None].expand(1, 3, 3), alpha=2)"
        " | L.baddbmm({z}[0], {z}[None], {z}[None].transpose(1, 2) @ {z}[None], beta=1j, alpha=2j) | {W}.baddbmm_({k}, {k}.transpose(1, 2))"
    ),
    "addbmm": (
        "L.addbmm({s}, {k}, {k}.transpose(1, 2)) | L.addbmm({sq}, {k}, {k}.transpose(1, 2)) | {S}.addbmm_({k}, {k}.transpose(1, 2))"
        " | L.addbmm({v}, {k}, {k}.transpose(1, 2), beta=0.5, alpha=2) | {S}.addbmm_({k}, {k}.transpose(1, 2), beta=2, alpha=0.5)"
        " | L.addbmm({nan}[0], {k}, {k}.transpose(1, 2), beta=0) | L.addbmm({v}, {k}, {k}.transpose(1, 2), alpha=0)"
        " | L.addbmm({sq}, {k}, {k}) | L.addbmm({f}, {k}, {k}.transpose(1, 2))"
        " | L.addbmm({i}[0], {i}[None], {i}[0, :3, None].expand(1, 3, 3), alpha=2) | L.addbmm({sq}, {q}.transpose(0, 2)[:, :, :2], {q}[:2, :, :3].transpose(0, 1)[:3])"
    ),
    "renorm": (
        "L.renorm({a}, 2, 0, 1.0) | {a}.renorm(1, -1, 0.5) | {a}.renorm(3, 0, 1.0) | {a}.renorm(2.5, 1, 2.0) | {a}.renorm(float('inf'), 0, 1.0)"
        " | {p}.renorm(2, 0, 1.0) | {k}.renorm(2, 1, 1.0) | {k}.renorm(1, 2, 3.0) | {A}.renorm_(2, 0, 1.0) | {P}.renorm_(2, 1, 1.0) | {V}.renorm_(1, 0, 1.0)"
        " | {v}.renorm(2, 0, 1.0) | {i}.renorm(2, 0, 1.0) | {a}.renorm(2, 5, 1.0)"
        " | {zero}.renorm(2, 1, 0.5) | {f}.renorm(2, 0, 1) | {h}.renorm(2, 0, 1) | {z}.renorm(2, 0, 1.0) | {z}.renorm(1, 1, 1.0)"
        " | {e}.renorm(2, 0, 1.0) | L.renorm({a}.detach(), 2, 0, 1.0, out={O}) | L.renorm({a}.detach(), 2, 0, 1.0, out={OF}) | {a}.renorm(2, 0, 0)"
    ),
    "isclose": (
        "{a}.isclose({b}) | L.isclose({a}, {a} + 1e-9) | {a}.isclose({b}, rtol=0.5, atol=0.25) | {nan}.isclose({nan}) | {nan}.isclose({nan}, equal_nan=True)"
        " | {i}.isclose({i} + 1, rtol=0.5) | {m}.isclose({m}) | {z}.isclose({z} + 1e-9) | {a}.isclose({f}) | {a}.isclose({v}) | {a}.isclose({s}) | {p}.isclose({p})"
        " | L.tensor({a}.allclose({b})) | L.tensor(L.allclose({a}, {a} + 1e-9)) | L.tensor({a}.equal({a})) | L.tensor(L.equal({a}, {v})) | L.tensor(L.equal({nan}, {nan}))"
        " | L.tensor({i}.equal({i}.double())) | L.tensor({a}.equal({p})) | L.tensor(L.is_nonzero({s})) | L.is_nonzero({a}) | L.tensor({o}.is_nonzero())"
        " | L.tensor(L.numel({a})) | L.tensor(L.is_complex({z})) | L.tensor(L.is_floating_point({i})) | L.tensor(L.is_tensor({a})) | L.tensor(L.is_tensor(3))"
    ),
    "count_nonzero": (
        "{a}.count_nonzero() | {zero}.count_nonzero(0) | L.count_nonzero({zero}, dim=(0, 1)) | {m}.count_nonzero(-1) | {nan}.count_nonzero()"
        " | {i}.count_nonzero(dim=1) | {z}.count_nonzero() | {a}.count_nonzero(3) | {e}.count_nonzero(0) | {s}.count_nonzero() | {a}.count_nonzero(())"
    ),
    "nansum": (
        "{nan}.nansum() | {nan}.nansum(0) | {nan}.nansum(1, keepdim=True) | L.nansum({nan}, dim=(0, 1)) | {a}.nansum(-1) | {f}.nansum(dtype=L.float64)"
        " | {f}.nansum(0, dtype=L.float64) | {i}.nansum() | {m}.nansum(0) | {z}.nansum() | {p}.nansum(0) | {e}.nansum(0) | {s}.nansum() | {a}.nansum(3)"
        " | {a}.nansum(()) | L.nansum({nan}.detach(), 0, out=L.zeros(3, dtype=L.float64)) | {h}.nansum()"
    ),
    "nanmean": (
        "{nan}.nanmean() | {nan}.nanmean(0) | {nan}.nanmean(1, keepdim=True) | L.nanmean({a}, dim=(0, 1)) | {a}.nanmean(-1) | {f}.nanmean(dtype=L.float64)"
        " | {i}.nanmean() | {p}.nanmean(0) | {e}.nanmean(0) | {s}.nanmean() | {h}.nanmean() | {z}.nanmean()"
    ),
    "diff": (
        "{a}.diff() | {a}.diff(dim=0) | {a}.diff(2) | {a}.diff(n=5) | {a}.diff(0) | {v}.diff(prepend={w}) | L.diff({a}, append={b}, dim=0) | {v}.diff(prepend={o}, append={w}, n=2)"
        " | {m}.diff() | {i}.diff() | {z}.diff() | {p}.diff() | {s}.diff() | {a}.diff(prepend={v}) | {a}.diff(dim=3) | {e}.diff() | {k}.diff(dim=1) | {x}.diff()"
        " | L.diff({a}.detach(), out=L.zeros(2, 2, dtype=L.float64)) | L.diff({v}, out=L.zeros(2, dtype=L.float64)) | {v}.diff(append={f}[0])"
    ),
    "trace": (
        "{sq}.trace() | {a}.trace() | L.trace({p}) | {i}.trace() | {m}.trace() | {z}.trace() | {k}.trace() | {v}.trace() | {h}.trace() | {e}.trace() | {j}.trace() | {f}.trace()"
    ),
    "dist": (
        "{a}.dist({b}) | {a}.dist({b}, 1) | L.dist({a}, {b}, p=3) | {a}.dist({b}, 0) | {a}.dist({b}, float('inf')) | {a}.dist({v}) | {a}.dist({a}) | {a}.dist({f}) | {i}.dist({i})"
        " | {z}.dist({z} + 1) | {a}.dist({b}, 0.5) | {col}.dist({v}) | {a}.dist({p})"
    ),
    "inner": (
        "{v}.inner({w}) | {a}.inner({b}) | L.inner({a}, {v}) | {v}.inner({a}) | {k}.inner({p}[:, :2]) | {s}.inner({a}) | {a}.inner({s}) | {a}.inner({k}) | {a}.inner({f}) | {i}.inner({i})"
        " | {z}.inner({z}) | {e}.inner({a}) | L.inner({a}.detach(), {b}.detach(), out=L.zeros(2, 2, dtype=L.float64)) | {p}.inner({b})"
    ),
    "ger": "{v}.ger({w}) | L.ger({v}, {w}[:2]) | {a}.ger({v}) | {i}[0].ger({v}) | {z}[0].ger({v})",
    "vdot": (
        "{v}.vdot({w}) | L.vdot({z}[0], {z}[1]) | {v}.vdot({w}[:2]) | {v}.vdot({z}[0]) | {a}.vdot({v}) | {i}[0].vdot({i}[1]) | {v}.vdot({v}) | {f}[0].vdot({f}[1])"
        " | L.vdot({v}.detach(), {w}.detach(), out=L.zeros((), dtype=L.float64)) | {e}[:, 0].vdot({e}[:, 1])"
    ),
    "kron": (
        "{a}.kron({b}) | {v}.kron({w}) | L.kron({a}, {v}) | {v}.kron({a}) | {s}.kron({a}) | {p}.kron({col}) | {i}.kron({j}) | {i}.kron({f}) | {z}.kron({v}) | {k}.kron({v}) | {e}.kron({a})"
        " | L.kron({v}.detach(), {w}.detach(), out=L.zeros(9, dtype=L.float64)) | {m}.kron({m})"
    ),
    "tensordot": (
        "L.tensordot({a}, {sq}, 1) | L.tensordot({a}, {b}, 2) | L.tensordot({a}, {b}) | L.tensordot({a}, {b}, dims=([0], [0])) | L.tensordot({a}, {b}, dims=([0, 1], [0, 1])) | L.tensordot({a}, {v}, 0)"
        " | L.tensordot({k}, {k}, dims=([1, 2], [1, 2])) | L.tensordot({k}, {a}, dims=([1], [1])) | L.tensordot({q}, {k}, dims=([-1], [1])) | L.tensordot({a}, {b}, 1) | L.tensordot({a}, {f}, 2)"
        " | L.tensordot({a}, {col}, dims=([1], [1])) | L.tensordot({a}, {b}, 3) | L.tensordot({i}, {i}, 2) | L.tensordot({a}.detach(), {sq}.detach(), 1, out={O}) | L.tensordot({p}, {sq}, 1)"
    ),
    "cross": (
        "{v}.cross({w}, dim=0) | {a}.cross({b}, dim=1) | L.cross({a}, {b}, -1) | {p}.cross({b}, dim=1) | {sq}.cross({sq}.t(), dim=0) | {a}.cross({b}, dim=0) | {k}.cross({k} * {k}, dim=1)"
        " | {z}.cross({z} * 1j + 1, dim=1) | {i}.cross({i} + 1, dim=1) | {m}.cross({m}, dim=1) | {a}.cross({f}, dim=1) | {a}.cross({v}, dim=1) | {a}.cross({v}[None], dim=1) | {a}.cross({b}, dim=5)"
        " | L.cross({a}.detach(), {b}.detach(), dim=1, out={O}) | {h}.cross({h}, dim=1)"
    ),
    "aminmax": (
        "{a}.aminmax()[0] | {a}.aminmax().max | {a}.aminmax(dim=0)[0] | {a}.aminmax(dim=-1, keepdim=True)[1] | {ties}.aminmax(dim=0)[1] | {ties}.aminmax()[1] | {i}.aminmax()[0] | {m}.aminmax(dim=1).min"
        " | {z}.aminmax() | {e}.aminmax() | {e}.aminmax(dim=0) | {p}.aminmax(dim=1)[0] | {s}.aminmax()[0] | {a}.aminmax(dim=4) | {a}.aminmax(0) | {e}.aminmax(dim=1) | {a}.aminmax(keepdim=True)[0]"
        " | (lambda r: r[0] * 2 + r[1])({a}.aminmax(dim=1)) | {h}.aminmax()[1] | {s}.aminmax(dim=0)[1]"
    ),
    "cummax": (
        "{a}.cummax(0)[0] | {a}.cummax(1)[1] | {ties}.cummax(0)[0] | {ties}.cummax(1)[1] | {nan}.cummax(1)[0] | {nan}.cummax(1)[1] | {p}.cummax(0).values | {i}.cummax(-1)[0] | {m}.cummax(1)[0]"
        " | {m}.cummax(1)[1] | {z}.cummax(0) | {s}.cummax(0)[0] | {s}.cummax(0)[1] | {a}.cummax(3) | {k}.cummax(1)[0] | {h}.cummax(1)[0] | {n}.cummax(1)[0]"
    ),
    "cummin": (
        "{a}.cummin(0)[0] | {a}.cummin(1)[1] | {ties}.cummin(0)[0] | {ties}.cummin(1)[1] | {nan}.cummin(1)[0] | {nan}.cummin(1)[1] | {p}.cummin(0).values | {i}.cummin(-1)[0] | {m}.cummin(1)[0]"
    ),
    "logcumsumexp": (
        "{a}.logcumsumexp(0) | {a}.logcumsumexp(1) | {p}.logcumsumexp(0) | {nan}.logcumsumexp(1) | ({a} * 400).logcumsumexp(1) | {k}.logcumsumexp(-1) | {i}.logcumsumexp(0) | {z}.logcumsumexp(1)"
        " | {s}.logcumsumexp(0) | {f}.logcumsumexp(1) | {h}.logcumsumexp(1) | {a}.logcumsumexp(3) | L.logcumsumexp({a}.detach(), 1, out={O})"
    ),
    "var_mean": (
        "L.var_mean({a})[0] | L.var_mean({a})[1] | L.var_mean({a}, 0)[0] | L.var_mean({a}, dim=1, keepdim=True)[1] | L.var_mean({a}, False)[0] | L.var_mean({a}, 0, False)[0] | L.var_mean({a}, dim=(0, 1), correction=0)[0]"
        " | L.var_mean({z})[0] | L.var_mean({z}, 1)[1] | L.var_mean({i}) | L.var_mean({s})[0] | L.var_mean({e}, 0)[1] | L.var_mean({h})[1] | (lambda r: r[0] + r[1])(L.var_mean({a}, 1)) | L.var_mean({p}, 1)[0]"
    ),
    "std_mean": (
        "L.std_mean({a})[0] | L.std_mean({a})[1] | L.std_mean({a}, 0)[0] | L.std_mean({a}, dim=1, keepdim=True)[1] | L.std_mean({a}, dim=(0, 1), correction=0)[0] | L.std_mean({z})[0] | L.std_mean({i})"
        " | (lambda r: r[0] + r[1])(L.std_mean({a}, 1)) | L.std_mean({ties}, 0)[0]"
    ),
}

CALLS: dict[str, tuple[str, ...]] = {op: tuple(calls.split(" | ")) for op, calls in _LISTED.items()}
