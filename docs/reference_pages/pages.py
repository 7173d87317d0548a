"""The reference as pages of reStructuredText, one for each topic."""

import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import vtgrad as vt
from docs.reference_pages.entries import (
    Entry,
    all_entries,
    member,
    operators_of_python,
    public_names,
)
from docs.reference_pages.signatures import signatures
from docs.reference_pages.topics import GROUPS, TITLES, group_of
from vtgrad.graph.grad_mode import ModeScope
from vtgrad.storage.scope import Scope

__all__ = ["reference", "thing_named", "write_reference"]

# What turns a docstring in NumPy's style into reStructuredText.
Convert = Callable[[str], Iterable[str]]

_CODE = re.compile(r"(?<![`:\w])`([^`\n]+)`(?!`)")
# Lines of examples, and those that name parameters, which Napoleon reads.
_LEFT_ALONE = re.compile(r"\s*(>>>|\.\.\.|\*{0,2}\w+(, \*{0,2}\w+)* : )")
# Any code, and a word that ends in an underscore, which reStructuredText takes for a link.
_CODE_OR_LINK = re.compile(r"(`+[^`\n]+`+)|(?<=\w)_(?!\w)")


def write_reference(folder: Path, convert: Convert) -> None:
    """Write the pages. Files that would stay the same are left alone, for fast builds."""
    folder.mkdir(exist_ok=True)
    pages = reference(convert)
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, encoding="utf-8")


def reference(convert: Convert) -> dict[str, str]:
    """Every page by its name."""
    entries = all_entries()
    writer = _Writer(entries, convert)
    topics = sorted({entry.topic for entry in entries})
    pages = {topic: writer.page(topic) for topic in topics}
    pages["index"] = _index(topics)
    return pages


def _index(topics: list[str]) -> str:
    lines = [
        *_title("Reference", "="),
        "Each function, method and class has one entry: how it is called, what comes back, what",
        "it raises, and an example. Names and signatures are PyTorch's.",
        "",
    ]
    for group, order in GROUPS.items():
        found = [topic for topic in topics if group_of(topic) == group]
        found.sort(key=lambda topic: (order.index(topic) if topic in order else 99, topic))
        lines += [*_title(group, "-"), ".. toctree::", "   :maxdepth: 1", ""]
        lines += [f"   {topic}" for topic in found]
        lines.append("")
    return "\n".join(lines)


