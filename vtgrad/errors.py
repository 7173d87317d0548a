"""The exceptions of vtgrad.

Each class is also the built-in exception that users of PyTorch catch (``RuntimeError``,
``IndexError``, ``TypeError`` ...), so ``except RuntimeError`` keeps working. Where NumPy raises
another one, it is that one too: a `ShapeError` is a ``ValueError``. Beyond the text, an error has
``kind``, a short identifier that stays the same in all releases, and its facts as attributes, so
that programs need not parse messages.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

__all__ = [
    "AmbiguousTruthError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "BatchedTensorError",
    "BatchedWriteError",
    "BlockNotOpenError",
    "ChangedPathError",
    "CheckOptionError",
    "CheckpointError",
    "CustomFunctionViewError",
    "DLPackError",
    "DTypeError",
    "DetachViewError",
    "DimensionError",
    "ElementCountError",
    "ElementIndexError",
    "EmptyInputsError",
    "FileFormatError",
    "ForwardModeError",
    "FrozenEdgesError",
    "FunctionError",
    "GradAssignmentError",
    "GradRequiredError",
    "GradcheckError",
    "GradientError",
    "GradientLostWarning",
    "GraphFreedError",
    "HookError",
    "HooksDisabledError",
    "ImplicitGradientError",
    "IndexTypeError",
    "IndependentError",
    "InferenceModeError",
    "InferenceSavedError",
    "InferenceViewError",
    "InferenceWriteError",
    "InputOverlapError",
    "InterruptedWriteError",
    "LeafWriteError",
    "LinAlgError",
    "MainGuardError",
    "MatrixShapeError",
    "MemoryFormatError",
    "MissingMethodError",
    "MissingPackageError",
    "MultiOutputViewError",
    "NameNotFoundError",
    "NamesError",
    "NamesMismatchError",
    "NamesNotSupportedError",
    "NanGradientError",
    "NoDerivativeError",
    "NoGradViewError",
    "NotALeafError",
    "NotConstructibleError",
    "NotPicklableError",
    "NotSupportedError",
    "NumpyConversionError",
    "OptionValueError",
    "OutGradError",
    "OutOfBoundsError",
    "OutOfRangeError",
    "OutputTypeError",
    "OutsideBackwardError",
    "ProfilerDisabledError",
    "ProfilerError",
    "ReadOnlyError",
    "RecordingError",
    "ReplayGuardError",
    "RequiresGradError",
    "ResizeError",
    "ResultTypeError",
    "RootError",
    "SavedDetachedError",
    "SavedHookError",
    "SelfOverlapError",
    "ShapeError",
    "ShardError",
    "StaleSavedError",
    "SwapError",
    "TransformArgumentError",
    "TransformError",
    "UndeclaredWriteError",
    "UnseenWriteError",
    "UnusedInputError",
    "ViewInvalidError",
    "ViewOfLeafWriteError",
    "VtgradError",
    "WorkerDiedError",
    "WriteRefusedError",
]


class VtgradError(Exception):
    """Base of all errors of this package.

    Attributes
    ----------
    kind : str
        Short stable identifier of the error's class.
    facts : dict of str to object
        The values in the message; each is an attribute of the error too.
    """

    kind: ClassVar[str] = "error"
    facts: dict[str, object]

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.facts = facts
        self.__dict__.update(facts)


# -- arguments ------------------------------------------------------------------------------


class ShapeError(VtgradError, RuntimeError, ValueError):
    """Shapes do not fit each other or the operator."""

    kind = "shape"


class LinAlgError(VtgradError, RuntimeError, np.linalg.LinAlgError):
    """A matrix is singular, or has no such decomposition."""

    kind = "linear-algebra"


class MatrixShapeError(ShapeError, LinAlgError):
    """What should be a matrix, or a square one, has another shape."""

    kind = "shape"


class DimensionError(VtgradError, IndexError, ValueError):
    """A dimension number is outside the tensor's range."""

    kind = "dimension"


class OutOfRangeError(VtgradError, IndexError):
    """An index is outside its dimension, or there are too many indices."""

    kind = "index"


class IndexTypeError(VtgradError, IndexError):
    """An index is of a type that a tensor cannot be indexed with."""

    kind = "index"


class ElementIndexError(VtgradError, RuntimeError, IndexError):
    """An element of an index tensor is outside the dimension that it indexes."""

    kind = "index"


class ArgumentTypeError(VtgradError, TypeError):
    """An argument is of a type that the operator does not take."""

    kind = "argument-type"


class ArgumentValueError(VtgradError, ValueError):
    """An argument has a value that the operator does not take."""

    kind = "argument-value"


