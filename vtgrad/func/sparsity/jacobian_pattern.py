"""Which entries of a Jacobian may differ from zero, and their colours."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from vtgrad.errors import ArgumentValueError, MissingPackageError
from vtgrad.func.sparsity.coloring import color_count, column_colors, transposed
from vtgrad.ops.rules.patterns.index_sets import IntArray
from vtgrad.ops.rules.patterns.value_read import ValueRead
from vtgrad.storage import making
from vtgrad.storage.arrays import Shape

if TYPE_CHECKING:
    from types import ModuleType

    from scipy.sparse import csr_array

__all__ = ["SparsityPattern", "scipy_sparse"]


class SparsityPattern:
    """The entries of a Jacobian that may differ from zero, as `sparsity_pattern` finds them.

    Rows are the elements of the outputs, columns those of the inputs, both row-major and one tensor
    after another.

    Attributes
    ----------
    shape : tuple of int
        The number of rows and of columns.
    indptr, indices : ndarray
        Row ``i`` has its entries in the columns ``indices[indptr[i] : indptr[i + 1]]``, which rise.
    input_shapes, output_shapes : tuple of tuple of int
        The shapes of the tensors.
    reads : tuple of ValueRead
        The values that the function read, and where: the pattern holds for inputs for which it
        reads the same. If there are none, it holds for all inputs.
    runs : int
        How often the function was called: more than once if the pattern was found by blocks.
    of_one_mode : str or None
        What the function did, and where, for which derivatives in forward mode and in reverse mode
        differ: a hook, or an operator under `no_grad`.

    Examples
    --------
    >>> pattern = vt.func.sparsity_pattern(lambda x: x[1:] * x[:-1], vt.ones(4))
    >>> pattern
    SparsityPattern(3 x 4, 6 entries, 2 forward or 2 reverse passes)
    >>> pattern.indices.reshape(3, 2)
    array([[0, 1],
           [1, 2],
           [2, 3]])
    """

    __slots__ = (
        "_column_colors",
        "_row_colors",
        "indices",
        "indptr",
        "input_shapes",
        "of_one_mode",
        "output_shapes",
        "reads",
        "runs",
        "shape",
    )

    shape: tuple[int, int]
    indptr: IntArray
    indices: IntArray
    input_shapes: tuple[Shape, ...]
    output_shapes: tuple[Shape, ...]
    reads: tuple[ValueRead, ...]
    runs: int
    of_one_mode: str | None
    _column_colors: IntArray | None
    _row_colors: IntArray | None

    def __init__(
        self,
        shape: tuple[int, int],
        indptr: IntArray,
        indices: IntArray,
        input_shapes: tuple[Shape, ...],
        output_shapes: tuple[Shape, ...],
        reads: tuple[ValueRead, ...],
        runs: int,
        of_one_mode: str | None = None,
    ) -> None:
        self.shape = shape
        self.indptr = indptr
        self.indices = indices
        self.input_shapes = input_shapes
        self.output_shapes = output_shapes
        self.reads = reads
        self.runs = runs
        self.of_one_mode = of_one_mode
        self._column_colors = None
        self._row_colors = None

    @property
    def nnz(self) -> int:
        """The number of entries.

        Returns
        -------
        int
            As SciPy's matrices call it.

        Examples
        --------
        >>> vt.func.sparsity_pattern(lambda x: x.sum(), vt.ones(4)).nnz
        4
        """
        return self.indices.size

    @property
    def column_colors(self) -> IntArray:
        """The colour of each column: one pass of forward mode computes all of a colour.

        Returns
        -------
        ndarray
            Numbers from 0; -1 for a column without entries. Columns of one colour have no row in
            common. Computed once.

        Examples
        --------
        >>> vt.func.sparsity_pattern(lambda x: x[1:] * x[:-1], vt.ones(4)).column_colors
        array([0, 1, 0, 1])
        """
        colors = self._column_colors
        if colors is None:
            colors = self._column_colors = column_colors(self.indptr, self.indices, self.shape[1])
        return colors

    @property
    def row_colors(self) -> IntArray:
        """The colour of each row: one pass of reverse mode computes all of a colour.

        Returns
        -------
        ndarray
            Numbers from 0; -1 for a row without entries. Rows of one colour have no column in
            common. Computed once.

        Examples
        --------
        >>> vt.func.sparsity_pattern(lambda x: x[1:] * x[:-1], vt.ones(4)).row_colors
        array([0, 1, 0])
        """
        colors = self._row_colors
        if colors is None:
            starts, rows, _ = transposed(self.indptr, self.indices, self.shape[1])
            colors = self._row_colors = column_colors(starts, rows, self.shape[0])
        return colors

    def passes(self, mode: Literal["forward", "reverse"]) -> int:
        """How many passes the matrix needs in a mode: the number of colours.

        Parameters
        ----------
        mode : {"forward", "reverse"}
            The mode.

        Returns
        -------
        int
            0 for a matrix without entries.

        Raises
        ------
        ArgumentValueError
            For another mode.

        Examples
        --------
        >>> pattern = vt.func.sparsity_pattern(lambda x: x.sum(), vt.ones(4))
        >>> pattern.passes("forward"), pattern.passes("reverse")
        (4, 1)
        """
        if mode == "forward":
            return color_count(self.column_colors)
        if mode == "reverse":
            return color_count(self.row_colors)
        raise ArgumentValueError(
            f"mode must be 'forward' or 'reverse', not {mode!r}", argument="mode"
        )

    def cheaper_mode(self) -> Literal["forward", "reverse"]:
        """The mode that needs fewer passes; forward mode if both need as many.

        Returns
        -------
        str
            ``"forward"`` or ``"reverse"``.

        Examples
        --------
        >>> vt.func.sparsity_pattern(lambda x: x.sum(), vt.ones(4)).cheaper_mode()
        'reverse'
        """
        # Rows have at least as many colours as the longest column has entries.
        longest = np.bincount(self.indices, minlength=1).max()
        forward = self.passes("forward")
        return "forward" if forward <= longest or forward <= self.passes("reverse") else "reverse"

    def matrix(self) -> csr_array:
        """The pattern as a matrix of SciPy.

        Returns
        -------
        scipy.sparse.csr_array
            True at the entries.

        Raises
        ------
        MissingPackageError
            If SciPy is not installed.

        Examples
        --------
        >>> vt.func.sparsity_pattern(lambda x: x.cumsum(0), vt.ones(3)).matrix().toarray()
        array([[ True, False, False],
               [ True,  True, False],
               [ True,  True,  True]])
        """
        content = making.ones(self.nnz, np.bool_), self.indices.copy(), self.indptr.copy()
        return cast("csr_array", scipy_sparse().csr_array(content, shape=self.shape))

    def __repr__(self) -> str:
        rows, columns = self.shape
        forward, reverse = self.passes("forward"), self.passes("reverse")
        read = f", {len(self.reads)} values read" if self.reads else ""
        return (
            f"SparsityPattern({rows} x {columns}, {self.nnz} entries, {forward} forward or "
            f"{reverse} reverse passes{read})"
        )


def scipy_sparse() -> ModuleType:
    """The module of SciPy.

    Raises
    ------
    MissingPackageError
        If it is not installed.
    """
    try:
        return importlib.import_module("scipy.sparse")
    except ImportError:
        raise MissingPackageError(
            "sparse matrices need SciPy: pip install scipy", package="scipy"
        ) from None