class _Writer:
    """Knows every entry, so that each can link the others."""

    def __init__(self, entries: list[Entry], convert: Convert) -> None:
        self.entries = entries
        self.convert = convert
        self.names = {name for entry in entries for name in entry.names}

    def page(self, topic: str) -> str:
        """One page: what the topic is, a table of its entries, and the entries."""
        own = [entry for entry in self.entries if entry.topic == topic]
        title, about = TITLES.get(topic, (topic.replace("_", " ").capitalize(), ""))
        lines = [*_title(title, "="), about, "", ".. py:currentmodule:: vtgrad", ""]
        if topic == "tensor":
            return "\n".join(lines + self._tensor(own))
        return "\n".join([*lines, *self._table(own), *self._entries(own)])

    def _table(self, entries: list[Entry]) -> list[str]:
        # Prefixes that all names of the table share are left out.
        rows = [
            (f":py:obj:`{e.name.rsplit('.', 1)[1]} <{e.name}>`", self._line(_summary(e)))
            for e in entries
        ]
        return _list_table("summary", rows) if rows else []

    # -- the tensor's page ----------------------------------------------------------------

    def _tensor(self, own: list[Entry]) -> list[str]:
        (whole,) = (entry for entry in own if entry.name == "vtgrad.Tensor")
        lines = self._entry(whole)
        rest = [entry for entry in own if entry is not whole]
        for title, section in _sections(rest).items():
            lines += [*_title(title, "-"), *self._table(section), *self._entries(section)]
        lines += [*_title("Operators of Python", "-"), *self._python_operators()]
        lines += [*_title("Operators as methods", "-")]
        lines += [
            "Each of them is described with the function of its name, on the page of its topic.",
            "",
        ]
        topics = sorted({e.topic for e in self.entries if e.topic != "tensor"})
        rows = []
        for topic in topics:
            names = sorted(
                name
                for entry in self.entries
                for name in entry.names
                if entry.topic == topic and name.startswith("vtgrad.Tensor.")
            )
            if names:
                links = [f":py:obj:`{n.rsplit('.', 1)[1]} <{n}>`" for n in names]
                rows.append((f":doc:`{topic}`", " ".join(links)))
        return lines + _list_table("members", rows)

    def _python_operators(self) -> list[str]:
        methods = dict(operators_of_python())
        rows = []
        for name in methods:
            base = re.sub(r"^__[ri](?=\w+__$)", "__", name)
            if base != name and base in methods and base in _PYTHON:
                continue
            bare = name.strip("_")
            kin = [k for k in (name, f"__r{bare}__", f"__i{bare}__") if k in methods]
            shown, operator = _PYTHON.get(name, (f"``{name}``", ""))
            known = f"vtgrad.{operator}" in self.names
            about = f"As :py:obj:`{operator} <vtgrad.{operator}>`." if known else operator
            rows.append((shown, ", ".join(f"``{k}``" for k in kin), about))
        return _list_table("python-operators", rows)

    # -- entries --------------------------------------------------------------------------

    def _entries(self, entries: list[Entry]) -> list[str]:
        return [line for entry in entries for line in self._entry(entry)]

    def _entry(self, entry: Entry) -> list[str]:
        if entry.kind == "data":
            return self._data(entry)
        names = [entry.name, *entry.also]
        if entry.methods:
            # Sphinx takes methods below for members of what the last name has before its dot.
            names.sort(key=lambda name: name.count("."), reverse=True)
        head = self._heads(entry.kind, names, entry.thing)
        body = self._text(entry.thing)
        if entry.kind == "exception":
            body += [_about_error(entry.thing), ""]
        if inspect.isclass(entry.thing) and entry.thing is not vt.Tensor:
            # Sphinx takes what stands below several names for members of the last.
            body += self._members([entry.name, *entry.also][-1], entry.thing)
        body += self._variants(entry.methods, "also-method")
        body += self._variants(entry.inplace, "also-in-place")
        return [*head, "", *_indented(body), ""]

    def _variants(self, names: list[str], css: str) -> list[str]:
        """Signatures of methods and in-place variants, for which the entry's text holds too."""
        lines: list[str] = []
        for name in names:
            thing = thing_named(name)
            kind = "method" if ".Tensor." in name else "function"
            kind = "property" if isinstance(thing, property) else kind
            lines += [f".. rst-class:: {css}", ""]
            head = self._heads(kind, [name], thing, ":no-contents-entry:")
            lines += [*head, ""]
            text = inspect.getdoc(thing) or ""
            if css == "also-in-place" and "\n" in text:
                lines += [*_indented([self._line(_first_sentence(text))]), ""]
        return lines

    def _heads(self, kind: str, names: list[str], thing: object, *options: str) -> list[str]:
        heads = []
        for name in names:
            method = kind == "method"
            for way in self._ways(kind, thing, method=method):
                heads.append(name.removeprefix("vtgrad.") + way)
        first, *others = heads
        role = "attribute" if kind == "property" else kind
        lines = [f".. py:{role}:: {first}", *(" " * 8 + other for other in others)]
        return lines + [f"   {option}" for option in options]

    def _ways(self, kind: str, thing: object, *, method: bool) -> list[str]:
        if kind in ("property", "attribute", "exception"):
            return [""]
        if kind == "class":
            return [_construction(thing)]
        assert callable(thing)
        return signatures(thing, method=method)

    def _data(self, entry: Entry) -> list[str]:
        lines = []
        for name in [entry.name, *entry.also]:
            lines += [f".. py:data:: {name.removeprefix('vtgrad.')}"]
            lines += ["", *_indented([_about_value(entry, name), ""])]
        return lines

    def _members(self, owner: str, cls: type) -> list[str]:
        lines = []
        for name, thing in _own_members(cls):
            if isinstance(thing, property):
                head = [f".. py:property:: {owner.removeprefix('vtgrad.')}.{name}"]
            else:
                function = getattr(thing, "__func__", thing)
                assert callable(function)
                unbound = isinstance(thing, staticmethod)
                (way, *more) = signatures(function, method=not unbound)
                full = f"{owner.removeprefix('vtgrad.')}.{name}"
                head = [f".. py:method:: {full}{way}", *(" " * 8 + full + m for m in more)]
                if isinstance(thing, (staticmethod, classmethod)):
                    head.append(f"   :{type(thing).__name__}:")
            head.append("   :no-contents-entry:")
            lines += [*head, "", *_indented(self._text(thing)), ""]
        return lines

    # -- texts ----------------------------------------------------------------------------

    def _text(self, thing: object) -> list[str]:
        text = inspect.getdoc(thing) or ""
        return [*self.convert(self._linked(text, _parameter_names(thing))), ""]

    def _line(self, text: str) -> str:
        return self._linked(text, set())

    def _linked(self, text: str, own: set[str]) -> str:
        """The text with `code` as links, where it names something, and as literals elsewhere."""

        def replace(found: re.Match[str]) -> str:
            code = found.group(1)
            bare = code.removesuffix("()")
            for full in (bare.replace("vt.", "vtgrad.", 1), f"vtgrad.{bare}"):
                if bare not in own and full in self.names:
                    return f":py:obj:`{code} <{full}>`"
            error = f"vtgrad.errors.{bare}"
            return f":py:obj:`{code} <{error}>`" if error in self.names else f"``{code}``"

        lines = text.split("\n")
        return "\n".join(
            line if _LEFT_ALONE.match(line) else _CODE.sub(replace, _escaped(line))
            for line in lines
        )


