/* Elements of an array at indices along one dimension: read, stored or added to, one after the other.
   See Note [Loops along a dimension] in `storage/loops.py`. */

#include "_along.h"

/* `_loops.c` has the table of NumPy's functions, and imports it. */
#define PY_ARRAY_UNIQUE_SYMBOL vtgrad_array_api
#define NO_IMPORT_ARRAY
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

/* Element (o, k, i) of the part belongs to element (o, at, i) of the whole. The indices have strides of their
   own: an expanded one has the same number for many elements. */
typedef struct {
    char *whole;
    char *part;
    const char *index;
    npy_intp outer, count, inner;
    npy_uint64 size;    /* of the whole along the dimension */
    npy_intp part_step; /* 0 if the part is one number for all */
    npy_intp step;      /* from an index to the next along the dimension, in bytes */
    npy_intp indices;   /* how many there are */
    int is_dense;       /* whether they have no gaps */
    int of_slices;      /* whether the elements i have one index */
    int type;
    int item;
    /* The dimensions before, of the indices. */
    int dimensions;
    npy_intp sizes[NPY_MAXDIMS];
    npy_intp steps[NPY_MAXDIMS];
} Walk;

static int is_usable(PyObject *object) {
    if (!PyArray_CheckExact(object)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    PyArray_Descr *descr = PyArray_DESCR(array);
    return PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED) &&
           PyArray_ISNBO(descr->byteorder) && (PyTypeNum_ISNUMBER(descr->type_num) || PyTypeNum_ISBOOL(descr->type_num));
}

/* Whether two arrays without gaps have no byte in common. */
static int are_apart(PyArrayObject *one, PyArrayObject *other) {
    const char *first = PyArray_BYTES(one), *second = PyArray_BYTES(other);
    return first + PyArray_NBYTES(one) <= second || second + PyArray_NBYTES(other) <= first;
}

/* The dimension, counted from the front; -1 if it is no int of Python, or there is none. */
static int axis_of(PyObject *dim, int dimensions) {
    if (!PyLong_CheckExact(dim)) {
        return -1;
    }
    int overflow;
    long number = PyLong_AsLongAndOverflow(dim, &overflow);
    if (overflow || number < -dimensions || number >= dimensions) {
        return -1;
    }
    return (int)(number < 0 ? number + dimensions : number);
}

/* The sizes of a walk, from those of the whole and of what is read or written of it. */
static int read_sizes(PyArrayObject *whole, const npy_intp *sizes, int axis, Walk *walk) {
    walk->outer = walk->inner = 1;
    for (int i = 0; i < PyArray_NDIM(whole); i++) {
        if (i == axis) {
            continue;
        }
        if (sizes[i] != PyArray_DIM(whole, i)) {
            return 0;
        }
        *(i < axis ? &walk->outer : &walk->inner) *= sizes[i];
    }
    walk->count = sizes[axis];
    walk->size = (npy_uint64)PyArray_DIM(whole, axis);
    return 1;
}

/* The first byte behind an array whose strides are not negative; NULL if one is. */
static const char *end_of(PyArrayObject *array) {
    const char *end = PyArray_BYTES(array);
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        if (PyArray_DIM(array, i) == 0) {
            return PyArray_BYTES(array);
        }
        if (PyArray_STRIDE(array, i) < 0) {
            return NULL;
        }
        end += PyArray_STRIDE(array, i) * (PyArray_DIM(array, i) - 1);
    }
    return end + PyArray_ITEMSIZE(array);
}

static int is_index(PyObject *object, PyArrayObject *whole) {
    if (!PyArray_CheckExact(object)) {
        return 0;
    }
    PyArrayObject *index = (PyArrayObject *)object;
    if (PyArray_TYPE(index) != NPY_INT64 || !PyArray_CHKFLAGS(index, NPY_ARRAY_ALIGNED) ||
        !PyArray_ISNBO(PyArray_DESCR(index)->byteorder)) {
        return 0;
    }
    const char *end = end_of(index);
    return end != NULL && (end <= PyArray_BYTES(whole) ||
                           PyArray_BYTES(whole) + PyArray_NBYTES(whole) <= PyArray_BYTES(index));
}

