"""The kinds of PyTorch's errors, which are told by their messages."""

import re

__all__ = ["likely_kind", "told_kind"]

# First match wins. Only a few characteristic words of each message are named.
_BY_MESSAGE: tuple[tuple[str, str], ...] = (
    (r"a view of a leaf Variable that requires grad", "view-of-leaf-write"),
    (r"a leaf Variable that requires grad is being used in an in-place", "leaf-write"),
    (r"more than one element of the written-to tensor", "self-overlap"),
    (r"some elements of the input tensor and the written-to", "input-overlap"),
    (r"arguments don't support automatic differentiation", "out-grad"),
    (r"function that returns multiple views", "multi-output-view"),
    (r"created inside a custom Function", "custom-function-view"),
    (r"If your Function modifies inplace an input that is a view", "function"),
    (r"created in no_grad mode", "no-grad-view"),
    (r"Inference tensors cannot be saved", "inference-saved"),
    (r"created in inference mode", "inference-view"),
    (r"Inplace update to inference tensor", "inference-write"),
    (r"Inference tensors do not track|on inference tensor outside", "inference"),
    (r"Can't detach views in-place", "detach-view"),
    (r"has been modified by an inplace operation", "stale-saved"),
    (r"backward through the graph a second time", "graph-freed"),
    (r"detached in-place", "saved-detached"),
    (r"does not require grad and does not have a grad_fn", "root"),
    (r"grad can be implicitly created only", "implicit-gradient"),
    (r"Mismatch in shape: grad_output", "gradient"),
    (r"appears to not have been used in the graph", "unused-input"),
    (r"differentiated Tensors does not require grad", "grad-required"),
    (r"cannot register a hook on a tensor that doesn't require", "grad-required"),
    (r"can't retain_grad on", "grad-required"),
    (r"only change requires_grad flags of leaf", "requires-grad"),
    (r"only Tensors of floating point", "requires-grad"),
    (r"Only Tensors of floating point", "requires-grad"),
    (r"has changed the size of value", "hook"),
    (r"can't be cast to the desired output type", "result-type"),
    (r"Dimension out of range", "dimension"),
    (r"(?i)index .* (is )?out of (range|bounds)", "index"),
    (r"too many indices", "index"),
    (r"index out of range in self", "index"),
    (r"(Subtraction|Negation), the `-` operator, (with|on)", "dtype"),
    (r"only support floating point and complex dtypes", "dtype"),
    (r"is not supported for complex", "dtype"),
    (r"view size is not compatible", "shape"),
    (r"out of bounds for storage", "out-of-bounds"),
    (r"Boolean value of Tensor with (more than one|no) value", "ambiguous-truth"),
    (r"must match the (size|existing size)", "shape"),
    (r"shape '.*' is invalid for input of size", "shape"),
    (r"shapes cannot be multiplied", "shape"),
    (r"must be a matrix", "shape"),
    (r"must have same number of dimensions", "shape"),
    (r"element is out of DATA bounds", "index"),
    (r"output with shape .* doesn't match the broadcast shape", "shape"),
    (r"stack expects each tensor to be equal size", "shape"),
    (r"Sizes of tensors must match", "shape"),
    (r"cannot be broadcast to indexing result", "shape"),
    (r"exceeds dimension size", "shape"),
    (r"not implemented for", "dtype"),
    (r"could not infer output dtype", "dtype"),
    (r"cannot resize variables that require grad", "resize"),
    (r"resize storage that is not resizable", "resize"),
    (r"zero-dimensional tensor .*cannot be concatenated", "shape"),
    (r"forward gradient that has a different size", "shape"),
    (r"[Nn]ested forward mode|dual Tensor|forward grad(ient)? that|Dual level", "forward-mode"),
    (r"cannot resize variables that has a forward grad", "resize"),
    (r"Index put requires the source and destination dtypes match", "dtype"),
)
_PATTERNS = tuple((re.compile(pattern, re.DOTALL), kind) for pattern, kind in _BY_MESSAGE)

#: Words of messages that say less; the more special ones first.
_BY_WORD: tuple[tuple[str, str], ...] = (
    ("inference tensor outside InferenceMode", "inference"),
    ("does not require grad", "grad-required"),
    ("cannot resize variables", "resize"),
    ("out of range", "index"),
    ("out of bounds", "index"),
    ("too many indices", "index"),
    ("must match", "shape"),
    ("shape", "shape"),
    ("size", "shape"),
)


def told_kind(error: Exception) -> str | None:
    """The kind that a message of PyTorch says, or None where it has none of its own."""
    text = str(error)
    if isinstance(error, NotImplementedError):
        return "missing-method" if "implement the jvp function" in text else "not-supported"
    for pattern, found in _PATTERNS:
        if pattern.search(text):
            return found
    return None


def likely_kind(error: Exception) -> str | None:
    """The same, or what single words of the message suggest."""
    told = told_kind(error)
    if told is not None:
        return told
    text = str(error)
    return next((kind for word, kind in _BY_WORD if word in text), None)