# How each is written, and the operator that it is, or what it gives.
_PYTHON = {
    "__abs__": ("``abs(x)``", "abs"),
    "__add__": ("``x + y``, ``x += y``", "add"),
    "__and__": ("``x & y``, ``x &= y``", "bitwise_and"),
    "__eq__": ("``x == y``", "eq"),
    "__floordiv__": ("``x // y``, ``x //= y``", "floor_divide"),
    "__ge__": ("``x >= y``", "ge"),
    "__gt__": ("``x > y``", "gt"),
    "__invert__": ("``~x``", "bitwise_not"),
    "__le__": ("``x <= y``", "le"),
    "__lshift__": ("``x << y``, ``x <<= y``", "bitwise_left_shift"),
    "__lt__": ("``x < y``", "lt"),
    "__matmul__": ("``x @ y``", "matmul"),
    "__mod__": ("``x % y``, ``x %= y``", "remainder"),
    "__mul__": ("``x * y``, ``x *= y``", "mul"),
    "__ne__": ("``x != y``", "ne"),
    "__neg__": ("``-x``", "neg"),
    "__or__": ("``x | y``, ``x |= y``", "bitwise_or"),
    "__pos__": ("``+x``", "positive"),
    "__pow__": ("``x ** y``, ``x **= y``", "pow"),
    "__rshift__": ("``x >> y``, ``x >>= y``", "bitwise_right_shift"),
    "__sub__": ("``x - y``, ``x -= y``", "sub"),
    "__truediv__": ("``x / y``, ``x /= y``", "div"),
    "__xor__": ("``x ^ y``, ``x ^= y``", "bitwise_xor"),
    "__getitem__": (
        "``x[i]``",
        "An element or a part: a view for integers and slices, a copy for masks and indices.",
    ),
    "__setitem__": ("``x[i] = y``", "Writes to the elements that ``x[i]`` shows."),
    "__delitem__": ("``del x[i]``", "Refused: elements cannot be deleted."),
    "__contains__": ("``y in x``", "Whether an element is equal to ``y``."),
    "__len__": ("``len(x)``", "The size of the first dimension."),
    "__iter__": ("``for row in x``", "Views of the rows, which may be written."),
    "__reversed__": ("``reversed(x)``", "The rows in reverse order."),
    "__bool__": ("``bool(x)``, ``if x:``", "The truth of the only element."),
    "__int__": ("``int(x)``", "The only element as an int."),
    "__float__": ("``float(x)``", "The only element as a float."),
    "__complex__": ("``complex(x)``", "The only element as a complex number."),
    "__index__": ("``range(x)``", "The only element of an integer tensor."),
    "__hash__": ("``hash(x)``", "By identity: two tensors are two keys."),
    "__repr__": (
        "``repr(x)``, ``print(x)``",
        "The elements, the dtype, and where the tensor comes from.",
    ),
    "__format__": ('``f"{x:.2f}"``', "The only element in a format."),
    "__array__": ("``numpy.asarray(x)``", "An array on the same memory, for NumPy."),
    "__dlpack__": ("``numpy.from_dlpack(x)``", "The same memory, for libraries that know DLPack."),
    "__deepcopy__": ("``copy.deepcopy(x)``", "A copy that is a leaf."),
    "__reduce_ex__": ("``pickle.dumps(x)``", "What is pickled: memory, dtype, shape, no graph."),
}


def _sections(members: list[Entry]) -> dict[str, list[Entry]]:
    """Members of the tensor by what they are for, as the classes that define them say."""
    sections: dict[str, list[Entry]] = {}
    for title, modules in _SECTIONS.items():
        found = [entry for entry in members if _home(entry.thing) in modules]
        if found:
            sections[title] = found
    placed = {entry.name for section in sections.values() for entry in section}
    rest = [entry for entry in members if entry.name not in placed]
    return {**sections, "Shape, dtype and memory": rest} if rest else sections


_SECTIONS = {
    "Gradients": ("autograd_methods",),
    "Values for Python and NumPy": ("conversion",),
    "In another dtype": ("cast_methods",),
    "New tensors of the same dtype": ("creation_methods",),
}