/* The strides of indices of which each element has one; 0 if those of the last dimensions do not agree. */
static int read_steps(PyArrayObject *index, int axis, Walk *walk) {
    npy_intp dense = PyArray_ITEMSIZE(index);
    int are_dense = 1, are_one = walk->inner != 1;
    for (int i = PyArray_NDIM(index) - 1; i > axis; i--) {
        if (PyArray_DIM(index, i) != 1) {
            are_dense = are_dense && PyArray_STRIDE(index, i) == dense;
            are_one = are_one && PyArray_STRIDE(index, i) == 0;
        }
        dense *= PyArray_DIM(index, i);
    }
    walk->of_slices = are_one;
    walk->step = PyArray_STRIDE(index, axis);
    walk->dimensions = 0;
    for (int i = axis - 1; i >= 0; i--) {
        if (PyArray_DIM(index, i) != 1) {
            walk->sizes[walk->dimensions] = PyArray_DIM(index, i);
            walk->steps[walk->dimensions++] = PyArray_STRIDE(index, i);
        }
    }
    return are_dense || are_one;
}

/* A walk but for its part, whose sizes are those of the indices, or `slices`; 0 if that is NumPy's work. */
static int read_walk(PyObject *const *arguments, PyArrayObject *slices, Walk *walk) {
    if (!is_usable(arguments[0]) || !is_index(arguments[2], (PyArrayObject *)arguments[0])) {
        return 0;
    }
    PyArrayObject *whole = (PyArrayObject *)arguments[0], *index = (PyArrayObject *)arguments[2];
    int axis = axis_of(arguments[1], PyArray_NDIM(whole));
    if (axis < 0 || PyArray_NDIM(index) != (slices == NULL ? PyArray_NDIM(whole) : 1)) {
        return 0;
    }
    walk->whole = PyArray_BYTES(whole);
    walk->index = PyArray_BYTES(index);
    walk->indices = PyArray_SIZE(index);
    walk->is_dense = PyArray_CHKFLAGS(index, NPY_ARRAY_C_CONTIGUOUS);
    walk->type = PyArray_TYPE(whole);
    walk->item = (int)PyArray_ITEMSIZE(whole);
    if (!read_sizes(whole, PyArray_DIMS(slices == NULL ? index : slices), axis, walk)) {
        return 0;
    }
    if (slices == NULL) {
        return read_steps(index, axis, walk);
    }
    walk->of_slices = 1;
    walk->step = PyArray_STRIDE(index, 0);
    walk->dimensions = 0;
    return walk->count == PyArray_DIM(index, 0);
}

/* A walk that writes. The arguments are the whole, the dimension, the indices, the values, and whether slices
   have an index each, instead of elements. */
static int read_write(PyObject *const *arguments, Walk *walk) {
    if (!is_usable(arguments[0]) || !is_usable(arguments[3])) {
        return 0;
    }
    PyArrayObject *whole = (PyArrayObject *)arguments[0], *part = (PyArrayObject *)arguments[3];
    int of_slices = arguments[4] == Py_True;
    int is_number = PyArray_NDIM(part) == 0 && !of_slices;
    if (PyArray_TYPE(part) != PyArray_TYPE(whole) || !PyArray_CHKFLAGS(whole, NPY_ARRAY_WRITEABLE) ||
        !are_apart(whole, part) || (!is_number && PyArray_NDIM(part) != PyArray_NDIM(whole)) ||
        !read_walk(arguments, of_slices ? part : NULL, walk)) {
        return 0;
    }
    walk->part = PyArray_BYTES(part);
    walk->part_step = !is_number;
    return of_slices || is_number ||
           PyArray_CompareLists(PyArray_DIMS(part), PyArray_DIMS((PyArrayObject *)arguments[2]),
                                PyArray_NDIM(part));
}

/* The first index of outer element o, which is one more than the last time, or 0. */
static const char *next_index(const Walk *walk, npy_intp o, npy_intp *at, const char *index) {
    for (int i = 0; i < walk->dimensions; i++) {
        if (o == 0) {
            at[i] = 0;
        }
        else if (++at[i] < walk->sizes[i]) {
            return index + walk->steps[i];
        }
        else {
            index -= walk->steps[i] * (walk->sizes[i] - 1);
            at[i] = 0;
        }
    }
    return walk->index;
}

