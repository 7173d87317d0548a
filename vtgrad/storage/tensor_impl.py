# Compiled by mypyc.
"""Memory, geometry, version and autograd metadata of a tensor.

Note [The array is the geometry]

A `TensorImpl` keeps one ndarray, built once, on which every kernel works. Sizes are read from it,
and so are the strides where NumPy and PyTorch agree on them. They disagree for tensors without
elements, where NumPy keeps neither strides nor offset: there `_strides` holds them. The storage,
the strides in elements and the version counter are made on first use, because most results of
operators never need them; a missing counter reads as version 0, and a missing storage means that no
other tensor shares this buffer.

Note [Made once]

Two threads may use one tensor at once, and so may a program and its signal handler. An object made
on first use must still be made once: a value that was saved with a second counter would miss the
writes that the first one counts. So the new object is made first; then a second check and the store
follow each other without a call. Between these two no signal handler runs and, because threads
switch at the same points, no other thread either. A lock would cost more, and no lock excludes a
handler that runs on the thread that holds it. Without the interpreter's global lock other threads
run there too: see Note [Without the global lock].
"""

from __future__ import annotations

from typing import ClassVar

from vtgrad.errors import BatchedTensorError, InferenceModeError
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.device import CPU, Device
from vtgrad.storage.extra_meta import NOTHING, ExtraMeta, Names, extra_of_lane
from vtgrad.storage.geometry import Geometry, contiguous_strides, is_contiguous
from vtgrad.storage.inference_tensors import counter_of_new, extra_of_new
from vtgrad.storage.key_set import keys
from vtgrad.storage.layout import PECULIAR, Layout, layout_of
from vtgrad.storage.memory_format import MemoryFormat, copy_strides
from vtgrad.storage.mode import switched
from vtgrad.storage.native import mypyc_attr
from vtgrad.storage.storage import Storage
from vtgrad.storage.thread_state import FREE_THREADED
from vtgrad.storage.version_counter import INFERENCE, VersionCounter, WrittenPart
from vtgrad.storage.write_log import SAVED, WriteLog, log_lock

__all__ = ["AutogradMetaInterface", "SavedInterface", "TensorImpl"]


@mypyc_attr(allow_interpreted_subclasses=True)
class AutogradMetaInterface:
    """The part of autograd metadata that this layer uses.

    A base class rather than a protocol, so that compiled code calls the method directly.
    """

    __slots__ = ()

    # Whether this is the metadata of a view.
    is_view: ClassVar[bool] = False

    def needs_gradient(self) -> bool:
        """Whether gradients are to be computed for the tensor; PyTorch's `requires_grad`."""
        raise NotImplementedError

    def was_produced(self) -> bool:
        """Whether a producer was ever recorded, stale or not; never raises."""
        raise NotImplementedError

    def fw_level(self, limit: int) -> int:
        """The highest open level below a limit at which there is a tangent; 0 for none."""
        raise NotImplementedError

    def written_part(self, impl: TensorImpl) -> WrittenPart:
        """What a write through the view `impl`, which owns this metadata, records of the view."""
        raise NotImplementedError


class SavedInterface:
    """A value saved for backward, into which this layer does not look."""

    __slots__ = ()


