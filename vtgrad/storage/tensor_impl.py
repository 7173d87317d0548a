"""What a tensor is beneath its methods: memory, geometry, version and autograd metadata.

NOTE [ The array is the geometry ]

A `TensorImpl` keeps one ndarray, built once, on which every kernel works. Sizes are read off it,
and so are the strides as long as NumPy and PyTorch agree about them. They do not for tensors
without elements, where NumPy forgets strides and offset: there `_strides` states them. The
storage, the strides in elements and the version counter are made when somebody asks, because
most results of operators never need them; a missing counter reads as version 0, and a missing
storage means that nobody else looks at this buffer.

NOTE [ Made once ]

Two threads may use one tensor at once, and so may a program and its signal handler. What is made
on first use must still be made once: a value that was saved with a second counter would never learn
that it was overwritten. So the new object is made first, and then a second look and the store
follow each other without a call. Between these neither a handler nor, because threads take turns
where handlers run, another thread gets in. A lock would cost more, and no lock keeps out a handler
that its own thread runs.
"""

from __future__ import annotations

from typing import ClassVar

from ..errors import InferenceModeError
from .arrays import Array, NumpyDType, Shape
from .geometry import Geometry, contiguous_strides, is_contiguous
from .inference import counter_of_new
from .layout import PECULIAR, Layout, layout_of
from .memory_format import MemoryFormat, copy_strides
from .mode import switched
from .storage import Storage
from .version_counter import INFERENCE, VersionCounter, WrittenPart

__all__ = ["AutogradMetaInterface", "TensorImpl"]


class AutogradMetaInterface:
    """All that this layer knows of autograd metadata.

    A base class rather than a protocol, so that compiled code calls the method directly.
    """

    __slots__ = ()

    # Whether this is the metadata of a view.
    is_view: ClassVar[bool] = False

    def requires_grad(self) -> bool:
        """Whether gradients are to be computed for the tensor."""
        raise NotImplementedError

    def written_part(self, impl: TensorImpl) -> WrittenPart:
        """What a write to the view `impl`, whose metadata this is, leaves in its record."""
        raise NotImplementedError