/* 0 if one of some indices is negative or too large: without a sign a negative number is larger than any size. */
static int are_below(const char *memory, npy_intp count, npy_uint64 size) {
    const npy_uint64 *index = (const npy_uint64 *)memory;
    npy_uint64 outside = 0;
    for (npy_intp i = 0; i < count; i++) {
        outside |= index[i] >= size;
    }
    return !outside;
}

/* Also of indices of slices without elements, which the loops do not read. */
static int are_inside(const Walk *walk) {
    if (walk->indices == 0) {
        return 1;
    }
    if (walk->is_dense) {
        return are_below(walk->index, walk->indices, walk->size);
    }
    npy_intp at[NPY_MAXDIMS], width = walk->of_slices ? 1 : walk->inner;
    /* The vector of indices is the same for all slices. */
    npy_intp outer = walk->dimensions == 0 ? 1 : walk->outer;
    const char *first = walk->index;
    for (npy_intp o = 0; o < outer; o++) {
        first = next_index(walk, o, at, first);
        for (npy_intp k = 0; k < walk->count; k++) {
            if (!are_below(first + k * walk->step, width, walk->size)) {
                return 0;
            }
        }
    }
    return 1;
}

typedef struct {
    npy_uint64 first, second;
} Sixteen;

/* An index that is looked at and then used is read once: another thread may store another one meanwhile. */
#define READ_ONCE(INDEX) (*(const volatile npy_uint64 *)(INDEX))

/* Each loop returns 0 at an index outside of the whole, which another thread may have stored since the
   indices were looked at. The numbers of a walk are read once: a loop writes memory of any type. A last
   dimension, and slices, have loops of their own, which take half the time. */