class OptionValueError(VtgradError, RuntimeError):
    """An option of an operator has a value that it does not take."""

    kind = "argument-value"


class DTypeError(VtgradError, RuntimeError, TypeError):
    """The operator is not defined for this dtype, or for these dtypes together."""

    kind = "dtype"


class ResultTypeError(VtgradError, RuntimeError, TypeError):
    """The result's dtype cannot be stored in the tensor that is written."""

    kind = "result-type"


class DeviceError(VtgradError, RuntimeError):
    """Tensors are on different devices, or there is no such device."""

    kind = "device"


class MemoryFormatError(VtgradError, RuntimeError):
    """A memory format that a tensor, or an operator, cannot have."""

    kind = "memory-format"


class OutOfBoundsError(VtgradError, RuntimeError):
    """A geometry would reach outside the buffer of its storage."""

    kind = "out-of-bounds"


class AmbiguousTruthError(VtgradError, RuntimeError, ValueError):
    """A tensor without exactly one element was used as true or false."""

    kind = "ambiguous-truth"


class ElementCountError(VtgradError, RuntimeError, ValueError):
    """A tensor without exactly one element was used as one Python number."""

    kind = "ambiguous-truth"


class NotSupportedError(VtgradError, NotImplementedError):
    """A feature that this version does not have."""

    kind = "not-supported"


class NamesError(VtgradError, RuntimeError):
    """Names of dimensions do not fit the tensor: their number, spelling, or one that is twice."""

    kind = "names"


class NamesMismatchError(NamesError):
    """The names of two tensors do not agree, or an operand's with those of the target."""

    kind = "names_mismatch"


class NameNotFoundError(NamesError, ArgumentTypeError):
    """A tensor has no dimension of the name; where none has a name, a number was needed."""

    kind = "name_not_found"


class NamesNotSupportedError(NotSupportedError, NamesError):
    """The operator has no rule for the names of dimensions."""

    kind = "names_not_supported"


class NotALeafError(VtgradError, RuntimeError):
    """A result was to be copied together with its producer."""

    kind = "not-a-leaf"


class NumpyConversionError(VtgradError, RuntimeError, TypeError):
    """A tensor that requires grad was to become a NumPy array."""

    kind = "numpy-conversion"


class DLPackError(VtgradError, BufferError):
    """A tensor was to be handed to another library by DLPack, which cannot take it.

    It requires grad, has a tangent, or its values are not in memory as they are.
    """

    kind = "dlpack"


class FileFormatError(VtgradError, RuntimeError):
    """A file has no tensors that can be read: it is of another kind, damaged, or needs pickles.

    Attributes
    ----------
    entry : str
        The entry of the file that cannot be read, if it is one.
    """

    kind = "file-format"


class GradientLostWarning(UserWarning):
    """A tensor with a gradient, or a tangent, became a plain number, through which none passes.

    `float`, `int`, `complex`, the functions of `math`, NumPy arrays that store one element
    (``a[i] = x``) and lists passed to `vtgrad.tensor` warn: once for each line of the program,
    unless a warning filter says otherwise, and not under `vtgrad.no_grad` if the tensor has no
    tangent. `Tensor.item`, `Tensor.tolist`, `Tensor.detach`, ``bool(x)``, comparisons and
    formatting never warn.

    Examples
    --------
    >>> import warnings
    >>> x = vt.tensor(2.0, requires_grad=True)
    >>> table = np.zeros(3)
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     table[0] = x
    ...     table[1] = x.item()
    >>> [w.category.__name__ for w in found]
    ['GradientLostWarning']
    """


# -- writes ---------------------------------------------------------------------------------


class WriteRefusedError(VtgradError, RuntimeError):
    """An in-place write that would make gradients wrong; nothing was written."""

    kind = "write-refused"


class LeafWriteError(WriteRefusedError):
    """A leaf that requires grad was to be written while recording."""

    kind = "leaf-write"


class ViewOfLeafWriteError(WriteRefusedError):
    """A view of a leaf that requires grad was to be written while recording."""

    kind = "view-of-leaf-write"


class SelfOverlapError(WriteRefusedError):
    """Several elements of the written tensor are one memory location."""

    kind = "self-overlap"


class ReadOnlyError(WriteRefusedError, ValueError):
    """The memory of the written tensor is that of a read-only array; nothing was written."""

    kind = "read-only"


class InputOverlapError(WriteRefusedError):
    """The written tensor and an input overlap without being the same elements."""

    kind = "input-overlap"


