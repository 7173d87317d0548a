"""Writing the helpers of formulas: over tensors, and reusing the memory of arrays."""

import ast
import io
import tokenize
from pathlib import Path

from vtgrad.codegen.library import Library
from vtgrad.codegen.memory_reuse import reusing_function
from vtgrad.codegen.source_files import exported, functions_in
from vtgrad.codegen.template import head

__all__ = ["emit_large_formulas", "emit_tensor_formulas"]


def emit_large_formulas(library: Library) -> str:
    """The helpers of ``ops/formulas`` that can reuse memory, doing so."""
    names, paths = library.names, library.helper_files
    functions = functions_in(paths)
    text = head(
        "`ops/formulas/*.py`",
        "The derivative helpers that reuse memory. Their docstrings are in `ops/formulas`.",
    )
    text += (
        "from vtgrad.ops import kernels as k\n"
        + "".join(
            f"from vtgrad.ops.formulas.{path.stem} import {name}\n"
            for path in paths
            for name in functions_in([path])
            if name not in names.owning
        )
        + "from vtgrad.ops.kernels.support.memory_reuse import reuse\n"
        f"{library.types}from vtgrad.storage.arrays import Array, Number, NumpyDType, Shape\n\n"
    )
    bodies = [
        reusing_function(functions[n], names.reuse, names.owning) for n in sorted(names.owning)
    ]
    return text + "\n\n\n".join(body for body in bodies if body is not None) + "\n"


def emit_tensor_formulas(library: Library) -> str:
    """The helpers of ``ops/formulas`` with tensors for arrays and functions for kernels.

    Their docstrings stay there.
    """
    text = head(
        "`ops/formulas/*.py`",
        "The derivative helpers, over tensors. Their docstrings are in `ops/formulas`.",
    )
    arrays = _array_helpers(library.helper_files)
    text += (
        "from collections.abc import Sequence\n\n"
        "from vtgrad.ops.generated import functional as F\n"
        + "".join(
            f"from vtgrad.ops.formulas.{path.stem} import {name} as {name}\n"
            for path in library.helper_files
            for name in functions_in([path])
            if name not in arrays
        )
        + library.types
        + "from vtgrad.storage.arrays import Number, NumpyDType, Shape\n"
        "from vtgrad.storage.tensor_base import TensorBase\n\n"
    )
    names: list[str] = []
    bodies = ""
    for path in library.helper_files:
        names += exported(path)
        source = path.read_text("utf-8")
        tree = ast.parse(source)
        lines = source.splitlines(keepends=True)
        for statement in tree.body:
            if isinstance(statement, ast.FunctionDef) and statement.name in arrays:
                assert statement.end_lineno is not None
                start = statement.lineno - 1
                if statement.decorator_list:
                    start = statement.decorator_list[0].lineno - 1
                if ast.get_docstring(statement) is not None:
                    first = statement.body[0]
                    assert first.end_lineno is not None
                    lines[first.lineno - 1 : first.end_lineno] = [""] * (
                        first.end_lineno - first.lineno + 1
                    )
                bodies += _translated("".join(lines[start : statement.end_lineno])) + "\n\n"
    return text + bodies


def _array_helpers(paths: list[Path]) -> set[str]:
    """The helpers that take or make arrays; the others are the same in both evaluations."""
    words = {
        name: {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
        for name, function in functions_in(paths).items()
    }
    found = {name for name, used in words.items() if used & {"Array", "k"}}
    while more := {name for name, used in words.items() if used & found} - found:
        found |= more
    return found


def _translated(source: str) -> str:
    """`Array` becomes `TensorBase`, and `k.` becomes `F.`."""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    lines = source.splitlines(keepends=True)
    for i in range(len(tokens) - 1, -1, -1):
        token = tokens[i]
        if token.type != tokenize.NAME:
            continue
        if token.string == "Array":
            new = "TensorBase"
        elif token.string == "k" and i + 1 < len(tokens) and tokens[i + 1].string == ".":
            new = "F"
        else:
            continue
        row, column = token.start
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new + line[column + len(token.string) :]
    return "".join(lines)
