"""Where the two libraries differ on purpose, each with its reason, and nothing else.

An entry ends the program at that step (the states are no longer comparable) without a failure.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.oracle import dual_situations as dual
from tests.oracle import graph_situations as graph
from tests.oracle import inference_situations as inference
from tests.oracle import lazy_situations as lazy
from tests.oracle import memory_situations as memory
from tests.oracle import number_situations as number
from tests.oracle.situation import Situation


@dataclass(frozen=True)
class Entry:
    """One intended difference.

    Attributes
    ----------
    reason : str
        Why it is intended.
    applies : callable
        Whether a situation is this one.
    cascades : bool
        Whether other tensors' graphs, which are written down with references to the one that
        differs, differ with it.
    """

    reason: str
    applies: Callable[[Situation], bool]
    cascades: bool = False


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "PyTorch fails one of its own assertions, which is no answer to compare with.",
        graph.torch_broke,
        cascades=True,
    ),
    Entry(
        "PyTorch has half precision complex numbers, but few operators for them; vtgrad has none"
        " and computes in complex64.",
        number.half_complex,
    ),
    Entry(
        "PyTorch's backward fails with a shape or dtype of its own making: scatter and scatter_add"
        " with a source larger than the index, where() of a complex and a real tensor, addr of"
        " several dtypes, i0 in half precision; or it does not record the operator, as softmax of"
        " complex numbers. vtgrad's gradients are right.",
        graph.torch_cannot_differentiate,
    ),
    Entry(
        "var and std over dim=() normalise by the whole count forward, but PyTorch's backward"
        " divides by zero; vtgrad's gradient belongs to the value.",
        number.variance_of_nothing,
    ),
    Entry(
        "isfinite of complex numbers, isclose, deepcopy, copy and unpickling build their result in"
        " steps that PyTorch counts as writes; a fresh tensor of vtgrad is at version 0.",
        memory.version_of_fresh,
    ),
    Entry(
        "A recorded write to a view (by as_strided) that reaches outside of its base: PyTorch's"
        " gradient of the base misses what lies outside; vtgrad refuses.",
        memory.outside_of_base,
    ),
    Entry(
        "Where source and destination share memory in a way that PyTorch's check finds too hard,"
        " PyTorch may read what it has just written; vtgrad reads first.",
        memory.reads_what_it_wrote,
        cascades=True,
    ),
    Entry(
        "After set_ or an assignment to .data a view and its base look at different memory, but"
        " PyTorch goes on passing gradients between them; vtgrad refuses.",
        memory.different_memory,
        cascades=True,
    ),
    Entry(
        "as_strided of a view that shows memory beyond the view: PyTorch's gradient misses what is"
        " found there; vtgrad's node leads to the base too.",
        graph.shown_beyond_a_view,
        cascades=True,
    ),
    Entry(
        "What is assigned to a part of its own base is copied first; if it is a view that was made"
        " without recording, the copy is a constant. PyTorch records a node that leads nowhere.",
        graph.view_without_a_producer,
    ),
    Entry(
        "PyTorch does not exchange a result that a node has saved; in vtgrad nodes do not hold"
        " their own results, so that it can be exchanged.",
        memory.swap_of_a_saved_result,
    ),
    Entry(
        "PyTorch finds out that an operator has no kernel for a dtype when it runs the kernel,"
        " which it does not for tensors without elements; vtgrad refuses by the dtype alone.",
        number.nothing_to_compute,
    ),
    Entry(
        "index_select of one column with an index that does not exist is a RuntimeError in PyTorch,"
        " and otherwise an IndexError, as in vtgrad always.",
        number.index_beyond_one_column,
    ),
    Entry(
        "PyTorch does not look at index arrays when the result has no elements; vtgrad refuses"
        " positions that do not exist.",
        memory.nothing_is_read,
    ),
    Entry(
        "A retained gradient stays with the value from before an in-place metadata operator, in its"
        " shape, in both. A write after that moves it to the newest value in vtgrad, and fails an"
        " internal assertion in PyTorch.",
        graph.retained_before_metadata,
    ),
    Entry(
        "A leaf that changes its shape or order while nothing is recorded keeps its AccumulateGrad,"
        " with the old shape, in PyTorch; in vtgrad it gets one that fits.",
        graph.leaf_after_metadata,
        cascades=True,
    ),
    Entry(
        "A gradient that a leaf does not fit any more, because its shape or order has changed since"
        " the graph was recorded, is refused; PyTorch stores it, or fails amid the pass.",
        graph.gradient_for_a_changed_leaf,
        cascades=True,
    ),
    Entry(
        "A result that changes its shape while nothing is recorded: where another operand is larger"
        " PyTorch sums the gradient of what was broadcast to the shape from before; vtgrad sums to"
        " the new shape, and refuses what does not fit then.",
        graph.gradient_for_a_changed_result,
    ),
    Entry(
        "A hook that is registered after an in-place metadata operator joins earlier hooks on the"
        " older value in PyTorch; in vtgrad it belongs to the newest, as after any other write.",
        graph.hook_around_metadata,
    ),
    Entry(
        "A retained gradient of a view goes on counting what arrives through its former producer"
        " while its base is written only beside it, by a name that is detached, or unrecorded;"
        " PyTorch forgets that when it builds the view's producer again.",
        graph.retained_of_an_intact_view,
    ),
    Entry(
        "isfinite, isinf and argsort are composed of differentiable steps in PyTorch and so ask a"
        " view for its producer, which may be lost; their result needs none.",
        graph.composed_test,
    ),
    Entry(
        "PyTorch does not record logical_and_ and its sisters, nor check for leaves, so that the"
        " gradient passes as if nothing had been written; in vtgrad it is zero.",
        graph.unrecorded_logical,
        cascades=True,
    ),
    Entry(
        "Integers and booleans never require grad in vtgrad; in PyTorch they do after an in-place"
        " operator without a rule for it, such as fill_ or eq_, met an operand that does.",
        graph.integers_with_gradient,
        cascades=True,
    ),
    Entry(
        "Several saved values of one graph are lost in different ways, or an input is not used"
        " besides: which is named first follows from the order in which each library looks.",
        graph.several_saves_lost,
    ),
    Entry(
        "PyTorch computes complex 0 ** 0, and sums with infinite complex numbers, in parts that"
        " give NaN; NumPy does not.",
        number.complex_infinities,
    ),
    Entry(
        "A number may stand for a tensor in vtgrad, where an operator computes element by element.",
        number.number_for_a_tensor,
    ),
    Entry(
        "Gradients of complex asin, acos, asinh and acosh on their branch cuts are those of the"
        " other side in PyTorch.",
        number.arcs_on_their_cuts,
    ),
    Entry(
        "The gradient of x ** False at zero is NaN in PyTorch, and zero for x ** 0.",
        number.power_of_false,
    ),
    Entry(
        "Two leaves may share one buffer as their .grad in PyTorch; in vtgrad they never do.",
        memory.aliased_gradients,
    ),
    Entry(
        "A comparison or other operator without derivative with an out= that requires grad: PyTorch"
        " writes and keeps the old graph, so the gradient is wrong; vtgrad refuses.",
        graph.out_is_recorded,
    ),
    Entry(
        "A call with two faults, of shapes, dtypes or shared memory: neither library"
        " promises which is named first. (The calls of the menu have one fault each and are held to"
        " its kind.)",
        graph.shape_and_dtype,
    ),
    Entry(
        "A write to a leaf of a view that is lost, since its base was written: two faults, of which"
        " each library names another.",
        graph.leaf_and_lost_view,
    ),
    Entry(
        "The producer of floor_divide cannot be run in either library; which constants among its"
        " inputs it lists differs.",
        graph.unfollowable,
        cascades=True,
    ),
    Entry(
        "A view made before its base came to require grad is a leaf to PyTorch's check of writes"
        " until its grad_fn is read, and none afterwards; vtgrad always asks the base.",
        graph.view_taken_for_a_leaf,
    ),
    Entry(
        "The second derivative of atan2 at the origin, and of sinc, copysign and logit where they"
        " are special: NaN in PyTorch, where the first one was masked; right in vtgrad. So is the"
        " gradient of nan_to_num at NaN, zero, where an infinite one arrives.",
        number.second_derivative_at_the_origin,
    ),
    Entry(
        "The second derivative of 0 ** y with respect to y: NaN in PyTorch; 0 in vtgrad where the"
        " power is 0 all around.",
        number.second_derivative_of_a_power_of_zero,
    ),
    Entry(
        "acosh_, asinh_ and atanh_ have a producer without a derivative in PyTorch; in vtgrad they"
        " have those of the functions.",
        graph.inverse_hyperbolic_in_place,
        cascades=True,
    ),
    Entry(
        "PyTorch's polygamma, the derivative of digamma, has eight digits and is finite at poles;"
        " it and the derivative of i0 are not what they should be at infinity and nan.",
        number.inexact_special_function,
    ),
    Entry(
        "Where an operand is infinite or NaN PyTorch's gradients of sums of exponentials, of"
        " products and the second one of acosh are NaN; in vtgrad that of a product is the product"
        " of the other factors, and a share is its limit.",
        number.nan_by_infinity,
    ),
    Entry(
        "PyTorch's shares in a sum of exponentials are exponentials of differences of rounded"
        " numbers, and do not add up to 1; vtgrad's do. In half precision they differ in the"
        " third digit.",
        number.shares_that_do_not_add_up,
    ),
    Entry(
        "The gradient of logcumsumexp needs no result in vtgrad: it may be overwritten.",
        graph.overwritten_running_sum,
    ),
    Entry(
        "The second gradient of logcumsumexp is wrong in PyTorch where a first one is zero, whose"
        " logarithm it takes; vtgrad's is that of finite differences.",
        number.second_gradient_of_running_sums,
    ),
    Entry(
        "PyTorch computes the shares in a sum of exponentials from its result; vtgrad computes them"
        " from the input. So a second gradient by the result is another one; those by the input,"
        " through all ways, are equal.",
        number.second_gradient_by_a_sum,
    ),
    Entry(
        "The gradient of cumprod stops at a second zero in PyTorch; vtgrad's multiplies by what"
        " comes behind it, which gives NaN where that is infinite or NaN.",
        number.behind_two_zeros,
    ),
    Entry(
        "PyTorch's kron looks at its factors through views that it hides, so that it fails for some"
        " strides and forgets the versions; vtgrad's are ordinary views.",
        graph.hidden_views_of_kron,
        cascades=True,
    ),
    Entry(
        "The gradient of ldexp with negative integers is computed with integers in PyTorch, and"
        " zero; in vtgrad it is right.",
        number.integer_power_of_two,
        cascades=True,
    ),
    Entry(
        "split_copy, split_with_sizes_copy and unbind_copy return what they stored in out=; in"
        " PyTorch they return None.",
        memory.out_of_copies_is_returned,
    ),
    Entry(
        "PyTorch's mm and sum write their result while they still read, when out= shares memory"
        " with an input, and may give wrong numbers; vtgrad computes first, or refuses.",
        memory.out_over_input,
    ),
    Entry(
        "PyTorch refuses running sums and products in place of bools, but not of 0-d or empty ones,"
        " where it returns before it looks at the dtype.",
        number.running_bool,
    ),
    Entry(
        "PyTorch replays a dtype-crossing, conjugate or negative view as it was made, and forgets"
        " what an in-place metadata operator did to it since, or to its base: its gradient has"
        " another shape or order. vtgrad takes that for one more step. So does PyTorch fail itself"
        " where such an operator was not recorded: the gradient has the shape from before.",
        lazy.metadata_of_replayed,
        cascades=True,
    ),
    Entry(
        "PyTorch reads lazy conjugates by a copy, except in copy_, which refuses them where they"
        " share memory with what is written; vtgrad always copies.",
        lazy.copied_from_lazy,
    ),
    Entry(
        "x.view(dtype) of a normal tensor is an inference tensor in PyTorch's inference mode, so"
        " that x does not notice what is written to it; in vtgrad they share a version.",
        inference.dtype_view_in_inference_mode,
    ),
    Entry(
        "What is stored by a mask from a view that was made in inference mode has no gradient;"
        " PyTorch records how it was brought into shape, vtgrad that it leads nowhere. So is a"
        " gradient recorded in PyTorch if it depends on such a view.",
        inference.edge_of_a_view_made_inside,
    ),
    Entry(
        "ldexp_ is a product with a power that PyTorch computes first, so that the exponents may"
        " lie in what is written; vtgrad refuses that, as for every other operator.",
        memory.ldexp_over_itself,
    ),
    Entry(
        "addmv of one number and a matrix without rows: the result has the number's shape, or its"
        " memory, in PyTorch, but for no such matrix otherwise.",
        memory.empty_matrix_times_vector,
    ),
    Entry(
        "addmv of one number, and of a matrix and a vector that do not fit: PyTorch looks for a"
        " dimension of the number first.",
        memory.addmv_of_a_number,
    ),
    Entry(
        "A tensor that is given a storage by set_ keeps its strides in PyTorch if the number of"
        " elements stays, even if they lead out of the memory.",
        memory.strides_beyond_the_memory,
    ),
    Entry(
        "Which sign a NaN bears that an invalid operation gave depends on the processor and on the"
        " instruction that computed it: copysign and signbit show it.",
        number.sign_of_nan,
    ),
    Entry(
        "PyTorch has no slices with a negative step; vtgrad has NumPy's.",
        memory.walked_backwards,
    ),
    Entry(
        "Gradients may be lazy conjugates in PyTorch; vtgrad's hold their values.",
        lazy.gradient_is_resolved,
    ),
    Entry(
        "The product of two lazy conjugates is one in PyTorch; results of vtgrad hold values.",
        lazy.product_is_resolved,
    ),
    Entry(
        "What a custom Function's forward has written before it is refused (to save an inference"
        " tensor, say) stays written: it was the user's own write. What it declared dirty counts"
        " as written, and has neither a gradient nor a tangent afterwards.",
        graph.written_by_forward,
    ),
    Entry(
        "fill_ and zero_ store one value, squeeze_ and its kin none, and an indexed write copies of"
        " values, also where elements share memory; PyTorch refuses that only where the tensor is"
        " lazily negative or conjugate.",
        lazy.lazy_and_repeated,
    ),
    Entry(
        "A Function that writes to the base of a view made without recording, and saves the view:"
        " PyTorch refuses the view when backward unpacks it, vtgrad takes its value.",
        graph.function_saved_a_lost_view,
    ),
    Entry(
        "PyTorch finds out that a saved value was detached in place only if an operator saved it,"
        " not if a custom Function did.",
        graph.detached_after_a_function_saved_it,
    ),
    Entry(
        "copy_ of the same memory under another dtype: PyTorch takes that for a copy onto itself,"
        " element by element, and reads what it has written.",
        memory.copied_from_another_dtype,
    ),
    Entry(
        "copy_ of a row-major lazily negative float32 to float16 copies what lies in memory in"
        " PyTorch, without the sign.",
        lazy.sign_lost_by_half,
    ),
    Entry(
        "squeeze_ of a lazy conjugate or negative view, and set_ to a storage, resolve it and store"
        " the values row-major where the view starts in PyTorch, over other elements of its base.",
        lazy.stored_over_others,
    ),
    Entry(
        "A negative view of bools, which have no negatives, can be made in PyTorch, but not read."
        " Nor can a negative view be cast to bool, because PyTorch takes the negative afterwards.",
        lazy.negative_of_bools,
    ),
    Entry(
        "digamma beside its poles: PyTorch loses up to half of the digits, vtgrad none.",
        number.digamma_beside_a_pole,
    ),
    Entry(
        "What set_ lets memory grow by is zero in vtgrad, and whatever was there in PyTorch.",
        memory.memory_that_grew,
    ),
    Entry(
        "In inference mode PyTorch resizes results, too, whose producers cannot take the gradient"
        " of their new shape; vtgrad refuses all but leaves.",
        inference.result_resized_in_inference_mode,
    ),
    Entry(
        "Of two views that may not be used any more either library names another.",
        graph.two_views_are_refused,
    ),
    Entry(
        "isreal takes a view of the imaginary part in PyTorch, and a loop over a tensor views of"
        " its rows, which a stale view refuses; in vtgrad isreal reads values, and there is no view"
        " without rows.",
        graph.asks_a_stale_view_for_a_part,
    ),
    Entry(
        "A lazy view of a tensor that set_ gave another shape, on the same memory: the producer"
        " that PyTorch makes for the view gives the base a gradient of the former shape.",
        graph.base_of_another_shape,
        cascades=True,
    ),
    Entry(
        "fill_ with a view, made under no_grad, of the memory that is filled: the result has"
        " nothing to send a gradient to. It requires grad in PyTorch, and does not in vtgrad.",
        graph.filled_from_its_own_memory,
        cascades=True,
    ),
    Entry(
        "floor_divide_ on a view: in PyTorch the divisor is not behind the base, so that its"
        " gradient is none; vtgrad refuses it, as for floor_divide_ on any other tensor.",
        graph.operand_of_a_view_forgotten,
    ),
    Entry(
        "A complex view of a tensor that was transposed in place since: PyTorch cannot make the"
        " view again; vtgrad keeps what the view is of.",
        graph.complex_view_of_another_geometry,
    ),
    Entry(
        "A second derivative by a tensor without elements, through a write that wrote none, is"
        " empty in PyTorch and None in vtgrad, which has not recorded the nothing. A retained"
        " gradient without elements may be another object, and one without elements, or to which"
        " nothing was added, be recorded where PyTorch's formula returns what it got.",
        graph.gradient_of_nothing,
    ),
    Entry(
        "atleast_1d and its kin resolve lazy tensors in PyTorch's inference mode, not elsewhere.",
        lazy.resolved_by_inference_mode,
    ),
    Entry(
        "PyTorch cannot be asked about a view any more whose base was detached in place and then"
        " given another shape: it fails to make the view again.",
        graph.cannot_be_replayed,
    ),
    Entry(
        "deepcopy of a lazy conjugate is a plain copy in PyTorch, which shares no memory with"
        " copies made in the same call; vtgrad keeps both.",
        lazy.copied_deeply,
    ),
    Entry(
        "The strides of a fresh tensor without elements address nothing; PyTorch's differ from"
        " operator to operator.",
        memory.stride_of_nothing,
    ),
    Entry(
        "PyTorch writes through views that overlap themselves (unfold, as_strided, and fill_ of an"
        " expanded tensor) and returns a wrong gradient; vtgrad refuses every such write.",
        memory.self_overlap,
    ),
    Entry(
        "detach() and .data of an inference tensor claim to be inference tensors in PyTorch, but"
        " have a version and may be written outside of the mode, which changes the other too.",
        inference.written_by_another_name,
    ),
    Entry(
        "Of an inference tensor that requires grad PyTorch records what has another operand that"
        " is a normal tensor, and silently loses the gradient of everything else; vtgrad records"
        " all but views, which it refuses.",
        inference.requires_grad,
        cascades=True,
    ),
    Entry(
        "PyTorch builds some results of inference tensors in steps that show: they are views, or"
        " count as written; a fresh tensor of vtgrad is no view and at version 0.",
        inference.built_in_steps,
    ),
    Entry(
        "That an inference tensor may not be written is the first that vtgrad looks at, and the"
        " last that PyTorch does, after it has written.",
        inference.refused_first,
    ),
    Entry(
        "PyTorch cannot run a checkpoint again while backward runs in inference mode, because the"
        " function then makes inference tensors; vtgrad runs it outside of the mode.",
        inference.computed_again_in_inference_mode,
        cascades=True,
    ),
    Entry(
        "detach_() in inference mode does nothing in PyTorch, and says nothing either.",
        inference.undetached,
        cascades=True,
    ),
    Entry(
        "x.data = y, where one of the two is an inference tensor: in PyTorch x is one afterwards"
        " if y is, but keeps its version or has none as before, and so may be written or not even"
        " printed; in vtgrad x stays what it was.",
        inference.data_of_another_kind,
    ),
    Entry(
        "A write that reads what it overwrites, as d.mul_(d), or into what is the tangent of an"
        " operand: PyTorch computes the tangent after the write; vtgrad before.",
        dual.reads_what_it_overwrites,
    ),
    Entry(
        "The tangent of a write that reads the new value, as that of exp_, or the old one: vtgrad"
        " saves a copy, so that no write makes the tangent's graph stale.",
        dual.tangent_that_saved_a_copy,
    ),
    Entry(
        "PyTorch hands the tangent of an operand on to a result (frac, fmod and remainder by a"
        " number, copy_ of one number, copies of views), and keeps a tangent on the memory of its"
        " own tensor; vtgrad copies.",
        dual.shared_tangent,
    ),
    Entry(
        "A tangent may have another dtype than its tensor in PyTorch, never in vtgrad.",
        dual.of_another_dtype,
    ),
    Entry(
        "copysign of a tensor without tangent and a dual: the derivative by the sign is zero, for"
        " PyTorch it is none. scatter_reduce by products drops tangents in PyTorch.",
        dual.missing_in_pytorch,
    ),
    Entry(
        "A tangent may require grad in PyTorch though it depends on nothing that does.",
        dual.recorded_for_nothing,
    ),
    Entry(
        "A tangent that is an inference tensor is not written outside of inference mode, nor saved,"
        " in vtgrad; PyTorch's writes to tangents are not checked.",
        dual.tangent_made_in_inference_mode,
    ),
    Entry(
        "A tangent keeps its geometry in PyTorch if that of the tensor is changed in place while"
        " forward mode is off, and may get that of a view which is changed.",
        dual.geometry_without_forward,
    ),
    Entry(
        "The copy of a value that is overwritten with forward mode off has the value's tangent in"
        " vtgrad, and so has the gradient; none in PyTorch.",
        dual.recorded_without_forward,
    ),
    Entry(
        "Tangents of infinite values, or at poles, are infinite or NaN; which of the two follows"
        " from the order of the arithmetic, and from factors that are zero.",
        dual.not_finite,
    ),
    Entry(
        "What is computed from a dual of an inference tensor has a tangent in vtgrad only.",
        dual.of_an_inference_tensor,
    ),
    Entry(
        "A jvp that computes with a view that may not be used any more is refused in vtgrad.",
        dual.jvp_reads_a_lost_view,
    ),
    Entry(
        "make_dual in inference mode makes a view without tangent in PyTorch, whatever the shapes"
        " are; in vtgrad it makes a dual.",
        dual.dual_made_in_inference_mode,
    ),
    Entry(
        "PyTorch has no formula for index_reduce, asinh_ and some others, and fails amid a few.",
        dual.formula_that_pytorch_lacks,
    ),
    Entry(
        "resize_ of a dual is a RuntimeError in PyTorch that comes after another check, and set_ is"
        " allowed now and then; both are NotSupportedError in vtgrad. So is as_strided_ beyond a"
        " view that requires grad.",
        dual.resized,
    ),
    Entry(
        "Of two reasons to refuse a call with a dual either library names another: vtgrad computes"
        " the tangent, and so finds a misfit, before it looks at what is written.",
        dual.another_fault_is_named,
    ),
    Entry(
        "After detach_ of a dual, views of it that were not read before have no tangent in vtgrad.",
        dual.view_of_a_detached_base,
    ),
    Entry(
        "A view of a tangent that is recorded: PyTorch makes it in the mode of the first reader, or"
        " takes it for a leaf, and then refuses to write the view; vtgrad goes by the values.",
        dual.view_of_a_recorded_tangent,
    ),
    Entry(
        "A new tangent may have been built in steps that count as writes, in either library; one"
        " of no elements may begin anywhere, and one that would be its own tensor is a copy in"
        " vtgrad.",
        dual.version_of_a_tangent,
    ),
    Entry(
        "At kinks, ties and NaNs forward mode has the derivative of reverse mode in vtgrad; in"
        " PyTorch each mode has a rule of its own.",
        dual.at_a_kink,
    ),
    Entry(
        "PyTorch's derivatives of digamma, lgamma, i0 and the like have few digits, and are finite"
        " at poles.",
        dual.inexact_derivative,
    ),
    Entry(
        "A Function that writes an argument under no_grad gives another tensor as its result if the"
        " argument requires grad: it has the argument's tangent in vtgrad, which is written.",
        dual.result_of_a_function_under_no_grad,
    ),
)


def excuse(situation: Situation) -> Entry | None:
    """The entry that says why this difference is intended, or None."""
    for entry in ENTRIES:
        if entry.applies(situation):
            return entry
    return None
