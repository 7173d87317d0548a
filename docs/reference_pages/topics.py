"""How the topics of the reference are called, and in which order they stand."""

__all__ = ["GROUPS", "TITLES", "group_of"]

OPERATORS = "Operators"

# The order of the pages. A family of operators that is not listed comes last among them.
GROUPS: dict[str, list[str]] = {
    "Tensors": ["tensor", "creation", "dtypes", "shapes", "files", "constants"],
    OPERATORS: [
        "arithmetic",
        "elementary",
        "special",
        "comparison",
        "logic",
        "float_parts",
        "complex_numbers",
        "reductions",
        "statistics",
        "sampled_functions",
        "cumulative",
        "linalg",
        "fft",
        "signal",
        "interpolate",
        "layers",
        "sorting",
        "indexing",
        "joining",
        "structure",
        "views",
        "copying",
        "memory",
        "predicates",
        "python_functions",
        "random",
    ],
    "Gradients": [
        "autograd",
        "forward_ad",
        "functional",
        "func",
        "modes",
        "graph",
        "functions",
        "checkpoint",
        "writes",
        "profiler",
        "jit",
        "optim",
        "distributed",
    ],
    "Beside them": ["errors", "types", "overrides", "testing", "utils", "pytree", "viz"],
}

# The title of each page and what it is about, in a sentence.
TITLES: dict[str, tuple[str, str]] = {
    "tensor": ("Tensor", "Everything that a tensor has and can do."),
    "creation": ("Making tensors", "Tensors from data, from NumPy, or of one value."),
    "dtypes": ("Dtypes and layouts", "What elements are, and the rules by which dtypes meet."),
    "shapes": ("Shapes", "What a shape is, and which shapes fit each other."),
    "files": ("Files and text", "Tensors written to files, and read again; how they are printed."),
    "constants": ("Constants", "Numbers that programs need, and the index of a new dimension."),
    "arithmetic": ("Arithmetic", "Sums, products, quotients, powers and roots, by element."),
    "elementary": ("Elementary functions", "Exponentials, logarithms, angles and rounding."),
    "special": ("Special functions", "The gamma and error functions and their kin."),
    "comparison": ("Comparison and choice", "Which is greater, and what is chosen then."),
    "logic": ("Logic and bits", "Truth values, and the bits of integers."),
    "float_parts": ("Parts of numbers", "Sign, exponent and mantissa, and what is no number."),
    "complex_numbers": ("Complex numbers", "Real and imaginary parts, angles, conjugates."),
    "reductions": ("Reductions", "Sums, means, extremes, norms: dimensions that go away."),
    "statistics": ("Statistics", "Covariances, quantiles, histograms."),
    "sampled_functions": (
        "Sampled functions",
        "Functions that are known by samples: slopes, integrals, values between, convolutions.",
    ),
    "cumulative": ("Cumulative operators", "Running sums, products and extremes."),
    "linalg": ("Linear algebra", "Products, inverses, equations and decompositions of matrices."),
    "fft": ("Fourier transforms", "Transforms, their inverses, and the frequencies of elements."),
    "signal": ("Filters", "Filters with a recursion, convolutions and correlations."),
    "interpolate": ("Interpolation", "Functions that go through given points."),
    "layers": (
        "Layers",
        "`vtgrad.nn.functional`: convolutions, pooling, activations, losses, as functions.",
    ),
    "sorting": ("Sorting", "Elements in order, the largest of them, and those that are equal."),
    "indexing": ("Indexing", "Elements read and written by indices and masks."),
    "joining": ("Joining", "Several tensors made into one."),
    "structure": ("Structure", "Diagonals, triangles, repetition and reversal; copies."),
    "views": ("Views", "The same memory in another shape, order or part."),
    "copying": ("Copying", "Copies, casts, and elements that are overwritten."),
    "memory": ("Memory", "Tensors that grow, shrink, or look at other memory."),
    "predicates": ("Questions about tensors", "What is answered with yes, no or a number."),
    "python_functions": ("Python functions", "Elements replaced by what a Python function says."),
    "random": ("Random numbers", "Numbers drawn from distributions, and their generators."),
    "autograd": ("Differentiation", "`vtgrad.autograd`: gradients of programs."),
    "forward_ad": ("Forward mode", "`vtgrad.autograd.forward_ad`: tensors that carry tangents."),
    "functional": (
        "Jacobians and Hessians",
        "`vtgrad.autograd.functional`: derivatives of a function at a point.",
    ),
    "func": ("Transforms", "`vtgrad.func`: functions that compute derivatives of functions."),
    "modes": ("Grad modes", "Whether operators are recorded."),
    "graph": ("The graph", "`vtgrad.autograd.graph`: nodes, edges, hooks, versions."),
    "functions": ("Custom operators", "`vtgrad.autograd.function`: operators with a backward."),
    "checkpoint": ("Checkpoints", "`vtgrad.utils.checkpoint`: values computed again in backward."),
    "writes": ("Writes", "What `Tensor.writes` and errors tell about a write."),
    "profiler": ("Profiles", "`vtgrad.autograd.profiler` and `vtgrad.profiler`: times and memory."),
    "optim": ("Fitting", "`vtgrad.optim`: optimisers, schedules of rates, and SciPy's methods."),
    "jit": ("Recordings", "`vtgrad.jit`: programs that are recorded once, and then replayed."),
    "distributed": (
        "Many processes",
        "`vtgrad.distributed`: sums over shards of data, by processes and machines.",
    ),
    "errors": ("Errors", "`vtgrad.errors`: every exception that vtgrad raises on purpose."),
    "types": ("Several results", "`vtgrad.return_types`: the classes of results with names."),
    "overrides": ("Overrides", "`vtgrad.overrides`: classes and modes that take functions over."),
    "testing": (
        "Testing",
        "`vtgrad.testing.checking`: operators in random programs. `vtgrad.testing.strategies`: what"
        " stateful tests draw.",
    ),
    "utils": ("Utilities", "`vtgrad.utils`: what few programs need."),
    "pytree": ("Trees", "`vtgrad.utils.pytree`: values in containers."),
    "viz": ("Drawing", "`vtgrad.viz`: stories of programs, pictures of graphs, maps of memory."),
}


def group_of(topic: str) -> str:
    """The part of the reference that a topic stands in."""
    return next((group for group, topics in GROUPS.items() if topic in topics), OPERATORS)