class TensorImpl:
    """Memory, geometry, version and autograd metadata of one tensor.

    Attributes
    ----------
    array : numpy.ndarray
        The elements; always consistent with sizes, strides, offset and storage.
    byte_offset : int
        Distance of the first element from the start of the storage, in bytes.
    version_counter : VersionCounter or None
        Shared with all aliases; None means version 0 and no alias yet, `INFERENCE` that writes are
        not counted, see Note [Inference tensors].
    autograd_meta : AutogradMetaInterface or None
        None means the same as metadata with default content.
    layout : Layout or None
        The result of `find_layout`; None before the first call, see Note [One look at a layout].
    saved : SavedInterface or None
        What the last operator saved of the tensor, for the next one that saves the same value; see
        Note [Values that are saved often].
    extra_meta : ExtraMeta or None
        What few tensors have; set by `set_extra_meta` only, see Note [Keys].
    """

    __slots__ = (
        "_storage",
        "_strides",
        "array",
        "autograd_meta",
        "byte_offset",
        "extra_meta",
        "layout",
        "saved",
        "version_counter",
    )

    array: Array
    byte_offset: int
    version_counter: VersionCounter | None
    autograd_meta: AutogradMetaInterface | None
    layout: Layout | None
    saved: SavedInterface | None
    extra_meta: ExtraMeta | None
    _storage: Storage | None
    _strides: Shape | None

    def __init__(
        self,
        array: Array,
        byte_offset: int = 0,
        version_counter: VersionCounter | None = None,
        storage: Storage | None = None,
        strides: Shape | None = None,
    ) -> None:
        self.array = array
        self.byte_offset = byte_offset
        self.version_counter = version_counter
        self.autograd_meta = None
        self.layout = None
        self.saved = None
        self.extra_meta = None
        self._storage = storage
        self._strides = strides
        if switched.inference:
            if version_counter is None:
                self.version_counter = counter_of_new()
            extra = extra_of_new()
            if extra is not None:
                self.extra_meta = extra
                self.layout = PECULIAR
                if storage is None:
                    # What is saved keeps the storage, which has the device.
                    self.own_storage()

    def alias(self, array: Array, byte_offset: int, strides: Shape | None = None) -> TensorImpl:
        """A new impl on the same storage and version counter.

        Parameters
        ----------
        array : numpy.ndarray
            The elements of the alias, on this impl's buffer.
        byte_offset : int
            Offset of the first element in the storage.
        strides : tuple of int, optional
            Strides in elements, where `array` does not have them.
        """
        counter = self.version_counter
        if counter is None:
            counter = self.own_counter()
        storage = self._storage
        if storage is None:
            storage = self.own_storage()
        impl = TensorImpl(array, byte_offset, counter, storage, strides)
        extra = self.extra_meta
        if extra is not None:
            if extra.device is not None:
                impl.set_extra_meta(extra_of_lane(extra.device))
            if extra.aliases is not None:
                impl.set_extra_meta((impl.extra_meta or NOTHING).with_aliases(extra.aliases))
                extra.aliases.add(impl)
        return impl

    def make_read_only(self) -> None:
        """Refuse writes through this tensor; its memory may still be written through others.

        See Note [Read-only memory].
        """
        self.array.flags.writeable = False
        self.layout = PECULIAR

    def find_layout(self) -> Layout:
        """Look the layout up; callers read `layout` first."""
        layout = self.layout = layout_of(self.array)
        # Looked at last, because another thread may give the tensor a key now.
        extra = self.extra_meta
        if extra is not None and extra.key_set:
            layout = self.layout = PECULIAR
        return layout

    @property
    def key_set(self) -> int:
        """The keys of the tensor; 0 for nearly all, see Note [Keys]."""
        extra = self.extra_meta
        return 0 if extra is None else extra.key_set

    @property
    def names(self) -> Names:
        """The name of each dimension, None for one without."""
        extra = self.extra_meta
        names = None if extra is None else extra.named_tensor_meta
        return (None,) * self.array.ndim if names is None else names

    def set_names(self, names: Names | None) -> None:
        """Give the dimensions other names, which fit their number, or none."""
        extra = self.extra_meta
        if extra is not None or (names is not None and names.count(None) < len(names)):
            self.set_extra_meta((extra or NOTHING).with_names(names))

    def set_extra_meta(self, extra: ExtraMeta | None) -> None:
        """Give the tensor other rare properties, or none; its layout follows."""
        if extra is not None and extra.key_set:
            keys.active = True
            self.layout = PECULIAR
            self.extra_meta = extra
            # Once more: another thread may have looked up the layout between these two.
            self.layout = PECULIAR
        else:
            self.layout = None
            self.extra_meta = None if extra is None or extra.aliases is None else extra

    @property
    def device(self) -> Device:
        """The device of the memory."""
        extra = self.extra_meta
        return CPU if extra is None or extra.device is None else extra.device

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
        """The version counter, `INFERENCE` too, made on first use; callers check the field first.

        See Note [Made once].

        Raises
        ------
        BatchedTensorError
            For a batched tensor.
        """
        if self.extra_meta is not None:
            self.check_has_memory()
        fresh = VersionCounter()
        if self._storage is not None and self._storage.borrowed:
            fresh.never_end_writing()
        if FREE_THREADED:
            # Pools of processes pickle tensors on a second thread.
            with log_lock.lock:
                counter = self.version_counter
                if counter is None:
                    counter = self.version_counter = fresh
                return counter
        counter = self.version_counter
        if counter is None:
            counter = self.version_counter = fresh
        return counter

    def own_storage(self) -> Storage:
        """The buffer, made on first use; callers check the field first. See Note [Made once].

        Raises
        ------
        BatchedTensorError
            For a batched tensor.
        """
        extra = self.extra_meta
        if extra is not None:
            self.check_has_memory()
        fresh = Storage(self.array)
        if extra is not None and extra.device is not None:
            fresh.device = extra.device
        if FREE_THREADED:
            # As above.
            with log_lock.lock:
                storage = self._storage
                if storage is None:
                    storage = self._storage = fresh
                return storage
        storage = self._storage
        if storage is None:
            storage = self._storage = fresh
        return storage

    def own_log(self, counter: VersionCounter) -> WriteLog:
        """The log of a counter from which a value was saved, made on first use."""
        storage = self._storage
        nbytes = self.array.nbytes if storage is None else storage.nbytes()
        with log_lock.lock:
            made = WriteLog(counter.value, nbytes)
            log = counter.log
            # A signal handler may have made a log meanwhile, and marked a write in it.
            if log is None or log is SAVED:
                log = counter.log = made
            return log

    def check_has_memory(self) -> None:
        """Raise if this is a batched tensor, whose memory is that of its value.

        Raises
        ------
        BatchedTensorError
            If it is one.
        """
        extra = self.extra_meta
        if extra is not None and extra.stands_for is not None:
            raise BatchedTensorError(
                "a tensor inside of vmap stands for one sample of a batch, and has no storage and "
                "no version of its own"
            )

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
                "an inference tensor has no version, because its writes are not counted; clone "
                "it outside of inference mode to get a normal tensor"
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
        dtype: NumpyDType = self.array.dtype
        return dtype

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
        """Set the strides of a copy of `model`, in a format, that has no elements."""
        self._strides = copy_strides(model.sizes, model.strides, memory_format)

    def set_geometry_of(self, other: TensorImpl) -> None:
        """Take over the elements of `other`; versions and metadata stay, `extra_meta` too."""
        self.array = other.array
        self.byte_offset = other.byte_offset
        # It would keep the former memory.
        self.saved = None
        # `find_layout` looks at keys.
        self.layout = other.layout if self.extra_meta is other.extra_meta is None else None
        storage = self._storage = other._storage
        self._strides = other._strides
        if storage is not None and storage.borrowed:
            counter = self.version_counter
            if counter is not None and counter is not INFERENCE:
                counter.never_end_writing()
