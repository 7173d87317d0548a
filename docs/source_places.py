"""Where each thing of the library is defined: a file, and an anchor in the page of that file."""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import vtgrad as vt

__all__ = [
    "PACKAGE",
    "Definitions",
    "anchor_of_note",
    "definitions",
    "files",
    "of_file",
    "of_name",
    "of_note",
    "of_symbol",
    "of_thing",
]

PACKAGE = Path(vt.__file__).resolve().parent

_NOTE = re.compile(r"^[ \t]*(?:# ?)?Note \[(.+)\]$", re.MULTILINE)

# A file below the package, without its suffix, and an anchor in it, which may be empty.
Place = tuple[str, str]


def files() -> list[str]:
    """The Python files of the package, relative to it and without suffix."""
    found = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return sorted(path.with_suffix("").as_posix() for path in found)


class Definitions:
    """What a file defines.

    Attributes
    ----------
    text : str
        The file.
    lines : dict of str to int
        The line of each definition, by qualified name; the first, where there are several.
    notes : dict of str to int
        The line of each titled note.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: dict[str, int] = {}
        self._enter(ast.parse(text), "")
        self.notes = {
            found[1]: text.count("\n", 0, found.start()) + 1 for found in _NOTE.finditer(text)
        }

    def _enter(self, node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                # With its decorators, as in `co_firstlineno`.
                first = min([child.lineno, *[d.lineno for d in child.decorator_list]])
                self.lines.setdefault(prefix + child.name, first)
                inner = f"{prefix}{child.name}."
                if not isinstance(child, ast.ClassDef):
                    inner += "<locals>."
            elif isinstance(child, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                for target in targets:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            self.lines.setdefault(prefix + name.id, child.lineno)
            self._enter(child, inner)


@cache
def definitions(file: str) -> Definitions:
    """The definitions of a file."""
    return Definitions((PACKAGE / f"{file}.py").read_text("utf-8"))


@cache
def _all_notes() -> dict[str, str]:
    """The file of each note."""
    return {title: file for file in files() for title in definitions(file).notes}


def anchor_of_note(title: str) -> str:
    """The anchor of a note in the page of its file."""
    return "note-" + re.sub(r"\W+", "-", title).strip("-").lower()


def of_note(title: str) -> Place | None:
    """The place of a note."""
    file = _all_notes().get(title)
    return None if file is None else (file, anchor_of_note(title))


def of_file(path: str) -> str | None:
    """The file of a module or a package, named as in the walks: ``graph/node`` or ``views``."""
    path = path.removeprefix("vtgrad/").removesuffix(".py").strip("/")
    for file in (path, f"{path}/__init__"):
        if (PACKAGE / f"{file}.py").is_file():
            return file
    return None


def of_name(path: str, name: str) -> Place | None:
    """The place of a qualified name in a module, or in any module of a package."""
    file = of_file(path)
    if file is not None and name in definitions(file).lines:
        return file, name
    inside = [f for f in files() if f.startswith(f"{path}/") and name in definitions(f).lines]
    return (inside[0], name) if inside else None


def of_thing(thing: object, name: str = "") -> Place | None:
    """The place of a function, a class or a property; None for values, which do not know theirs.

    Parameters
    ----------
    thing : object
        What is looked for.
    name : str
        Its name, used where it is a value in a module.
    """
    if isinstance(thing, ModuleType):
        file = of_file(thing.__name__.replace(".", "/").removeprefix("vtgrad"))
        return None if file is None else (file, "")
    if isinstance(thing, property):
        thing = thing.fget
    thing = inspect.unwrap(getattr(thing, "__func__", thing))  # type: ignore[arg-type]  # any object
    module = getattr(thing, "__module__", None) or ""
    qualname = getattr(thing, "__qualname__", None) or name
    if not isinstance(module, str) or module.partition(".")[0] != "vtgrad":
        return None
    code = getattr(thing, "__code__", None)
    if code is not None and Path(code.co_filename).is_relative_to(PACKAGE):
        # A function may have been given the name of another module.
        found = Path(code.co_filename).relative_to(PACKAGE).with_suffix("").as_posix()
        if code.co_qualname in definitions(found).lines:
            return found, code.co_qualname
    path = module.replace(".", "/").removeprefix("vtgrad/")
    return of_name("__init__" if path == "vtgrad" else path, qualname)


def of_symbol(symbol: str) -> Place | None:
    """The place of ``module:qualified.name``, as the glossary writes it, or of a module."""
    module, _, name = symbol.partition(":")
    path = module.replace(".", "/").removeprefix("vtgrad").strip("/") or "__init__"
    file = of_file(path)
    if file is None or not name:
        return None if file is None else (file, "")
    place = of_name(file, name)
    if place is not None:
        return place
    found: object = importlib.import_module(module)
    owner: object = found
    for part in name.split("."):
        owner, found = found, inspect.getattr_static(found, part)
    # A name that is imported there, or an attribute that is inherited, or made in `__init__`.
    return of_thing(found) or of_thing(owner) or (file, "")