class OutGradError(WriteRefusedError):
    """``out=`` together with an argument that requires grad."""

    kind = "out-grad"


class BatchedWriteError(WriteRefusedError):
    """Inside of `vmap`: a value that differs by sample was to be written to one tensor.

    Attributes
    ----------
    operator : str
        The operator that was to write.
    made_at : CallSite or None
        The line that made the tensor, if it was made inside of `vmap`.
    written_at : CallSite or None
        The line that was to write.
    """

    kind = "batched-write"


class ResizeError(WriteRefusedError):
    """``resize_`` of a tensor that requires grad, or of memory that cannot grow."""

    kind = "resize"


class ViewInvalidError(WriteRefusedError):
    """A view whose creation forbids the write, or whose base was written since.

    Attributes
    ----------
    modified : bool
        False when the view itself was to be written; True when its base, or another view of
        its base, has been written and the view's gradient function can not be rebuilt.
    creation : str
        How the view was made.
    filename : str or None
        The file of the line that made the view.
    lineno : int or None
        The line's number.
    write : Write or None
        If `modified`: the first write since.
    """

    kind = "view-invalid"


class MultiOutputViewError(ViewInvalidError):
    """The view is one of several outputs of one operator."""

    kind = "multi-output-view"


class NoGradViewError(ViewInvalidError):
    """The view was made under ``no_grad``."""

    kind = "no-grad-view"


class TransformArgumentError(ViewInvalidError):
    """A function wrote to the argument by which a transform differentiates it."""

    kind = "transform-argument-view"


class CustomFunctionViewError(ViewInvalidError):
    """The view was made inside a custom Function."""

    kind = "custom-function-view"


class InferenceViewError(ViewInvalidError):
    """The view was made in inference mode."""

    kind = "inference-view"


class InferenceModeError(VtgradError, RuntimeError):
    """An inference tensor was used where only normal tensors may be."""

    kind = "inference"


class InferenceWriteError(WriteRefusedError, InferenceModeError):
    """An inference tensor was to be written outside of inference mode; nothing was written."""

    kind = "inference-write"


class InferenceSavedError(InferenceModeError):
    """An operator that is recorded would have to save an inference tensor for backward."""

    kind = "inference-saved"


class DetachViewError(VtgradError, RuntimeError):
    """``detach_`` of a view."""

    kind = "detach-view"


# -- saved values and the graph ---------------------------------------------------------------


class SwapError(VtgradError, RuntimeError):
    """A tensor to which another object refers was to be exchanged with another."""

    kind = "swap"


class StaleSavedError(VtgradError, RuntimeError):
    """A value that backward needs was overwritten after it was saved.

    Attributes
    ----------
    elements : WrittenElements or None
        The overwritten elements: `count`, `size` and `slices`. None if they are not known, or if no
        element was overwritten, but `vtgrad.autograd.graph.set_overwrite_check` selects the whole
        storage.
    expected_version : int
        The last version at which the value was known to be intact.
    found_version : int
        The present version.
    node : str
        The node that saved the value.
    name : str or None
        The name of the tensor that was overwritten, if it lives and has one, see `Tensor.name`.
    operator : str or None
        The operator of the first known write that overwrote the value.
    filename : str or None
        The file of the line of the program that called it.
    lineno : int or None
        The line's number.
    writes : tuple of Write
        The first known write, and the last one that overwrote an element, if it is another. If
        `elements` is None, all remembered writes since.
    saved_at : CallSite or None
        The line that saved the value; only in anomaly mode, see
        `vtgrad.autograd.set_detect_anomaly`.
    ways_out : tuple of str
        Three changes of the program that avoid the error.
    """

    kind = "stale-saved"


class InterruptedWriteError(VtgradError, RuntimeError):
    """A value has no gradient because a write to it was interrupted."""

    kind = "interrupted-write"


class UnseenWriteError(VtgradError, RuntimeError):
    """A saved value was changed by a write that did not pass through the library.

    Attributes
    ----------
    node : str or None
        The node that saved the value; None where its formula found the write.
    saved_at : CallSite or None
        The line that saved it; only in anomaly mode, and where `node` is known.
    """

    kind = "unseen-write"


class ForkedPassError(VtgradError, RuntimeError):
    """A backward on several threads cannot go on in the child of a fork, which lacks them."""

    kind = "forked-pass"


class GraphFreedError(VtgradError, RuntimeError):
    """Backward needs values that an earlier backward has freed."""

    kind = "graph-freed"


class SavedDetachedError(VtgradError, RuntimeError):
    """A saved tensor was detached in place since."""

    kind = "saved-detached"


