/* Elements of an array at indices along one dimension: read, stored or added to, one after the other.
   See Note [Loops along a dimension] in `storage/loops.py`. */

#include "_along.h"

/* `_loops.c` has the table of NumPy's functions, and imports it. */
#define PY_ARRAY_UNIQUE_SYMBOL vtgrad_array_api
#define NO_IMPORT_ARRAY
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

/* Element (o, k, i) of the part belongs to element (o, at, i) of the whole. If each element has an index,
   `at` is number (o, k, i) of the indices, and if slices have one, number k. */
typedef struct {
    char *whole;
    char *part;
    const npy_int64 *index;
    npy_intp outer, count, inner;
    npy_uint64 size;    /* of the whole along the dimension */
    npy_intp part_step; /* 0 if the part is one number for all */
    int of_slices;
    int type;
    int item;
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

/* The whole, the dimension and the indices; 0 if that is NumPy's work. */
static int read_whole(PyObject *const *arguments, int of_slices, int *axis) {
    if (!is_usable(arguments[0]) || !is_usable(arguments[2])) {
        return 0;
    }
    PyArrayObject *whole = (PyArrayObject *)arguments[0], *index = (PyArrayObject *)arguments[2];
    if (PyArray_TYPE(index) != NPY_INT64 || PyArray_NDIM(index) != (of_slices ? 1 : PyArray_NDIM(whole))) {
        return 0;
    }
    *axis = axis_of(arguments[1], PyArray_NDIM(whole));
    return *axis >= 0 && are_apart(whole, index);
}

static void read_memory(PyArrayObject *whole, PyArrayObject *index, int of_slices, Walk *walk) {
    walk->whole = PyArray_BYTES(whole);
    walk->index = (const npy_int64 *)PyArray_DATA(index);
    walk->of_slices = of_slices;
    walk->type = PyArray_TYPE(whole);
    walk->item = (int)PyArray_ITEMSIZE(whole);
}

/* Fills a walk that writes; 0 if that is NumPy's work. The arguments are the whole, the dimension, the
   indices, the values, and whether slices have an index. */
static int read_walk(PyObject *const *arguments, int of_slices, Walk *walk) {
    int axis;
    if (!read_whole(arguments, of_slices, &axis) || !is_usable(arguments[3])) {
        return 0;
    }
    PyArrayObject *whole = (PyArrayObject *)arguments[0], *index = (PyArrayObject *)arguments[2];
    PyArrayObject *part = (PyArrayObject *)arguments[3];
    int is_number = PyArray_NDIM(part) == 0 && !of_slices;
    if (PyArray_TYPE(part) != PyArray_TYPE(whole) || !PyArray_CHKFLAGS(whole, NPY_ARRAY_WRITEABLE) ||
        !are_apart(whole, part) || (!is_number && PyArray_NDIM(part) != PyArray_NDIM(whole))) {
        return 0;
    }
    if (of_slices ? PyArray_DIM(part, axis) != PyArray_DIM(index, 0)
                  : !is_number && !PyArray_CompareLists(PyArray_DIMS(part), PyArray_DIMS(index),
                                                        PyArray_NDIM(whole))) {
        return 0;
    }
    walk->part = PyArray_BYTES(part);
    walk->part_step = !is_number;
    read_memory(whole, index, of_slices, walk);
    return read_sizes(whole, PyArray_DIMS(of_slices ? part : index), axis, walk);
}

static int are_inside(const Walk *walk) {
    npy_intp count = walk->of_slices ? walk->count : walk->outer * walk->count * walk->inner;
    int outside = 0;
    for (npy_intp i = 0; i < count; i++) {
        /* Without a sign a negative number is larger than any size. */
        outside |= (npy_uint64)walk->index[i] >= walk->size;
    }
    return !outside;
}

typedef struct {
    npy_uint64 first, second;
} Sixteen;

/* Each loop returns 0 at an index outside of the whole, which another thread may have stored since the
   indices were looked at. The numbers of a walk are read once: a loop writes memory of any type. A last
   dimension has a loop of its own, which takes half the time. */
#define ELEMENTS(TYPE, STEP, DO)                                                                             \
    const npy_intp outer = walk->outer, count = walk->count, inner = walk->inner, step = STEP;               \
    const npy_uint64 size = walk->size;                                                                      \
    const npy_int64 *index = walk->index;                                                                    \
    TYPE *row = (TYPE *)walk->whole, *part = (TYPE *)walk->part;                                             \
    for (npy_intp o = 0; o < outer; o++, row += (npy_intp)size * inner) {                                    \
        for (npy_intp k = 0; inner == 1 && k < count; k++, part += step) {                                   \
            const npy_uint64 at = (npy_uint64)*index++;                                                      \
            if (at >= size) {                                                                                \
                return 0;                                                                                    \
            }                                                                                                \
            TYPE *element = row + at;                                                                        \
            DO;                                                                                              \
        }                                                                                                    \
        for (npy_intp k = 0; inner != 1 && k < count; k++) {                                                 \
            for (npy_intp i = 0; i < inner; i++, part += step) {                                             \
                const npy_uint64 at = (npy_uint64)*index++;                                                  \
                if (at >= size) {                                                                            \
                    return 0;                                                                                \
                }                                                                                            \
                TYPE *element = row + (npy_intp)at * inner + i;                                              \
                DO;                                                                                          \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    return 1

#define SLICES(TYPE, DO)                                                                                     \
    const npy_intp outer = walk->outer, count = walk->count, inner = walk->inner;                            \
    const npy_uint64 size = walk->size;                                                                      \
    TYPE *row = (TYPE *)walk->whole, *part = (TYPE *)walk->part;                                             \
    for (npy_intp o = 0; o < outer; o++, row += (npy_intp)size * inner) {                                    \
        for (npy_intp k = 0; k < count; k++) {                                                               \
            const npy_uint64 at = (npy_uint64)walk->index[k];                                                \
            if (at >= size) {                                                                                \
                return 0;                                                                                    \
            }                                                                                                \
            TYPE *element = row + (npy_intp)at * inner;                                                      \
            for (npy_intp i = 0; i < inner; i++, element++, part++) {                                        \
                DO;                                                                                          \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    return 1

#define TAKE(TYPE, NAME)                                                                                     \
    static int NAME(const Walk *walk) { ELEMENTS(TYPE, 1, *part = *element); }

#define WRITE(TYPE, NAME, ASSIGN)                                                                            \
    static int NAME##_slices(const Walk *walk) { SLICES(TYPE, *element ASSIGN *part); }                      \
    static int NAME(const Walk *walk) {                                                                      \
        if (walk->of_slices) {                                                                               \
            return NAME##_slices(walk);                                                                      \
        }                                                                                                    \
        ELEMENTS(TYPE, walk->part_step, *element ASSIGN *part);                                              \
    }

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
    NPY_BEGIN_THREADS_DEF;
    NPY_BEGIN_THREADS_THRESHOLDED(walk->outer * walk->count * walk->inner);
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
    int axis;
    Walk walk;
    if (!read_whole(arguments, 0, &axis)) {
        Py_RETURN_NONE;
    }
    PyArrayObject *whole = (PyArrayObject *)arguments[0], *index = (PyArrayObject *)arguments[2];
    read_memory(whole, index, 0, &walk);
    Loop loop = by_size(walk.item, take_1, take_2, take_4, take_8, take_16);
    if (loop == NULL || !read_sizes(whole, PyArray_DIMS(index), axis, &walk)) {
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
    int fits = read_walk(arguments, arguments[4] == Py_True, &walk) &&
               (arguments[5] == Py_True ? adding(&walk) : storing(&walk)) != NULL && are_inside(&walk);
    return PyBool_FromLong(fits);
}

/* A store: it has been found before that its arguments fit. */
static PyObject *written(PyObject *const *arguments, Loop (*choice)(const Walk *)) {
    Walk walk;
    Loop loop = read_walk(arguments, arguments[4] == Py_True, &walk) ? choice(&walk) : NULL;
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