def _home(thing: object) -> str:
    function = thing.fget if isinstance(thing, property) else thing
    return (getattr(function, "__module__", None) or "").rsplit(".", 1)[-1]


def thing_named(name: str) -> object:
    """What a public name stands for; a member of `Tensor` as its class holds it."""
    if name.startswith("vtgrad.Tensor."):
        return member(name.rsplit(".", 1)[1])
    found: object = vt
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


# Bases of context managers: what the ``with`` statement and decorated functions call.
_MACHINERY = (ModeScope, Scope)


def _own_members(cls: type) -> list[tuple[str, object]]:
    """Documented public methods and properties that a class has from vtgrad's own classes."""
    homes = [c for c in cls.__mro__ if c.__module__.startswith("vtgrad")]
    hidden = {name for base in _MACHINERY if issubclass(cls, base) for name in dir(base)}
    found: dict[str, object] = {}
    for home in homes:
        for name, thing in vars(home).items():
            function = getattr(thing, "__func__", thing)
            shown = inspect.isfunction(function) or isinstance(thing, property)
            if name[0] != "_" and name not in hidden and shown:
                found.setdefault(name, thing)
    if issubclass(cls, (BaseException, vt.Tensor)):
        return []
    return sorted(found.items())


def _construction(thing: object) -> str:
    assert inspect.isclass(thing)
    home = next((c for c in thing.__mro__ if "__init__" in vars(c) or "__new__" in vars(c)), None)
    if thing is vt.Tensor or home is None or not home.__module__.startswith("vtgrad"):
        return ""
    makers = [vars(home).get("__init__"), vars(home).get("__new__")]
    maker = next((m for m in map(_plain, makers) if inspect.isfunction(m)), None)
    if maker is None:
        return ""
    return signatures(maker, method=True)[0].partition(" -> ")[0]


def _plain(maker: object) -> object:
    """The function of ``__new__``, which is a static method."""
    return getattr(maker, "__func__", maker)


def _about_value(entry: Entry, name: str) -> str:
    thing = entry.thing
    if name != entry.name:
        return f"The same as :py:obj:`{_short(entry.name)} <{entry.name}>`."
    if isinstance(thing, vt.dtype):
        kinds = {
            "complex numbers": thing.is_complex,
            "floating-point numbers": thing.is_floating_point,
            "truth values": thing is vt.bool,
            "integers with a sign": thing.is_signed,
        }
        kind = next((kind for kind, holds in kinds.items() if holds), "integers without a sign")
        size = "1 byte" if thing.itemsize == 1 else f"{thing.itemsize} bytes"
        return f"The dtype of {kind} of {size}."
    if thing is None or isinstance(thing, float):
        return f"``{thing}``"
    cls = type(thing)
    public = next((n for n in public_names(vt) if getattr(vt, n) is cls), None)
    return f"A :py:obj:`{public} <vtgrad.{public}>`." if public else f"``{thing!r}``"


def _about_error(cls: object) -> str:
    assert inspect.isclass(cls)
    bases = [base for base in cls.__mro__[1:] if issubclass(base, Exception)]
    builtin = next(base for base in bases if base.__module__ == "builtins")
    own = [base.__name__ for base in cls.__bases__ if base.__module__ == "vtgrad.errors"]
    links = [f":py:obj:`{name} <vtgrad.errors.{name}>`" for name in own]
    kind = getattr(cls, "kind", "")
    return f"A {' and '.join([*links, f'``{builtin.__name__}``'])}; its ``kind`` is ``{kind!r}``."


def _summary(entry: Entry) -> str:
    if entry.kind == "data":
        return _about_value(entry, entry.name)
    return _first_sentence(inspect.getdoc(entry.thing) or "")


def _first_sentence(text: str) -> str:
    first = " ".join(text.split("\n\n", 1)[0].split())
    return re.split(r"(?<=[.:])\s+(?=[A-Z`])", first, maxsplit=1)[0]


def _escaped(line: str) -> str:
    return _CODE_OR_LINK.sub(lambda found: found.group(1) or "\\_", line)


def _parameter_names(thing: object) -> set[str]:
    try:
        return set(inspect.signature(thing).parameters) if callable(thing) else set()
    except ValueError:
        return set()


def _short(name: str) -> str:
    return name.removeprefix("vtgrad.")


def _title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"   {line}" if line else "" for line in lines]


def _list_table(css: str, rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [".. list-table::", f"   :class: {css}", "   :widths: auto", ""]
    for row in rows:
        lines += [f"   {'* -' if not n else '  -'} {cell}" for n, cell in enumerate(row)]
    return [*lines, ""]
