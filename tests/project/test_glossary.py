"""Every place that the glossary names exists."""

import re
from collections import Counter
from pathlib import Path
from pkgutil import resolve_name

import pytest

from tests.project.tree import ROOT
from tests.sweeping import at_once, sweep

_PAGE = ROOT / "docs" / "glossary.md"
_ROW = re.compile(r"^\| (.+?) \| (.+?) \|(?: (.*?))? \|$", re.MULTILINE)
_PLACE = re.compile(r"`([\w.]+(?::[\w.]+)?)`")
_WITHOUT_PLACE = ("none",)

# Names in articles about PyTorch's autograd that say nothing by themselves: what stands for each of
# them here is in the glossary.
_LOOKED_UP = """
    IterArgs MakeNextFunctionList NUM_DEVICES NamedTensorMetaInterface RecordScope THPFunctionType
    THPFunction_methods THPFunction_new THPFunction_properties TypeMeta UINT64_MAX
    UndefinedTensorImpl CppNode FunctionTask _ContextMethodMixin _FunctionBase _HookMixin _is_legacy
    anomaly_metadata_ any_variable_requires_grad backward_hooks base_owner byte_size call_once
    clear_input_metadata cpp_hooks_list_ currentThreadId deleteNode device_opt_ dirty_inputs_
    edge_list enforce_variables ensure_tuple get_next_edge get_non_differentiable
    get_saved_variables graph_root has_contiguity_ has_freed_buffers_ input_info input_tuple
    intrusive_ptr is_channels_last_ is_channels_last_3d_ is_channels_last_3d_contiguous_
    is_channels_last_contiguous_ is_contiguous_ is_non_overlapping_and_dense_ mutable_grad
    needsInputs not_empty output_ids pop_back push_front pyobj_ reserved_ set_requires_grad
    setForwardThreadId shouldRunRecordFunction sizes_and_strides_ traced_apply unsafe_borrow_t
    update_topological_nr variable_list with_metaclass
    allow_tensor_metadata_change_
""".split()


def _rows(page: Path = _PAGE) -> list[tuple[str, str, str]]:
    """Names, place and remarks of each entry."""
    rows: list[tuple[str, str, str]] = _ROW.findall(page.read_text("utf-8"))
    return [row for row in rows if row[0] != "name" and set(row[0]) != {"-", " "} - {" "}]


def _places() -> list[str]:
    return sorted({place for _, places, _ in _rows() for place in _PLACE.findall(places)})


def test_there_are_entries() -> None:
    assert len(_rows()) > 150
    assert len(_places()) > 120


def test_names_that_articles_use_are_found() -> None:
    known = {name for names, _, _ in _rows() for name in re.findall(r"`([\w.]+)", names)}
    assert len(_LOOKED_UP) == 66
    assert [name for name in _LOOKED_UP if name not in known] == []


def test_every_line_of_a_table_is_an_entry() -> None:
    lines = [line for line in _PAGE.read_text("utf-8").split("\n") if line.startswith("|")]
    heads = sum(line.startswith(("| name |", "| --- |")) for line in lines)
    assert len(lines) == len(_rows()) + heads


@sweep(_places(), row=at_once)
def test_a_place_exists(place: str) -> None:
    resolve_name(place)


def test_a_place_that_is_gone_is_found() -> None:
    for gone in ("vtgrad.graph.node:Node.gone", "vtgrad.graph.gone:Node"):
        with pytest.raises((AttributeError, ImportError)):
            resolve_name(gone)


def test_an_entry_has_a_place_or_a_reason() -> None:
    without = [row for row in _rows() if _PLACE.sub("", row[1]).strip(", ") != ""]
    assert {places for _, places, _ in without} == set(_WITHOUT_PLACE)
    assert [name for name, _, reason in without if not reason.strip()] == []


def test_no_name_has_two_entries() -> None:
    assert [name for name, n in Counter(name for name, _, _ in _rows()).items() if n > 1] == []
