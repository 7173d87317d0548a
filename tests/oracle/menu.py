"""Which calls of which operators are compared: the deterministic half of the oracle."""

from collections.abc import Iterator

DTYPES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()
FLOATING = (
    "exp expm1 exp2 log log1p log2 log10 sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh"
    " tanh sigmoid acosh asinh atanh sinc logit deg2rad rad2deg erf erfc erfinv"
    " lgamma digamma i0"
).split()
UNARY = (
    *FLOATING,
    *"neg abs sign square relu floor ceil round trunc frac nan_to_num angle".split(),
)
TESTS = "isnan isinf isfinite logical_not bitwise_not signbit isposinf isneginf isreal".split()
BINARY = (
    "add sub mul div pow atan2 maximum minimum remainder fmod floor_divide eq ne lt le gt ge"
    " logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
    " copysign nextafter ldexp heaviside gcd lcm hypot xlogy float_power logaddexp logaddexp2 fmax"
    " fmin"
).split()
WITHOUT_INPLACE = set(
    "maximum minimum fmax fmin logaddexp logaddexp2 isnan isinf isfinite isposinf isneginf isreal"
    " signbit angle".split()
)
OUTS = ("{O}", "{OF}", "{OI}", "{OE}", "{OT}")
ANY = "a u pos p g x v s o k q zero nan e f h z i j n m".split()


def unary(op: str) -> Iterator[str]:
    """Calls of a function of one tensor."""
    for letter in ANY:
        yield f"L.{op}({{{letter}}})"
    if op in WITHOUT_INPLACE:
        return
    for letter in ("A", "P", "V", "K", "W", "Z"):
        yield f"{{{letter}}}.{op}_()"
    for letter in ("a", "x", "i", "m", "n", "f"):
        yield f"{{{letter}}}.detach().clone().{op}_()"
    yield f"{{x}}.detach().{op}_()"
    for out in OUTS:
        # A dtype without a kernel would be a second fault beside an unfit out=.
        if op != "bitwise_not":
            yield f"L.{op}({{pos}}.detach(), out={out})"
        if op != "frac":
            yield f"L.{op}({{i}}, out={out})"
    yield f"L.{op}({{pos}}, out={{O}})"


def binary(op: str) -> Iterator[str]:
    """Calls of a function of two operands."""
    pairs = (
        "a b,a a,a p,p a,p p,a g,a x,x x,a v,v a,col v,a s,s a,s s,a f,f s,a i,i a,i j,i m,m m,z a"
        ",a z,z z,q q,k col,e e,e v,e s,pos u,pos b,nan b,ties b,zero b,b zero,n n,n i,h f,a k,v p"
    ).split(",")
    for pair in pairs:
        left, right = pair.split()
        yield f"L.{op}({{{left}}}, {{{right}}})"
    for letter in ("a", "s", "i", "m", "f", "z", "n"):
        for number in ("2", "-1", "0", "0.5", "True", "1j"):
            yield f"{{{letter}}}.{op}({number})"
            yield f"L.{op}({number}, {{{letter}}})"
    if op in WITHOUT_INPLACE:
        return
    for left in ("A", "P", "V"):
        for right in ("{b}", "{p}", "{v}", "{s}", "{i}", "{f}", "2", "0.5", "{z}", "{k}", "1j"):
            yield f"{{{left}}}.{op}_({right})"
        yield f"{{{left}}}.{op}_({{{left}}})"
    for left in ("i", "m", "n", "j", "f"):
        for right in ("{i}", "{m}", "{b}", "2", "True", "0.5"):
            yield f"{{{left}}}.detach().clone().{op}_({right})"
    for out in OUTS:
        if not op.startswith("bitwise") and op not in ("gcd", "lcm"):
            yield f"L.{op}({{a}}.detach(), {{b}}.detach(), out={out})"
        yield f"L.{op}({{i}}, {{j}}, out={out})"
    yield f"L.{op}({{a}}, {{b}}, out={{O}})"


def operators(sign: str) -> Iterator[str]:
    """Python's operators with tensors and numbers on either side."""
    for left in ("a", "s", "i", "m", "f", "z"):
        for right in ("{b}", "{p}", "{i}", "{m}", "2", "0.5", "True", "1j"):
            yield f"{{{left}}} {sign} {right}"
        for number in ("2", "0.5", "True", "1j"):
            yield f"{number} {sign} {{{left}}}"


def reduction(op: str) -> Iterator[str]:
    """Calls of a reduction."""
    letters = "a p g x v s o k q ties zero nan e f h z i n m".split()
    arguments = ["", "0", "-1", "1", "2", "0, keepdim=True", "dim=-1, keepdim=True"]
    if op in "sum mean amax amin any all var std logsumexp norm".split():
        arguments += ["dim=(0, 1)", "dim=(-1, 0)", "dim=(0, 1), keepdim=True", "dim=()"]
        arguments += ["dim=(0, 0)"]
    if op in ("sum", "mean", "prod", "cumsum", "cumprod", "softmax", "log_softmax"):
        arguments += ["0, dtype=L.float32", "0, dtype=L.float64"]
    if op in ("var", "std"):
        arguments += ["0, correction=0", "unbiased=False", "dim=(0, 1), correction=2"]
    if op == "norm":
        arguments = ["", "1", "2", "3", "0", "p=float('inf')", "p=2, dim=0", "p=1, dim=(0, 1)"]
        arguments += ["p=2, dim=1, keepdim=True", "p='fro'", "p=-1.5, dim=0", "p=0.5, dim=-1"]
    dims = {"norm": "p=2, dim=0"}.get(op, "dim=0")
    for letter in letters:
        listed = arguments if letter in "a k s e".split() else arguments[:4]
        for text in listed:
            if letter == "e" and text == "dim=(0, 0)":
                continue
            call = f"{{{letter}}}.{op}({text})"
            if op in ("max", "min") and text:
                yield from (f"{call}[0]", f"{call}[1]")
            else:
                yield call
    if op in ("cumsum", "cumprod"):
        yield from (f"{{{letter}}}.{op}_(0)" for letter in ("A", "P", "V"))
    if op not in ("norm", "max", "min"):
        yield from (f"L.{op}({{sq}}.detach()[:2], {dims}, out={out})" for out in ("{OE}",))
