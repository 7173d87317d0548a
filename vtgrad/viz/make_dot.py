"""The drawing of a graph of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vtgrad.errors import ArgumentTypeError, VtgradError
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import gradient_edge
from vtgrad.ops.saving.saved_fields import saved_slots
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_name import name_of
from vtgrad.tensor.tensor import Tensor
from vtgrad.viz.dot import Dot, escaped
from vtgrad.viz.saved_values import SavedValue, inner_node, nodes_of, saved_values

__all__ = ["make_dot"]

_LEAF, _RESULT, _SAVED, _STALE = "lightblue", "darkolivegreen1", "moccasin", "salmon"


def make_dot(
    var: Tensor | Sequence[Tensor] | Mapping[str, Tensor],
    params: Mapping[str, Tensor] | None = None,
    show_attrs: bool = False,
    show_saved: bool = False,
    max_attr_chars: int = 50,
) -> Dot:
    r"""Draw the graph that results were computed by.

    Nodes are boxes with the number of hooks on them; leaves (blue) have name, shape and version,
    and results (green) as well. Arrows go from inputs to results; where a node has several results
    the arrow has the result's number. The node of a write through a view, ``CopySlices``, has a
    dashed line to the node of the operator that wrote.

    Parameters
    ----------
    var : Tensor, sequence of Tensor, or mapping of str to Tensor
        The results; the keys of a mapping are their names.
    params : mapping of str to Tensor, optional
        Names of leaves. By default a leaf is called by its `Tensor.name`.
    show_attrs : bool, default False
        Whether nodes list the numbers, shapes and dtypes that they have saved.
    show_saved : bool, default False
        Whether saved tensors are drawn, with their versions. Those that backward would refuse,
        because they were overwritten or freed, are red.
    max_attr_chars : int, default 50
        Longer texts of attributes are cut.

    Returns
    -------
    Dot
        Its `source` is the text in the DOT language; notebooks show it as a picture.

    Raises
    ------
    ArgumentTypeError
        If a result is no tensor.

    Examples
    --------
    >>> from vtgrad.viz import make_dot
    >>> w = vt.ones(2, requires_grad=True)
    >>> w.name = "w"
    >>> print(make_dot((w * 3).sum()))
    digraph {
      graph [rankdir=BT];
      node [shape=box, style=filled, fillcolor=white, fontname=monospace, fontsize=10];
      n0 [label="SumBackward0"];
      n1 [label="MulBackward0"];
      n2 [label="AccumulateGrad"];
      t0 [label="float32 []", fillcolor=darkolivegreen1];
      t1 [label="w\nfloat32 [2]", fillcolor=lightblue];
      n1 -> n0;
      n2 -> n1;
      n0 -> t0;
      t1 -> n2;
    }
    """
    drawing = _Drawing(params or {}, show_attrs, show_saved, max_attr_chars)
    drawing.draw(_named_roots(var))
    return Dot(drawing.text())


def _named_roots(var: object) -> list[tuple[str | None, TensorBase]]:
    roots: list[tuple[str | None, object]]
    if isinstance(var, Mapping):
        roots = [(str(name), x) for name, x in var.items()]
    elif isinstance(var, (tuple, list)):
        roots = [(None, x) for x in var]
    else:
        roots = [(None, var)]
    found: list[tuple[str | None, TensorBase]] = []
    for name, root in roots:
        if not isinstance(root, TensorBase):
            raise ArgumentTypeError(
                f"make_dot draws tensors, not {type(root).__name__}", argument="var"
            )
        found.append((name, root))
    return found


class _Drawing:
    """The lines of a drawing: boxes first, then arrows."""

    def __init__(
        self, params: Mapping[str, Tensor], show_attrs: bool, show_saved: bool, longest: int
    ) -> None:
        self._names = {id(x): name for name, x in params.items()}
        self._show_attrs = show_attrs
        self._show_saved = show_saved
        self._longest = longest
        self._boxes: list[str] = []
        self._arrows: list[str] = []
        self._tensors = 0

    def draw(self, roots: Sequence[tuple[str | None, TensorBase]]) -> None:
        edges = [(name, root, gradient_edge(root)) for name, root in roots]
        nodes = nodes_of(edge.function for _, _, edge in edges if edge is not None)
        numbers = {node: f"n{nr}" for nr, node in enumerate(nodes)}
        inner_nodes = {inner for inner in map(inner_node, nodes) if inner is not None}
        for node in nodes:
            self._boxes.append(f'{numbers[node]} [label="{self._label(node)}"];')
            for edge in node.next_edges:
                # The inner node of a write has the edges of the node around it.
                if edge is not None and edge.function in numbers and node not in inner_nodes:
                    label = _result_number(edge.function, edge.input_nr)
                    self._arrows.append(f"{numbers[edge.function]} -> {numbers[node]}{label};")
            inner = inner_node(node)
            if inner is not None:
                self._arrows.append(
                    f"{numbers[inner]} -> {numbers[node]} [style=dashed, dir=none];"
                )
        for name, root, edge in edges:
            if edge is None or not isinstance(edge.function, AccumulateGrad):
                box = self._tensor(self._described(root, name), _RESULT)
                if edge is not None:
                    label = _result_number(edge.function, edge.input_nr)
                    self._arrows.append(f"{numbers[edge.function]} -> {box}{label};")
        for node in nodes:
            if isinstance(node, AccumulateGrad):
                self._leaf(node, numbers[node])
            elif self._show_saved:
                for value in saved_values(node):
                    self._saved(node, value, numbers[node])

    def _label(self, node: Node) -> str:
        lines = [node.name().rpartition("::")[2]]
        hooks = node.hooks
        if hooks is not None:
            count = len(hooks.pre.entries) + len(hooks.post.entries)
            count += sum(len(own.entries) for own in hooks.tensor_pre.values())
            if count:
                lines.append(f"{count} hook{'s' if count > 1 else ''}")
        if self._show_attrs:
            for name, value in saved_slots(node):
                if isinstance(value, (bool, int, float, complex, str, tuple)):
                    text = repr(value)
                    if len(text) > self._longest:
                        text = text[: self._longest] + "..."
                    lines.append(f"{name}: {text}")
        return escaped("\n".join(lines))

    def _leaf(self, node: AccumulateGrad, number: str) -> None:
        leaf = node.variable
        meta = node.input_metadata[0]
        if leaf is None:
            text = f"(gone)\n{dtype_of(meta.dtype).name} {list(meta.shape)}"
        else:
            text = self._described(leaf, None)
        self._arrows.append(f"{self._tensor(text, _LEAF)} -> {number};")

    def _saved(self, node: Node, value: SavedValue, number: str) -> None:
        text = f"saved {value.name}"
        array = value.array
        if array is None:
            text += "\n(packed)"
        else:
            text += f"\n{dtype_of(array.dtype).name} {list(array.shape)}"
        text += f"\nversion {value.variable.version}"
        problem = value.problem(node)
        if problem is not None:
            text += f"\n{problem}"
        box = self._tensor(text, _SAVED if problem is None else _STALE)
        self._arrows.append(f"{box} -> {number} [style=dotted, dir=none];")

    def _tensor(self, text: str, colour: str) -> str:
        number = f"t{self._tensors}"
        self._tensors += 1
        self._boxes.append(f'{number} [label="{escaped(text)}", fillcolor={colour}];')
        return number

    def _described(self, tensor: TensorBase, name: str | None) -> str:
        """Name, dtype, shape, and version once there was a write."""
        name = name or self._names.get(id(tensor)) or name_of(tensor)
        text = f"{tensor.dtype.name} {list(tensor.shape)}"
        try:
            version = tensor._version
        except VtgradError:
            version = 0
        if version:
            text += f"\nversion {version}"
        return text if name is None else f"{name}\n{text}"

    def text(self) -> str:
        """The whole drawing."""
        head = [
            "digraph {",
            "graph [rankdir=BT];",
            "node [shape=box, style=filled, fillcolor=white, fontname=monospace, fontsize=10];",
        ]
        return "\n  ".join([*head, *self._boxes, *self._arrows]) + "\n}"


def _result_number(node: Node, number: int) -> str:
    """The label of an arrow from a node with several results."""
    return f' [label="{number}"]' if len(node.input_metadata) > 1 else ""
