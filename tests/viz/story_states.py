"""The state after each step of a story, from the changes that its data has."""

from __future__ import annotations

import json
from typing import Any

from vtgrad.viz import Story

__all__ = ["KINDS", "State", "elements", "find", "states"]

KINDS = ("storages", "tensors", "saved", "nodes")
State = dict[str, dict[str, Any]]


def states(story: Story) -> list[State]:
    """Replay the changes, and check that each state refers to nothing that it has not."""
    found: list[State] = []
    state: State = {kind: {} for kind in KINDS}
    data = json.loads(json.dumps(story.data()))
    for number, step in enumerate(data["steps"]):
        assert set(step["set"]) <= set(KINDS)
        assert set(step["gone"]) <= set(KINDS)
        state = {kind: dict(state[kind]) for kind in KINDS}
        for kind, keys in step["gone"].items():
            for key in keys:
                # A merged step names what came and went within it, too.
                state[kind].pop(key, None)
        for kind, records in step["set"].items():
            assert not set(records) & set(step["gone"].get(kind, ()))
            state[kind].update(records)
        _check(state, number)
        for write in [step["write"], *step.get("writes", ())] if "write" in step else ():
            assert write["storage"] in state["storages"]
        found.append(state)
    return found


def _check(state: State, number: int) -> None:
    storages, tensors, nodes = state["storages"], state["tensors"], state["nodes"]
    for tensor in tensors.values():
        assert tensor["base"] is None or tensor["base"] in tensors
        assert tensor["grad"] is None or tensor["grad"] in tensors
        assert tensor["grad_fn"] is None or tensor["grad_fn"] in nodes
        assert set(elements(tensor["runs"])) <= set(range(storages[tensor["storage"]]["elements"]))
    for saved in state["saved"].values():
        assert saved["node"] in nodes
        assert saved["tensor"] is None or saved["tensor"] in tensors
        assert saved["write"] is None or saved["state"] != "intact"
        assert saved["write"] is None or saved["write"] <= number
        if saved["storage"] is not None:
            count = storages[saved["storage"]]["elements"]
            assert set(elements(saved["runs"])) <= set(range(count))
    for node in nodes.values():
        assert all(edge is None or edge[0] in nodes for edge in node["next"])
        assert node["tensor"] is None or node["tensor"] in tensors
        assert node["state"] in ("recorded", "running", "ran")
    for storage in storages.values():
        assert len(storage["values"]) == min(storage["elements"], 64)
        assert set(elements(storage["marked"])) <= set(range(storage["elements"]))
        assert "\0" not in storage["name"]


def elements(runs: list[list[int]]) -> list[int]:
    """The elements of runs."""
    return [place for run in runs for place in range(*run)]


def find(state: State, kind: str, name: str) -> dict[str, Any]:
    """The record of a name."""
    records: list[dict[str, Any]] = list(state[kind].values())
    (record,) = [found for found in records if found["name"] == name]
    return record