class TensorImpl:
    """Memory, geometry, version and autograd metadata of one tensor.

    Attributes
    ----------
    array : numpy.ndarray
        The elements; always agrees with sizes, strides, offset and storage.
    byte_offset : int
        Distance of the first element from the start of the storage, in bytes.
    version_counter : VersionCounter or None
        Shared with all aliases; None means version 0 and no alias yet, `INFERENCE` that nobody
        counts, see Note [Inference tensors].
    autograd_meta : AutogradMetaInterface or None
        None means the same as metadata with default content.
    layout : Layout or None
        What `find_layout` has found; None if nobody has asked, see Note [One look at a layout].
    is_wrapped_number : bool
        A Python number that became a 0-d tensor: it promotes like the number.
    allow_tensor_metadata_change : bool
        False for what `x.data` and `detach` return: their geometry may change, but assigning
        storage to them would silently not reach `x`.
    """

    __slots__ = (
        "_storage",
        "_strides",
        "allow_tensor_metadata_change",
        "array",
        "autograd_meta",
        "byte_offset",
        "is_wrapped_number",
        "layout",
        "version_counter",
    )

    array: Array
    byte_offset: int
    version_counter: VersionCounter | None
    autograd_meta: AutogradMetaInterface | None
    is_wrapped_number: bool
    layout: Layout | None
    allow_tensor_metadata_change: bool
    _storage: Storage | None
    _strides: Shape | None

    def __init__(self, array: Array) -> None:
        self.array = array
        self.byte_offset = 0
        self.version_counter = None
        self.autograd_meta = None
        self.is_wrapped_number = False
        self.allow_tensor_metadata_change = True
        self.layout = None
        self._storage = None
        self._strides = None
        if switched.inference:
            self.version_counter = counter_of_new()

    def alias(self, array: Array, byte_offset: int, strides: Shape | None = None) -> TensorImpl:
        """A new impl on the same storage and version counter.

        Parameters
        ----------
        array : numpy.ndarray
            The elements that the alias looks at, on this impl's buffer.
        byte_offset : int
            Where they start in the storage.
        strides : tuple of int, optional
            Strides in elements, where they cannot be read off `array`.
        """
        counter = self.version_counter
        if counter is None:
            counter = self.own_counter()
        storage = self._storage
        if storage is None:
            storage = self.own_storage()
        impl = TensorImpl(array)
        impl.byte_offset = byte_offset
        impl._storage = storage
        impl._strides = strides
        impl.version_counter = counter
        return impl

    def find_layout(self) -> Layout:
        """Look the layout up; callers ask `layout` first."""
        layout = self.layout = layout_of(self.array)
        return layout

    @property
    def storage(self) -> Storage:
        """The buffer; made on first use."""
        storage = self._storage
        return self.own_storage() if storage is None else storage

    @property
    def counter(self) -> VersionCounter:
        """The version counter; made on first use."""
        counter = self.version_counter
        return self.own_counter() if counter is None else counter

    def own_counter(self) -> VersionCounter:
        """The version counter, `INFERENCE` too, made on first use; callers look before they call.

        See Note [Made once].
        """
        fresh = VersionCounter()
        counter = self.version_counter
        if counter is None:
            counter = self.version_counter = fresh
        return counter

    def own_storage(self) -> Storage:
        """The buffer, made on first use; callers look before they call. See Note [Made once]."""
        fresh = Storage(self.array)
        storage = self._storage
        if storage is None:
            storage = self._storage = fresh
        return storage

    @property
    def version(self) -> int:
        """Number of writes to the buffer, through any alias.

        Raises
        ------
        InferenceModeError
            For an inference tensor.
        """
        counter = self.version_counter
        if counter is None:
            return 0
        if counter is INFERENCE:
            raise InferenceModeError(
                "an inference tensor has no version, because nobody counts its writes; clone it "
                "outside of inference mode to get a normal tensor"
            )
        return counter.value

    @property
    def is_inference(self) -> bool:
        """Whether this was made in inference mode, see Note [Inference tensors]."""
        return self.version_counter is INFERENCE

    @property
    def sizes(self) -> Shape:
        """Length of each dimension."""
        sizes: Shape = self.array.shape
        return sizes

    @property
    def strides(self) -> Shape:
        """Step between neighbours along each dimension, in elements."""
        strides = self._strides
        if strides is None:
            array = self.array
            if array.size:
                item = array.itemsize
                strides = tuple([s // item for s in array.strides])
            else:
                strides = contiguous_strides(array.shape)
            self._strides = strides
        return strides

    @property
    def storage_offset(self) -> int:
        """Distance of the first element from the start of the storage, in elements."""
        return self.byte_offset // self.array.itemsize

    @property
    def geometry(self) -> Geometry:
        """Sizes, strides and storage offset, in elements."""
        array = self.array
        return array.shape, self.strides, self.byte_offset // array.itemsize

    @property
    def dtype(self) -> NumpyDType:
        """Element type, as NumPy names it."""
        return self.array.dtype

    @property
    def numel(self) -> int:
        """Number of elements."""
        return self.array.size

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        layout = self.layout
        if layout is None:
            layout = self.find_layout()
        return layout is not PECULIAR or is_contiguous(self.array.shape, self.strides)

    def state_strides_in(self, memory_format: MemoryFormat | None, model: TensorImpl) -> None:
        """Tell the strides of a copy of `model`, in a format, that has no elements."""
        self._strides = copy_strides(model.sizes, model.strides, memory_format)

    def set_geometry_of(self, other: TensorImpl) -> None:
        """Look at the same elements as `other` from now on; versions and metadata stay."""
        self.array = other.array
        self.byte_offset = other.byte_offset
        self.layout = other.layout
        self._storage = other._storage
        self._strides = other._strides