#define WALK(TYPE, NAME, STEP, DO)                                                                           \
    static int NAME(const Walk *walk) {                                                                      \
        const npy_intp outer = walk->outer, count = walk->count, inner = walk->inner;                        \
        const npy_intp step = walk->step, part_step = STEP;                                                  \
        const int of_slices = walk->of_slices;                                                               \
        const npy_uint64 size = walk->size;                                                                  \
        npy_intp place[NPY_MAXDIMS];                                                                         \
        const char *first = walk->index;                                                                     \
        TYPE *row = (TYPE *)walk->whole, *part = (TYPE *)walk->part;                                         \
        for (npy_intp o = 0; o < outer; o++, row += (npy_intp)size * inner) {                                \
            first = next_index(walk, o, place, first);                                                       \
            const char *index = first;                                                                       \
            if (inner == 1) {                                                                                \
                for (npy_intp k = 0; k < count; k++, index += step, part += part_step) {                     \
                    const npy_uint64 at = READ_ONCE(index);                                                  \
                    if (at >= size) {                                                                        \
                        return 0;                                                                            \
                    }                                                                                        \
                    TYPE *element = row + at;                                                                \
                    DO;                                                                                      \
                }                                                                                            \
                continue;                                                                                    \
            }                                                                                                \
            for (npy_intp k = 0; k < count; k++, index += step) {                                            \
                if (of_slices) {                                                                             \
                    const npy_uint64 at = READ_ONCE(index);                                                  \
                    if (at >= size) {                                                                        \
                        return 0;                                                                            \
                    }                                                                                        \
                    TYPE *element = row + (npy_intp)at * inner;                                              \
                    for (npy_intp i = 0; i < inner; i++, element++, part += part_step) {                     \
                        DO;                                                                                  \
                    }                                                                                        \
                    continue;                                                                                \
                }                                                                                            \
                for (npy_intp i = 0; i < inner; i++, part += part_step) {                                    \
                    const npy_uint64 at = READ_ONCE((const npy_uint64 *)index + i);                          \
                    if (at >= size) {                                                                        \
                        return 0;                                                                            \
                    }                                                                                        \
                    TYPE *element = row + (npy_intp)at * inner + i;                                          \
                    DO;                                                                                      \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
        return 1;                                                                                            \
    }

#define TAKE(TYPE, NAME) WALK(TYPE, NAME, 1, *part = *element)
#define WRITE(TYPE, NAME, ASSIGN)                                                                            \
    WALK(TYPE, NAME##_dense, 1, *element ASSIGN *part)                                                       \
    WALK(TYPE, NAME##_number, 0, *element ASSIGN *part)                                                      \
    static int NAME(const Walk *walk) { return walk->part_step ? NAME##_dense(walk) : NAME##_number(walk); }

TAKE(npy_uint8, take_1)
TAKE(npy_uint16, take_2)
TAKE(npy_uint32, take_4)
TAKE(npy_uint64, take_8)
TAKE(Sixteen, take_16)
WRITE(npy_uint8, put_1, =)
WRITE(npy_uint16, put_2, =)
WRITE(npy_uint32, put_4, =)
WRITE(npy_uint64, put_8, =)
WRITE(Sixteen, put_16, =)
/* Sums of integers with a sign have the same bits, and leave no range. */
WRITE(npy_uint8, add_1, +=)
WRITE(npy_uint16, add_2, +=)
WRITE(npy_uint32, add_4, +=)
WRITE(npy_uint64, add_8, +=)
WRITE(npy_float, add_single, +=)
WRITE(npy_double, add_double, +=)

typedef int (*Loop)(const Walk *);

/* The loop for elements of a size; NULL if there is none. */
static Loop by_size(int item, Loop one, Loop two, Loop four, Loop eight, Loop sixteen) {
    switch (item) {
    case 1:
        return one;
    case 2:
        return two;
    case 4:
        return four;
    case 8:
        return eight;
    case 16:
        return sixteen;
    default:
        return NULL;
    }
}

static Loop adding(const Walk *walk) {
    if (PyTypeNum_ISINTEGER(walk->type)) {
        return by_size(walk->item, add_1, add_2, add_4, add_8, NULL);
    }
    return walk->type == NPY_FLOAT ? add_single : walk->type == NPY_DOUBLE ? add_double : NULL;
}

static Loop storing(const Walk *walk) {
    return by_size(walk->item, put_1, put_2, put_4, put_8, put_16);
}

static int run(Loop loop, const Walk *walk) {
    npy_intp elements = walk->outer * walk->count * walk->inner;
    if (elements == 0) {
        return 1;
    }
    NPY_BEGIN_THREADS_DEF;
    NPY_BEGIN_THREADS_THRESHOLDED(elements);
    int done = loop(walk);
    NPY_END_THREADS;
    return done;
}

static int has_arguments(const char *name, Py_ssize_t given, Py_ssize_t wanted) {
    if (given != wanted) {
        PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments (%zd given)", name, wanted, given);
    }
    return given == wanted;
}

PyObject *take_along(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given) {
    if (!has_arguments("take_along", given, 3)) {
        return NULL;
    }
    Walk walk;
    if (!read_walk(arguments, NULL, &walk)) {
        Py_RETURN_NONE;
    }
    PyArrayObject *index = (PyArrayObject *)arguments[2];
    Loop loop = by_size(walk.item, take_1, take_2, take_4, take_8, take_16);
    if (loop == NULL) {
        Py_RETURN_NONE;
    }
    PyObject *result =
        PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(walk.type), PyArray_NDIM(index),
                             PyArray_DIMS(index), NULL, NULL, 0, NULL);
    if (result == NULL) {
        return NULL;
    }
    walk.part = PyArray_BYTES((PyArrayObject *)result);
    if (!run(loop, &walk)) {
        Py_DECREF(result);
        Py_RETURN_NONE;
    }
    return result;
}

PyObject *fits_along(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given) {
    if (!has_arguments("fits_along", given, 6)) {
        return NULL;
    }
    Walk walk;
    int fits = read_write(arguments, &walk) &&
               (arguments[5] == Py_True ? adding(&walk) : storing(&walk)) != NULL && are_inside(&walk);
    return PyBool_FromLong(fits);
}

/* A store: it has been found before that its arguments fit. */
static PyObject *written(PyObject *const *arguments, Loop (*choice)(const Walk *)) {
    Walk walk;
    Loop loop = read_write(arguments, &walk) ? choice(&walk) : NULL;
    if (loop == NULL || !run(loop, &walk)) {
        PyErr_SetString(PyExc_IndexError, "indices of a write were changed by another thread meanwhile");
        return NULL;
    }
    Py_RETURN_NONE;
}

PyObject *put_along(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given) {
    return has_arguments("put_along", given, 5) ? written(arguments, storing) : NULL;
}

PyObject *add_along(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given) {
    return has_arguments("add_along", given, 5) ? written(arguments, adding) : NULL;
}