class FunctionError(VtgradError, RuntimeError):
    """A custom Function was used, or uses its context, in a way that has no meaning."""

    kind = "function"


class UndeclaredWriteError(FunctionError):
    """The forward of a custom Function wrote to an input without declaring it.

    Attributes
    ----------
    index : int
        The index of the argument.
    expected_version : int
        The argument's version before forward.
    found_version : int
        Its version after forward.
    """

    kind = "undeclared-write"


class MissingMethodError(VtgradError, NotImplementedError):
    """A custom Function lacks a method that is needed."""

    kind = "missing-method"


class RootError(VtgradError, RuntimeError):
    """A root of backward is not part of a graph."""

    kind = "root"


class ImplicitGradientError(VtgradError, RuntimeError):
    """A root that is not one real element needs an explicit gradient."""

    kind = "implicit-gradient"


class GradientError(VtgradError, RuntimeError):
    """A gradient's shape, dtype or count does not fit the value it belongs to."""

    kind = "gradient"


class FrozenEdgesError(VtgradError, RuntimeError):
    """The edges of a node cannot be changed any more, because another node leads to it."""

    kind = "frozen-edges"


class NanGradientError(VtgradError, RuntimeError):
    """In anomaly mode, a node of the graph has returned a gradient that contains NaN.

    Attributes
    ----------
    node : str
        The node.
    origin : str
        Where the NaN comes from: ``"node"`` if the node has made it; ``"hook"`` if a hook has put
        it into what the node got or returned; ``"root"`` if the gradient that was given to backward
        contains it; ``"sum"`` if it was there once the parts of what the node got had been added.
    index : int
        The number of the input whose gradient it is.
    count : int
        The number of elements that are NaN.
    shape : tuple of int
        The gradient's shape; of a batch of gradients that of all of them, with the batch in front.
    made_at : CallSite or None
        The line of the program that made the node; None if anomaly mode was off then.
    writes : tuple of Write
        For each value that the node saved and that had been written in place before: the last such
        write.
    """

    kind = "nan-gradient"


class EmptyInputsError(VtgradError, RuntimeError):
    """The `inputs` of ``backward`` or ``grad`` are empty."""

    kind = "empty-inputs"


class NoDerivativeError(VtgradError, RuntimeError):
    """Backward reached an operator that is declared without a derivative."""

    kind = "no-derivative"


class UnusedInputError(VtgradError, RuntimeError):
    """An input of ``grad`` is not reached from the outputs."""

    kind = "unused-input"


class GradRequiredError(VtgradError, RuntimeError):
    """The call needs a tensor that requires grad."""

    kind = "grad-required"


class RequiresGradError(VtgradError, RuntimeError):
    """``requires_grad`` cannot be set to this value on this tensor."""

    kind = "requires-grad"


class GradAssignmentError(VtgradError, RuntimeError):
    """The value assigned to ``.grad`` does not fit the tensor."""

    kind = "grad-assignment"


class OutsideBackwardError(VtgradError, RuntimeError):
    """A function that only hooks may call was called outside of a backward."""

    kind = "outside-backward"


class HookError(VtgradError, RuntimeError):
    """A hook returned an object that cannot replace the gradient."""

    kind = "hook"


class CheckpointError(VtgradError, RuntimeError):
    """A computation that backward has run again did not do the same as at first.

    Attributes
    ----------
    step : int
        The step, if it is one of `checkpoint_loop`.
    """

    kind = "checkpoint"


class ForwardModeError(VtgradError, RuntimeError):
    """Forward mode was used where no level is open, or with what cannot have a tangent."""

    kind: ClassVar[str] = "forward-mode"


class TransformError(VtgradError, RuntimeError):
    """A function, or what it was called with or returned, does not fit a transform of functions."""

    kind = "transform"


class ChangedPathError(TransformError):
    """A function read other values than those for which the pattern of its Jacobian was found.

    Attributes
    ----------
    expected : ValueRead or None
        What was read then; None if there was no further read.
    found : ValueRead or None
        What was read now; None if the function read no more values.
    """

    kind = "changed-path"


class BatchedTensorError(VtgradError, RuntimeError):
    """Inside of `vmap`: one value was asked of a tensor that stands for a batch of samples.

    Also for a tensor that has left its `vmap`.
    """

    kind = "batched"


class IndependentError(VtgradError, RuntimeError):
    """With ``strict=True``: an output, or a derivative, does not depend on an input."""

    kind = "independent"


class MissingPackageError(VtgradError, ImportError):
    """A package that only this feature needs is not installed.

    Attributes
    ----------
    package : str
        Its name.
    """

    kind = "missing-package"


