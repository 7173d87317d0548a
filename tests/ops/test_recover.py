"""What a failed call does: it begins again, or its error goes on."""

import ast
import gc
import inspect
import weakref
from collections.abc import Callable, Iterator

import pytest

import vtgrad as vt
from tests.ops.records import RECORDS
from tests.project.calls import calls_of_the_last_statement
from vtgrad.codegen.source_files import OPS
from vtgrad.errors import ArgumentTypeError, DTypeError, ShapeError
from vtgrad.ops.calling.recover import recover
from vtgrad.ops.generated import functional, operators
from vtgrad.ops.operator import Operator, described

#: Functions that choose among overloads by a condition, which may fail too: they have no record.
CHOOSING = {"round", "round_", "squeeze", "squeeze_", "squeeze_copy"}

#: Several copies are written to ``out=`` when nothing can fail any more that the record explains.
COPYING = {"split_copy", "split_with_sizes_copy", "unbind_copy"}


def handlers() -> Iterator[tuple[str, ast.ExceptHandler]]:
    """The functions of all families that may fail, each with what is done then."""
    for path in sorted((OPS / "generated").glob("*.py")):
        for function in ast.parse(path.read_text("utf-8")).body:
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.ExceptHandler):
                        yield function.name, node


def test_every_function_hands_its_failure_on_with_its_record_and_its_arguments() -> None:
    found = dict(handlers())
    assert len(found) > 400
    assert set(found) > CHOOSING
    for name in set(found) - CHOOSING:
        (statement,) = found[name].body
        assert isinstance(statement, ast.Return)
        call = statement.value
        assert isinstance(call, ast.Call)
        assert ast.unparse(call.func) == "recover"
        error, record, function, *values = map(ast.unparse, call.args)
        assert (error, function) == ("error", name)
        operator = getattr(operators, record.removeprefix("op."))
        assert operator is RECORDS[name]
        # In the order of the function's own parameters, all of them: `recover` reads them so.
        given = {k.arg: ast.unparse(k.value) for k in call.keywords}
        assert all(key == value for key, value in given.items())
        own = list(inspect.signature(getattr(functional, name)).parameters)
        if name in COPYING:
            own.remove("out")
        assert [*values, *given] == own, name
        stated = [
            "self" if own[nr] == "self" else one for nr, one in enumerate(operator.parameters)
        ]
        assert [*stated, *["out"] * ("out" in own)] == own, name


def test_a_record_says_what_errors_call_a_parameter_and_of_what_type_it_is() -> None:
    made = Operator("f", "input count=k:int|None * others:Tensors scale:Number|None")
    assert made.parameters == ("input", "count", "others", "scale")
    assert (made.positional, made.integers) == (("input", "count"), ("count",))
    assert described(made.stated) == (
        ("input", "Tensor"),
        ("k", "int|None"),
        ("others", "Tensors"),
        ("scale", "Number|None"),
    )
    with pytest.raises(ArgumentTypeError, match="argument 'k' must be an integer, not float"):
        vt.topk(vt.ones(3), 1.5)  # type: ignore[arg-type]  # the mistake


def _of_pairs() -> object:
    return vt.sort(vt.ones(2), out=vt.ones(2))  # type: ignore[arg-type]  # the mistake


FAILING: dict[str, Callable[[], object]] = {
    "shapes": lambda: vt.ones(2) + vt.ones(3),
    "in place": lambda: vt.ones(2).mul_(vt.ones(3)),
    "view": lambda: vt.ones(2).select(0, 5),
    "explained": lambda: vt.add(vt.ones(2), [1]),  # type: ignore[call-overload]  # the mistake
    "pair": _of_pairs,
    "number first": lambda: vt.floor_divide(3, vt.tensor([0])),
    "number tensor": lambda: vt.add(vt.ones(2), vt.ones(3), alpha=vt.tensor(2.0)),  # type: ignore[call-overload]  # as a number
    "in a batch": lambda: vt.func.vmap(lambda x: vt.mul(x, "x"))(vt.ones(3)),  # type: ignore[call-overload]  # the mistake
    "of a batch, with a rule": lambda: vt.func.vmap(lambda x: x.sum(5))(vt.ones(3, 2)),
    "two numbers": lambda: vt.mul(2, 3),  # type: ignore[call-overload]  # the mistake
}


@pytest.mark.parametrize("name", FAILING)
def test_an_error_is_in_no_cycle_with_its_traceback(name: str) -> None:
    """The operands of a failed call are freed with the error, without the collector."""
    seen: list[weakref.ref[BaseException]] = []

    def fail() -> None:
        try:
            FAILING[name]()
        except Exception as error:
            one: BaseException | None = error
            while one is not None:
                # Only classes of this package can be referred to weakly.
                if isinstance(one, vt.errors.VtgradError):
                    seen.append(weakref.ref(one))
                one = one.__cause__ or one.__context__

    gc.collect()
    gc.disable()
    try:
        fail()
        assert seen
        assert [found() for found in seen] == [None] * len(seen)
    finally:
        gc.enable()


def test_the_error_itself_goes_on_if_nothing_helps() -> None:
    raised = ShapeError("as it is")
    two = vt.ones(2)

    def failed() -> object:
        try:
            raise raised
        except ShapeError as error:
            return recover(error, operators.MUL, functional.mul, two, two, out=None)

    with pytest.raises(ShapeError) as found:
        failed()
    assert found.value is raised


def test_a_call_begins_again_with_the_same_arguments_in_another_form() -> None:
    calls: list[tuple[object, ...]] = []

    def again(*args: object, **kwargs: object) -> object:
        calls.append((*args, *kwargs.values()))
        return "again"

    def failed(error: Exception, operator: Operator, *args: object, **kwargs: object) -> object:
        try:
            raise error
        except Exception as caught:
            return recover(caught, operator, again, *args, **kwargs)

    x, two = vt.ones(2), vt.tensor(2.0)
    assert failed(TypeError("inside"), operators.ADD, x, x, alpha=two, out=None) == "again"
    assert calls == [(x, x, 2.0, None)]
    assert failed(AttributeError("inside"), operators.MUL, 3, x, out=None) == "again"
    first = calls[1][0]
    assert isinstance(first, vt.Tensor)
    assert (first.item(), calls[1][1:]) == (3.0, (x, None))
    # What writes has a first operand already.
    with pytest.raises(ArgumentTypeError, match="argument 'input' must be a tensor, not int"):
        failed(AttributeError("inside"), operators.MUL_, 3, x)
    # Random numbers may have been drawn: with others it would not be the same call.
    with pytest.raises(ArgumentTypeError, match="argument 'std' must be a real number, not Tensor"):
        failed(DTypeError("inside"), RECORDS["normal_Tensor_float"], x, two, generator=None)
    assert len(calls) == 2


@pytest.mark.skipif(vt.__compiled__, reason="a profile does not see native functions")
@pytest.mark.parametrize("call", ["vt.mul(2, x)", "vt.sub(2, x)", "vt.add(x, x, alpha=two)"])
def test_a_call_that_succeeds_the_second_time_reads_no_types(call: str) -> None:
    """It is a call that users make in loops: types are read once for each operator."""
    program = f"import vtgrad as vt\nx, two = vt.ones(2), vt.tensor(2.0)\n{call}"
    names = [name for name, _ in calls_of_the_last_statement(program)]
    assert "recover" in names
    assert "described" not in names
