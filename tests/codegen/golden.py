"""What the generator writes for a few operators; ``python -m tests.codegen.golden`` keeps it.

Each operator stands for a kind: a ufunc of two operands, a result that is saved, a view, several
results with ``out=``, a choice among overloads. The files beside this module hold their functions
and their node, so that a change of the generator is seen in them at a glance.
"""

import ast
import functools
from pathlib import Path

from vtgrad.codegen.generate import sources
from vtgrad.codegen.layout import formatted
from vtgrad.codegen.library import Library

FOLDER = Path(__file__).parent / "golden"

#: The family of each operator, and the definitions that belong to it.
PINNED = {
    "mul": ("arithmetic", ("mul", "_mul_writer", "_mul_ufunc_writer", "mul_", "MulBackward0")),
    "tanh": ("elementary", ("tanh", "_tanh_writer", "tanh_", "TanhBackward0")),
    "select": ("views", ("select", "SelectBackward0", "select_copy", "SelectBackward0_copy")),
    "median": ("reductions", ("median",)),
    "max_dim": ("reductions", ("MaxResult", "max_dim", "MaxBackward0")),
}


@functools.cache
def _sources() -> dict[str, str]:
    return sources(Library.read())


def emitted(operator: str) -> str:
    """What the generator writes for an operator: first its functions, then its nodes."""
    family, names = PINNED[operator]
    texts = _sources()
    parts: list[str] = []
    files = (f"choices/{family}.py", f"generated/{family}.py", f"generated/{family}_nodes.py")
    for name in [name for name in files if name in texts]:
        text = formatted(name, texts[name])
        lines = text.splitlines()
        for statement in ast.parse(text).body:
            if _defined(statement) in names:
                first = min([statement.lineno, *[d.lineno for d in _decorators(statement)]])
                parts.append("\n".join(lines[first - 1 : statement.end_lineno]))
    return "\n\n".join(parts) + "\n"


def _defined(statement: ast.stmt) -> str | None:
    """The name that a statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return statement.name
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return None


def _decorators(statement: ast.stmt) -> list[ast.expr]:
    return statement.decorator_list if isinstance(statement, ast.FunctionDef | ast.ClassDef) else []


def main() -> None:
    """Write the files anew."""
    for operator in PINNED:
        (FOLDER / f"{operator}.txt").write_text(emitted(operator), encoding="utf-8")


if __name__ == "__main__":
    main()
