"""A story as the page reads it, written by hand: what the page does is tested without a recorder.

The program saves a value, overwrites it through a view, reads a stale `grad_fn` and is refused.
"""

from __future__ import annotations

__all__ = ["example"]

_LINES = {
    1: "import vtgrad as vt",
    3: 'x = vt.tensor([1.0, 2.0, 3.0], requires_grad=True)  # </script><b id="injected">&amp;',
    4: "b = x * 1",
    5: "head, tail = b[:1], b[1:]",
    6: "square = tail * tail",
    7: "head.mul_(2)",
    8: "tail.mul_(3)",
    9: "square.sum().backward()",
}


def _storage(name: str, values: list[str], version: int = 0, **more: object) -> dict[str, object]:
    return {
        "name": name,
        "dtype": "float32",
        "elements": len(values),
        "values": values,
        "version": version,
        "marked": [],
        **more,
    }


def _tensor(name: str, storage: int, stop: int, **more: object) -> dict[str, object]:
    return {
        "name": name,
        "storage": storage,
        "shape": [stop],
        "runs": [[0, stop, 1]],
        "base": None,
        "requires_grad": True,
        "leaf": False,
        "grad_fn": None,
        "stale": False,
        "grad": None,
        "version": 0,
        **more,
    }


def _node(name: str, *following: int, **more: object) -> dict[str, object]:
    edges = [[node, 0] for node in following]
    return {"name": name, "next": edges, "tensor": None, "state": "recorded", **more}


def _saved(node: int, label: str, **more: object) -> dict[str, object]:
    return {
        "node": node,
        "label": label,
        "tensor": 4,
        "storage": 2,
        "runs": [[1, 3, 1]],
        "version": 0,
        "state": "intact",
        "write": None,
        **more,
    }


def _step(kind: str, text: str, line: int | None, **more: object) -> dict[str, object]:
    return {"kind": kind, "text": text, "file": None if line is None else 0, "line": line, **more}


_HEAD = {"shape": [1], "runs": [[0, 1, 1]], "base": 2}
_TAIL = {"shape": [2], "runs": [[1, 3, 1]], "base": 2}


def example() -> dict[str, object]:
    """The story, made anew."""
    steps = [
        _step("start", "The story begins", None, set={}),
        _step(
            "operator",
            "x is made: a leaf <i>of</i> 3 elements",
            3,
            set={
                "storages": {"1": _storage("x", ["1.", "2.", "3."])},
                "tensors": {"1": _tensor("x", 1, 3, leaf=True)},
            },
        ),
        _step(
            "operator",
            "mul makes b",
            4,
            set={
                "storages": {"2": _storage("b", ["1.", "2.", "3."])},
                "tensors": {"2": _tensor("b", 2, 3, grad_fn=11)},
                "nodes": {
                    "10": _node("torch::autograd::AccumulateGrad", tensor=1),
                    "11": _node("MulBackward0", 10),
                },
            },
        ),
        _step(
            "view",
            "head is a view of b",
            5,
            set={
                "tensors": {"3": _tensor("head", 2, 1, grad_fn=12, **_HEAD)},
                "nodes": {"12": _node("SliceBackward0", 11)},
            },
        ),
        _step(
            "view",
            "tail is a view of b",
            5,
            set={
                "tensors": {"4": _tensor("tail", 2, 2, grad_fn=13, **_TAIL)},
                "nodes": {"13": _node("SliceBackward0", 11)},
            },
        ),
        _step(
            "save",
            "MulBackward0 saves tail, twice",
            6,
            set={
                "storages": {"3": _storage("square", ["4.", "9."])},
                "tensors": {"5": _tensor("square", 3, 2, grad_fn=14)},
                "nodes": {"14": _node("MulBackward0", 13, 13)},
                "saved": {"20": _saved(14, "self"), "21": _saved(14, "other")},
            },
        ),
        _step(
            "write",
            "mul_ writes 1 element of b through head (version 0 to 1)",
            7,
            set={
                "storages": {"2": _storage("b", ["2.", "2.", "3."], 1, marked=[[0, 1, 1]])},
                "tensors": {
                    "2": _tensor("b", 2, 3, grad_fn=15, version=1),
                    "3": _tensor("head", 2, 1, stale=True, **_HEAD),
                    "4": _tensor("tail", 2, 2, stale=True, **_TAIL),
                },
                "nodes": {"15": _node("CopySlices", 11)},
            },
            write={"storage": 2, "runs": [[0, 1, 1]]},
        ),
        _step(
            "write",
            "mul_ writes 2 elements of b through tail (version 1 to 2)",
            8,
            set={
                "storages": {"2": _storage("b", ["2.", "6.", "9."], 2, marked=[[0, 3, 1]])},
                "saved": {
                    "20": _saved(14, "self", state="overwritten", write=7),
                    "21": _saved(14, "other", state="overwritten", write=7),
                },
                "nodes": {"16": _node("CopySlices", 15)},
                "tensors": {"2": _tensor("b", 2, 3, grad_fn=16, version=2)},
            },
            write={"storage": 2, "runs": [[1, 3, 1]]},
        ),
        _step(
            "refusal",
            "backward is refused: MulBackward0 needs a value that was overwritten",
            9,
            set={},
            gone={"tensors": [3], "nodes": [12]},
        ),
    ]
    return {
        "title": "A value that is <overwritten> & refused",
        "files": [{"name": "program.py", "lines": {str(n): text for n, text in _LINES.items()}}],
        "steps": steps,
        "left_out": {"steps": 0, "storages": 2, "elements": 0},
    }