class SavedHookError(VtgradError, RuntimeError):
    """A hook of saved values did what it must not, or was registered where none can be.

    Attributes
    ----------
    node : str
        The node that saved the value, if it is known.
    """

    kind = "saved-hook"


class NotConstructibleError(VtgradError, RuntimeError):
    """Objects of this class are made by the library only."""

    kind = "not-constructible"


class HooksDisabledError(VtgradError, RuntimeError):
    """Hooks of saved values are disabled here; the message is that of the code that did so."""

    kind = "hooks-disabled"


# -- checking gradients -------------------------------------------------------------------------


class GradcheckError(VtgradError, RuntimeError):
    """A gradient, or what a function does to versions and memory, is wrong.

    Attributes
    ----------
    check : str
        What was found: ``"jacobian"``, ``"constant"``, ``"linear"``, ``"nondeterministic"``,
        ``"undefined"``, ``"dtype"``, ``"step"``, ``"no-derivative"``, ``"input-written"``,
        ``"batched-gradient"``, ``"batched-tangent"``, and with `check_inplace` ``"unseen-write"``,
        ``"version-without-write"`` or ``"write-beside"``.
    output, input : str
        For ``"jacobian"``: what the derivative that differs most is of and by.
    output_index, input_index : tuple of int
        Its elements.
    output_part, input_part : str or None
        Of complex numbers ``"real"`` or ``"imaginary"``, if it is of or by one part.
    analytic, numeric : float or complex
        Its value by backward, and by central differences.
    difference, tolerance : float
        How far they are apart, and what is allowed.
    wrong : int
        How many derivatives differ.
    """

    kind = "gradcheck"


class CheckOptionError(VtgradError, AssertionError):
    """Options of a check leave nothing to check, or do not fit together."""

    kind = "check-option"


class OutputTypeError(VtgradError, AttributeError):
    """A function that is checked returned something other than tensors."""

    kind = "output-type"


# -- profiles -------------------------------------------------------------------------------


class BlockNotOpenError(VtgradError, RuntimeError):
    """A block was left that is not open on this thread.

    Attributes
    ----------
    block : str
        The class of the block, such as ``no_grad``.
    """

    kind = "block-not-open"


class ReplayGuardError(VtgradError, RuntimeError):
    """A call of a traced function is not as the recorded one; nothing has changed.

    Attributes
    ----------
    guard : str
        What differs.
    line : tuple of str and int, or None
        The line of the program at which a value left the recording, if that is what differs.
    """

    kind = "replay-guard"
    guard: str
    line: tuple[str, int] | None


class ProfilerError(VtgradError, RuntimeError):
    """A profile is entered twice, or read too early, or an event has no proper name."""

    kind = "profiler"


class ProfilerDisabledError(ProfilerError, AttributeError):
    """The events of a profile were asked for that was made with ``enabled=False``."""

    kind = "profiler-disabled"


# -- several processes -----------------------------------------------------------------------


class NotPicklableError(ArgumentTypeError):
    """What should be sent to another process cannot be pickled.

    Attributes
    ----------
    reason : str
        Why, as far as it is known.
    """

    kind = "not-picklable"
    reason: str


class MainGuardError(VtgradError, RuntimeError):
    """The main module, which a new process imports, starts new processes again."""

    kind = "main-guard"


class ShardError(VtgradError, RuntimeError):
    """A function raised an error for a shard of the data; the error is the cause.

    Attributes
    ----------
    shard : int or None
        The number of the shard.
    shards : tuple of int
        That of each shard that is known to be unfinished because of it.
    traceback : str
        The traceback of the worker; empty if it has ended.
    """

    kind = "shard"
    shard: int | None
    shards: tuple[int, ...]
    traceback: str


class WorkerDiedError(ShardError):
    """A process or an executor has ended before its shards were finished.

    Attributes
    ----------
    shard : int or None
        The shard that it was at; where results were on their way, or several workers may have
        ended, the first that it may have been.
    shards : tuple of int
        What it had not finished.
    exit_code : int or None
        That of the process, if it is known; negative for a signal.
    """

    kind = "worker-died"
    exit_code: int | None


# -- recordings ------------------------------------------------------------------------------


class RecordingError(VtgradError, RuntimeError):
    """A program cannot be recorded, or its recording is not accepted.

    Attributes
    ----------
    reason : str
        A short name of the reason.
    library, line : tuple of str and int, or None
        The file and the line of the library, and those of the program.
    """

    kind = "recording"
    reason: str
    library: tuple[str, int] | None
    line: tuple[str, int] | None
