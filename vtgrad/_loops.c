/* NumPy's inner loops, called directly. `_loops.pyi` has the types, and `storage/loops.py` the reasons:
   Note [Loops in C], Note [The same loop as NumPy's], Note [Memory of a loop]. */

#include "_along.h"
#include "_steps.h"

/* The other file of the module uses the tables of NumPy's functions that are found here. */
#define PY_ARRAY_UNIQUE_SYMBOL vtgrad_array_api
#define PY_UFUNC_UNIQUE_SYMBOL vtgrad_ufunc_api
/* An extension built with these headers loads with NumPy 2.0 and all later versions of 2. */
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#include <fenv.h>
#include <math.h>
#include <string.h>

#define MOST_INPUTS 2
/* Of arrays that are computed by several loops. */
#define MOST_DIMENSIONS 8
/* Of a polynomial; more are left to NumPy. */
#define MOST_POWERS 32
/* Of integers up to this value float32 holds each, so a conversion does not round. */
#define SMALL_INTEGER 16777216L

/* The ufuncs that are served. A result has the dtype of the operands, and no loop raises an error, as those
   of integer powers do. The commonest are first. `storage/loops_in_python.py` has the list too. */
static const char *const NAMES[] = {
    "add",     "multiply", "subtract", "true_divide", "negative", "square", "sqrt",    "exp",     "log",
    "tanh",    "absolute", "arccos",   "arccosh",     "arcsin",   "arcsinh", "arctan", "arctan2", "arctanh",
    "ceil",    "copysign", "cos",      "cosh",        "exp2",     "expm1",  "floor",   "fmax",    "fmin",
    "hypot",   "log10",    "log1p",    "log2",        "maximum",  "minimum", "rint",   "sign",    "sin",
    "sinh",    "tan",      "trunc",
};
#define COUNT (sizeof NAMES / sizeof *NAMES)

/* Those of them that round each element of a real dtype exactly, so that any order of loops gives the same
   bits. */
static const char *const EXACT[] = {"add", "multiply", "subtract", "true_divide"};

/* What the ufunc's table has for operands and result of one dtype. */
typedef struct {
    PyUFuncGenericFunction function;
    void *data;
} Loop;

typedef struct {
    int inputs;
    int exact;
    Loop loops[NPY_CLONGDOUBLE + 1];
} Served;

/* Filled once, at the first import in a process, and only read afterwards. */
static Served served[COUNT];
/* The ufuncs, apart from their entries, so that a search reads little memory. */
static PyObject *ufuncs[COUNT];
static int filled = 0;

/* An operand or result of a loop. */
typedef struct {
    PyArrayObject *array; /* borrowed; NULL for a number */
    char *memory;
    npy_intp step;
} Operand;

typedef union {
    float single_;
    double double_;
} Number;

static int is_served_type(int type) {
    return type == NPY_BOOL || PyTypeNum_ISINTEGER(type) || type == NPY_FLOAT || type == NPY_DOUBLE ||
           type == NPY_CFLOAT || type == NPY_CDOUBLE;
}

static void find_loops(Served *entry, PyUFuncObject *ufunc) {
    for (int row = 0; row < ufunc->ntypes; row++) {
        const char *types = ufunc->types + row * ufunc->nargs;
        int type = types[0];
        int same = is_served_type(type);
        for (int i = 1; same && i < ufunc->nargs; i++) {
            same = types[i] == type;
        }
        /* NumPy takes the first row that fits. */
        if (same && entry->loops[type].function == NULL) {
            entry->loops[type].function = ufunc->functions[row];
            entry->loops[type].data = ufunc->data == NULL ? NULL : ufunc->data[row];
        }
    }
}

static int fill_served(void) {
    if (filled) {
        return 0;
    }
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) {
        return -1;
    }
    for (size_t i = 0; i < COUNT; i++) {
        PyObject *found = PyObject_GetAttrString(numpy, NAMES[i]);
        if (found == NULL || !PyObject_TypeCheck(found, &PyUFunc_Type)) {
            if (found != NULL) {
                PyErr_Format(PyExc_ImportError, "numpy.%s is not a ufunc", NAMES[i]);
                Py_DECREF(found);
            }
            Py_DECREF(numpy);
            return -1;
        }
        PyUFuncObject *ufunc = (PyUFuncObject *)found;
        Served *entry = &served[i];
        memset(entry, 0, sizeof *entry);
        ufuncs[i] = found; /* kept until the process ends */
        entry->inputs = ufunc->nin;
        for (size_t k = 0; k < sizeof EXACT / sizeof *EXACT; k++) {
            entry->exact |= strcmp(NAMES[i], EXACT[k]) == 0;
        }
        if (!ufunc->core_enabled && ufunc->nout == 1 && ufunc->nin <= MOST_INPUTS) {
            find_loops(entry, ufunc);
        }
    }
    Py_DECREF(numpy);
    filled = 1;
    return 0;
}

/* The entry of a ufunc with this number of inputs; NULL if it is not served. */
static const Served *entry_of(PyObject *ufunc, int inputs) {
    for (size_t i = 0; i < COUNT; i++) {
        if (ufuncs[i] == ufunc) {
            return served[i].inputs == inputs ? &served[i] : NULL;
        }
    }
    return NULL;
}

/* Whether the memory of an object can be given to a loop. */
static int is_plain(PyObject *object) {
    if (!PyArray_CheckExact(object)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    PyArray_Descr *descr = PyArray_DESCR(array);
    /* Metadata of a dtype would have to be those of the result's. */
    return PyArray_CHKFLAGS(array, NPY_ARRAY_ALIGNED) && PyArray_ISNBO(descr->byteorder) &&
           PyDataType_METADATA(descr) == NULL &&
           (PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS) || PyArray_NDIM(array) == 1);
}

/* The distance between elements as NumPy gives it to a loop over the whole array: it decides which code of
   the loop runs. */
static npy_intp step_of(PyArrayObject *array) {
    switch (PyArray_NDIM(array)) {
    case 0:
        return 0;
    case 1:
        return PyArray_STRIDE(array, 0);
    default:
        return PyArray_ITEMSIZE(array);
    }
}

static int has_size_one(PyArrayObject *array) {
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        if (PyArray_DIM(array, i) == 1) {
            return 1;
        }
    }
    return 0;
}

/* A number that NumPy would convert without a warning to the floating type; 0 for any other. */
static int converted(PyObject *object, int type, Number *number) {
    double value;
    if (PyFloat_CheckExact(object)) {
        value = PyFloat_AS_DOUBLE(object);
    }
    else if (PyLong_CheckExact(object)) {
        int overflow;
        long whole = PyLong_AsLongAndOverflow(object, &overflow);
        if (overflow || whole > SMALL_INTEGER || whole < -SMALL_INTEGER) {
            return 0;
        }
        value = (double)whole;
    }
    else {
        return 0;
    }
    if (type == NPY_DOUBLE) {
        number->double_ = value;
        return 1;
    }
    if (type == NPY_FLOAT) {
        number->single_ = (float)value;
        return !isinf(number->single_) || isinf(value);
    }
    return 0;
}

/* Fills an operand beside `like`, whose shape the result has; 0 if that is NumPy's work. */
static int read_operand(PyObject *object, PyArrayObject *like, Number *number, Operand *operand) {
    int type = PyArray_TYPE(like);
    if (!is_plain(object)) {
        operand->array = NULL;
        operand->memory = (char *)number;
        operand->step = 0;
        /* Beside a dimension of size 1, NumPy may choose another memory order than the library. */
        return converted(object, type, number) && !has_size_one(like);
    }
    PyArrayObject *array = (PyArrayObject *)object;
    int dimensions = PyArray_NDIM(array);
    if (PyArray_TYPE(array) != type) {
        return 0;
    }
    if (dimensions == 0) {
        if (has_size_one(like)) {
            return 0;
        }
    }
    else if (dimensions != PyArray_NDIM(like) ||
             !PyArray_CompareLists(PyArray_DIMS(array), PyArray_DIMS(like), dimensions)) {
        return 0;
    }
    operand->array = array;
    operand->memory = PyArray_BYTES(array);
    operand->step = step_of(array);
    return 1;
}

/* The first and the last byte that a loop of `count` elements reaches, the last one excluded. */
static void extent(const Operand *operand, npy_intp count, npy_intp size, npy_uintp *low, npy_uintp *high) {
    npy_uintp start = (npy_uintp)operand->memory;
    npy_uintp far = (npy_uintp)((operand->step < 0 ? -operand->step : operand->step) * (count - 1));
    *low = operand->step < 0 ? start - far : start;
    *high = (operand->step < 0 ? start : start + far) + (npy_uintp)size;
}

/* See Note [Memory of a loop]. */
static int may_be_written(const Operand *out, const Operand *operand, npy_intp count, npy_intp size) {
    if (operand->memory == out->memory && operand->step == out->step) {
        return 1;
    }
    npy_uintp low, high, out_low, out_high;
    extent(operand, count, size, &low, &high);
    extent(out, count, size, &out_low, &out_high);
    return high <= out_low || out_high <= low;
}

/* Fills the last operand with `out`; 0 if NumPy must decide. */
static int read_out(PyObject *object, PyArrayObject *like, Operand *operands, int inputs, npy_intp count) {
    if (!is_plain(object) || !PyArray_CHKFLAGS((PyArrayObject *)object, NPY_ARRAY_WRITEABLE)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_TYPE(array) != PyArray_TYPE(like) || PyArray_NDIM(array) != PyArray_NDIM(like) ||
        !PyArray_CompareLists(PyArray_DIMS(array), PyArray_DIMS(like), PyArray_NDIM(like))) {
        return 0;
    }
    Operand *out = &operands[inputs];
    out->array = array;
    out->memory = PyArray_BYTES(array);
    out->step = step_of(array);
    npy_intp size = PyArray_ITEMSIZE(array);
    /* NumPy turns an axis that runs backwards, and writes a lone element by other code. And elements
       may share memory. */
    if (count == 1 || out->step < size) {
        return 0;
    }
    for (int i = 0; i < inputs; i++) {
        if (operands[i].array != NULL && !may_be_written(out, &operands[i], count, size)) {
            return 0;
        }
    }
    return 1;
}

/* NumPy clears these before a loop, and leaves what the loop has set. */
static void clear_status(void) {
    const int flags = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID;
    if (fetestexcept(flags)) {
        feclearexcept(flags);
    }
}

static void run(const Loop *loop, const Operand *operands, int inputs, npy_intp count) {
    char *memory[MOST_INPUTS + 1];
    npy_intp steps[MOST_INPUTS + 1];
    for (int i = 0; i <= inputs; i++) {
        memory[i] = operands[i].memory;
        steps[i] = operands[i].step;
    }
    clear_status();
    NPY_BEGIN_THREADS_DEF;
    NPY_BEGIN_THREADS_THRESHOLDED(count);
    loop->function(memory, &count, steps, loop->data);
    NPY_END_THREADS;
}

/* The first operand that is an array with dimensions, whose shape the result then has. */
static PyArrayObject *shaped(PyObject *const *objects, int inputs) {
    for (int i = 0; i < inputs; i++) {
        if (is_plain(objects[i]) && PyArray_NDIM((PyArrayObject *)objects[i]) > 0) {
            return (PyArrayObject *)objects[i];
        }
    }
    return NULL;
}

/* Several loops, one inside the other: the innermost is the dimension 0. */
typedef struct {
    int dimensions;
    npy_intp sizes[MOST_DIMENSIONS];
    npy_intp steps[MOST_INPUTS + 1][MOST_DIMENSIONS];
    char *memory[MOST_INPUTS + 1];
} Nest;

/* The strides of an array that is spread over the shape of `out`; 0 if its shape is another one. */
static int spread(PyArrayObject *array, PyArrayObject *out, npy_intp *steps) {
    int missing = PyArray_NDIM(out) - PyArray_NDIM(array);
    if (missing < 0) {
        return 0;
    }
    for (int i = 0; i < PyArray_NDIM(out); i++) {
        npy_intp size = i < missing ? 1 : PyArray_DIM(array, i - missing);
        if (size != 1 && size != PyArray_DIM(out, i)) {
            return 0;
        }
        steps[i] = size == 1 ? 0 : PyArray_STRIDE(array, i - missing);
    }
    return 1;
}

/* Dimensions of more than one element, the smallest steps of the result first. */
static void sort_dimensions(Nest *nest, int operands, const npy_intp *sizes, int count) {
    npy_intp steps[MOST_INPUTS + 1][MOST_DIMENSIONS];
    memcpy(steps, nest->steps, sizeof steps);
    nest->dimensions = 0;
    for (int i = count - 1; i >= 0; i--) {
        if (sizes[i] == 1) {
            continue;
        }
        int place = nest->dimensions++;
        for (; place > 0 && nest->steps[operands - 1][place - 1] > steps[operands - 1][i]; place--) {
            nest->sizes[place] = nest->sizes[place - 1];
            for (int k = 0; k < operands; k++) {
                nest->steps[k][place] = nest->steps[k][place - 1];
            }
        }
        nest->sizes[place] = sizes[i];
        for (int k = 0; k < operands; k++) {
            nest->steps[k][place] = steps[k][i];
        }
    }
}

/* Whether each element of the result has memory of its own; the dimensions are sorted. */
static int is_distinct(const npy_intp *sizes, const npy_intp *steps, int dimensions, npy_intp size) {
    npy_intp reach = size;
    for (int i = 0; i < dimensions; i++) {
        if (steps[i] < reach) {
            return 0;
        }
        reach = steps[i] * (sizes[i] - 1) + reach;
    }
    return 1;
}

/* The bytes from the first to the last of a nest, as `extent`. */
static void extent_of_nest(const Nest *nest, int operand, npy_intp size, npy_uintp *low, npy_uintp *high) {
    *low = (npy_uintp)nest->memory[operand];
    *high = *low + (npy_uintp)size;
    for (int i = 0; i < nest->dimensions; i++) {
        npy_intp far = nest->steps[operand][i] * (nest->sizes[i] - 1);
        if (far < 0) {
            *low -= (npy_uintp)-far;
        }
        else {
            *high += (npy_uintp)far;
        }
    }
}

/* See Note [Memory of a loop]. */
static int nest_may_be_written(const Nest *nest, int operand, int out, npy_intp size) {
    int same = nest->memory[operand] == nest->memory[out];
    for (int i = 0; i < nest->dimensions; i++) {
        same = same && nest->steps[operand][i] == nest->steps[out][i];
    }
    npy_uintp low, high, out_low, out_high;
    extent_of_nest(nest, operand, size, &low, &high);
    extent_of_nest(nest, out, size, &out_low, &out_high);
    return same || high <= out_low || out_high <= low;
}

/* Two loops become one where all steps allow it. */
static void join_dimensions(Nest *nest, int operands) {
    int last = 0;
    for (int i = 1; i < nest->dimensions; i++) {
        int joins = 1;
        for (int k = 0; k < operands; k++) {
            joins = joins && nest->steps[k][i] == nest->steps[k][last] * nest->sizes[last];
        }
        if (joins) {
            nest->sizes[last] *= nest->sizes[i];
            continue;
        }
        last++;
        nest->sizes[last] = nest->sizes[i];
        for (int k = 0; k < operands; k++) {
            nest->steps[k][last] = nest->steps[k][i];
        }
    }
    nest->dimensions = last + 1;
}

static int is_strided(PyObject *object, int type) {
    if (!PyArray_CheckExact(object)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    PyArray_Descr *descr = PyArray_DESCR(array);
    return descr->type_num == type && PyArray_CHKFLAGS(array, NPY_ARRAY_ALIGNED) &&
           PyArray_ISNBO(descr->byteorder) && PyDataType_METADATA(descr) == NULL;
}

/* Fills the nest for operands of any strides; 0 if NumPy must compute the result. */
static int read_nest(PyObject *const *objects, PyArrayObject *out, Number *numbers, Nest *nest) {
    int type = PyArray_TYPE(out), count = PyArray_NDIM(out), arrays = 0;
    npy_intp size = PyArray_ITEMSIZE(out);
    for (int k = 0; k < 2; k++) {
        if (is_strided(objects[k], type)) {
            nest->memory[k] = PyArray_BYTES((PyArrayObject *)objects[k]);
            arrays++;
            if (!spread((PyArrayObject *)objects[k], out, nest->steps[k])) {
                return 0;
            }
        }
        else {
            nest->memory[k] = (char *)&numbers[k];
            memset(nest->steps[k], 0, sizeof nest->steps[k]);
            if (!converted(objects[k], type, &numbers[k])) {
                return 0;
            }
        }
    }
    nest->memory[2] = PyArray_BYTES(out);
    spread(out, out, nest->steps[2]);
    sort_dimensions(nest, 3, PyArray_DIMS(out), count);
    if (arrays == 0 || nest->dimensions == 0 ||
        !is_distinct(nest->sizes, nest->steps[2], nest->dimensions, size)) {
        return 0;
    }
    for (int k = 0; k < 2; k++) {
        if (nest->memory[k] != (char *)&numbers[k] && !nest_may_be_written(nest, k, 2, size)) {
            return 0;
        }
    }
    join_dimensions(nest, 3);
    return 1;
}

static void run_nest(const Loop *loop, Nest *nest, npy_intp total) {
    npy_intp index[MOST_DIMENSIONS] = {0};
    npy_intp steps[3] = {nest->steps[0][0], nest->steps[1][0], nest->steps[2][0]};
    clear_status();
    NPY_BEGIN_THREADS_DEF;
    NPY_BEGIN_THREADS_THRESHOLDED(total);
    for (;;) {
        char *memory[3] = {nest->memory[0], nest->memory[1], nest->memory[2]};
        loop->function(memory, &nest->sizes[0], steps, loop->data);
        int i = 1;
        for (; i < nest->dimensions; i++) {
            npy_intp back = ++index[i] == nest->sizes[i] ? index[i] - 1 : -1;
            for (int k = 0; k < 3; k++) {
                nest->memory[k] += back < 0 ? nest->steps[k][i] : -back * nest->steps[k][i];
            }
            if (back < 0) {
                break;
            }
            index[i] = 0;
        }
        if (i == nest->dimensions) {
            break;
        }
    }
    NPY_END_THREADS;
}

/* Two operands of any strides whose result has a place: by several loops. */
static PyObject *call_nested(const Served *entry, PyObject *const *objects, PyObject *given) {
    if (!entry->exact || !PyArray_CheckExact(given)) {
        Py_RETURN_NONE;
    }
    PyArrayObject *out = (PyArrayObject *)given;
    int type = PyArray_TYPE(out);
    if (!is_served_type(type) || PyTypeNum_ISCOMPLEX(type) || entry->loops[type].function == NULL ||
        !is_strided(given, type) || !PyArray_CHKFLAGS(out, NPY_ARRAY_WRITEABLE) ||
        PyArray_NDIM(out) > MOST_DIMENSIONS || PyArray_SIZE(out) < 2) {
        Py_RETURN_NONE;
    }
    Number numbers[MOST_INPUTS];
    Nest nest;
    if (!read_nest(objects, out, numbers, &nest)) {
        Py_RETURN_NONE;
    }
    run_nest(&entry->loops[type], &nest, PyArray_SIZE(out));
    return Py_NewRef(given);
}

/* The result of one loop over all elements; Py_None, borrowed, if that is not how NumPy computes it. */
static PyObject *call_simple(const Served *entry, PyObject *const *objects, PyObject *given) {
    int inputs = entry->inputs;
    PyArrayObject *like = shaped(objects, inputs);
    if (like == NULL) {
        return Py_None;
    }
    int type = PyArray_TYPE(like);
    npy_intp count = PyArray_SIZE(like);
    if (count == 0 || !is_served_type(type) || entry->loops[type].function == NULL) {
        return Py_None;
    }
    Operand operands[MOST_INPUTS + 1];
    Number numbers[MOST_INPUTS];
    for (int i = 0; i < inputs; i++) {
        if (!read_operand(objects[i], like, &numbers[i], &operands[i])) {
            return Py_None;
        }
    }
    if (given != Py_None) {
        if (!read_out(given, like, operands, inputs, count)) {
            return Py_None;
        }
        run(&entry->loops[type], operands, inputs, count);
        return Py_NewRef(given);
    }
    PyArray_Descr *descr = PyArray_DescrFromType(type);
    PyObject *result = PyArray_NewFromDescr(&PyArray_Type, descr, PyArray_NDIM(like), PyArray_DIMS(like),
                                            NULL, NULL, 0, NULL);
    if (result == NULL) {
        return NULL;
    }
    Operand *out = &operands[inputs];
    out->array = (PyArrayObject *)result;
    out->memory = PyArray_BYTES(out->array);
    out->step = step_of(out->array);
    run(&entry->loops[type], operands, inputs, count);
    return result;
}

/* The ufunc, its operands, and `out` or None. */
static PyObject *call(PyObject *const *objects, int inputs, PyObject *given) {
    const Served *entry = entry_of(objects[0], inputs);
    if (entry == NULL) {
        Py_RETURN_NONE;
    }
    PyObject *result = call_simple(entry, objects + 1, given);
    if (result != Py_None) {
        return result;
    }
    return call_nested(entry, objects + 1, given);
}

/* `arguments` are a ufunc, its operands, and perhaps `out`. */
static PyObject *checked_call(const char *name, PyObject *const *arguments, Py_ssize_t given, int inputs) {
    if (given != inputs + 1 && given != inputs + 2) {
        return PyErr_Format(PyExc_TypeError, "%s() takes %d or %d arguments (%zd given)", name, inputs + 1,
                            inputs + 2, given);
    }
    return call(arguments, inputs, given == inputs + 2 ? arguments[inputs + 1] : Py_None);
}

static PyObject *unary(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given) {
    return checked_call("unary", arguments, given, 1);
}

static PyObject *binary(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given) {
    return checked_call("binary", arguments, given, 2);
}

/* Whether an array is row-major without gaps, of a dtype. */
static int is_dense(PyObject *object, int type) {
    return PyArray_CheckExact(object) && PyArray_TYPE((PyArrayObject *)object) == type && is_plain(object) &&
           PyArray_CHKFLAGS((PyArrayObject *)object, NPY_ARRAY_C_CONTIGUOUS);
}

/* `Piecewise.__call__`: the same operations in the same order, one element after the other. That a product
   and a sum are not joined to one operation, which rounds once, is an option of the compiler in `setup.py`. */
static void run_piecewise(const double *x, double shift, npy_uint64 start, const double *table, npy_intp powers,
                          npy_intp columns, double *out, npy_intp count) {
    const double *highest = table + (powers - 1) * columns;
    for (npy_intp i = 0; i < count; i++) {
        double shifted = x[i] + shift;
        npy_uint64 bits;
        memcpy(&bits, &shifted, sizeof bits);
        npy_int64 column = (npy_int64)(bits - start);
        column = column < 0 ? 0 : column < columns ? column : columns - 1;
        double distance = x[i] - (shifted - shift);
        const double *coefficient = highest + column;
        double total = *coefficient;
        for (npy_intp power = 1; power < powers; power++) {
            coefficient -= columns;
            total = total * distance;
            total = total + *coefficient;
        }
        out[i] = total;
    }
}

/* The values at `x`, from the shift, the number of the first multiple as bits, and the table. */
static PyObject *piecewise(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given) {
    if (given != 4) {
        return PyErr_Format(PyExc_TypeError, "piecewise() takes 4 arguments (%zd given)", given);
    }
    for (int i = 0; i < 4; i++) {
        if (!is_dense(arguments[i], i == 2 ? NPY_INT64 : NPY_DOUBLE)) {
            Py_RETURN_NONE;
        }
    }
    PyArrayObject *x = (PyArrayObject *)arguments[0], *shift = (PyArrayObject *)arguments[1];
    PyArrayObject *start = (PyArrayObject *)arguments[2], *table = (PyArrayObject *)arguments[3];
    if (PyArray_SIZE(shift) != 1 || PyArray_SIZE(start) != 1 || PyArray_NDIM(table) != 2 ||
        PyArray_SIZE(table) == 0 || PyArray_NDIM(x) == 0) {
        Py_RETURN_NONE;
    }
    PyObject *result = PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(NPY_DOUBLE), PyArray_NDIM(x),
                                            PyArray_DIMS(x), NULL, NULL, 0, NULL);
    if (result == NULL) {
        return NULL;
    }
    npy_intp count = PyArray_SIZE(x);
    double by = *(const double *)PyArray_DATA(shift);
    npy_uint64 first = *(const npy_uint64 *)PyArray_DATA(start);
    NPY_BEGIN_THREADS_DEF;
    NPY_BEGIN_THREADS_THRESHOLDED(count);
    run_piecewise(PyArray_DATA(x), by, first, PyArray_DATA(table), PyArray_DIM(table, 0), PyArray_DIM(table, 1),
                  PyArray_DATA((PyArrayObject *)result), count);
    NPY_END_THREADS;
    return result;
}

/* `polynomial` of `series.py`: the same operations in the same order, one element after the other. */
static void run_polynomial(const double *x, const double *coefficients, npy_intp powers, double *out,
                           npy_intp count) {
    for (npy_intp i = 0; i < count; i++) {
        double total = x[i] * coefficients[powers - 1];
        for (npy_intp power = powers - 2; power > 0; power--) {
            total = total + coefficients[power];
            total = total * x[i];
        }
        out[i] = total + coefficients[0];
    }
}

/* The values at `x` of the polynomial whose coefficients are a list of 0-d arrays. */
static PyObject *polynomial(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given) {
    if (given != 2) {
        return PyErr_Format(PyExc_TypeError, "polynomial() takes 2 arguments (%zd given)", given);
    }
    PyObject *list = arguments[0];
    Py_ssize_t powers = PyList_CheckExact(list) ? PyList_GET_SIZE(list) : 0;
    if (powers < 2 || powers > MOST_POWERS || !is_dense(arguments[1], NPY_DOUBLE)) {
        Py_RETURN_NONE;
    }
    double coefficients[MOST_POWERS];
    for (Py_ssize_t power = 0; power < powers; power++) {
        PyObject *item = PyList_GET_ITEM(list, power);
        if (!is_dense(item, NPY_DOUBLE) || PyArray_NDIM((PyArrayObject *)item) != 0) {
            Py_RETURN_NONE;
        }
        coefficients[power] = *(const double *)PyArray_DATA((PyArrayObject *)item);
    }
    PyArrayObject *x = (PyArrayObject *)arguments[1];
    if (PyArray_NDIM(x) == 0) {
        Py_RETURN_NONE;
    }
    PyObject *result = PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(NPY_DOUBLE), PyArray_NDIM(x),
                                            PyArray_DIMS(x), NULL, NULL, 0, NULL);
    if (result == NULL) {
        return NULL;
    }
    npy_intp count = PyArray_SIZE(x);
    NPY_BEGIN_THREADS_DEF;
    NPY_BEGIN_THREADS_THRESHOLDED(count);
    run_polynomial(PyArray_DATA(x), coefficients, powers, PyArray_DATA((PyArrayObject *)result), count);
    NPY_END_THREADS;
    return result;
}

/* An array of float32 or float64 in the other dtype of the two. */
static PyObject *cast(PyObject *Py_UNUSED(module), PyObject *object) {
    int to_double = is_dense(object, NPY_FLOAT);
    if ((!to_double && !is_dense(object, NPY_DOUBLE)) || PyArray_NDIM((PyArrayObject *)object) == 0) {
        Py_RETURN_NONE;
    }
    PyArrayObject *x = (PyArrayObject *)object;
    PyObject *result = PyArray_NewFromDescr(&PyArray_Type, PyArray_DescrFromType(to_double ? NPY_DOUBLE : NPY_FLOAT),
                                            PyArray_NDIM(x), PyArray_DIMS(x), NULL, NULL, 0, NULL);
    if (result == NULL) {
        return NULL;
    }
    npy_intp count = PyArray_SIZE(x);
    NPY_BEGIN_THREADS_DEF;
    NPY_BEGIN_THREADS_THRESHOLDED(count);
    if (to_double) {
        const float *from = PyArray_DATA(x);
        double *to = PyArray_DATA((PyArrayObject *)result);
        for (npy_intp i = 0; i < count; i++) {
            to[i] = (double)from[i];
        }
    }
    else {
        const double *from = PyArray_DATA(x);
        float *to = PyArray_DATA((PyArrayObject *)result);
        for (npy_intp i = 0; i < count; i++) {
            to[i] = (float)from[i];
        }
    }
    NPY_END_THREADS;
    return result;
}

/* Whether all elements are at least the second argument and less than the third; of nan none is. */
static PyObject *are_within(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given) {
    if (given != 3) {
        return PyErr_Format(PyExc_TypeError, "are_within() takes 3 arguments (%zd given)", given);
    }
    if (!is_dense(arguments[0], NPY_DOUBLE) || !PyFloat_CheckExact(arguments[1]) ||
        !PyFloat_CheckExact(arguments[2])) {
        Py_RETURN_NONE;
    }
    const double *x = PyArray_DATA((PyArrayObject *)arguments[0]);
    npy_intp count = PyArray_SIZE((PyArrayObject *)arguments[0]);
    double low = PyFloat_AS_DOUBLE(arguments[1]), high = PyFloat_AS_DOUBLE(arguments[2]);
    int within = 1;
    for (npy_intp i = 0; i < count; i++) {
        within &= x[i] >= low && x[i] < high;
    }
    return PyBool_FromLong(within);
}

static PyMethodDef methods[] = {
    {"unary", (PyCFunction)(void (*)(void))unary, METH_FASTCALL, NULL},
    {"binary", (PyCFunction)(void (*)(void))binary, METH_FASTCALL, NULL},
    {"piecewise", (PyCFunction)(void (*)(void))piecewise, METH_FASTCALL, NULL},
    {"polynomial", (PyCFunction)(void (*)(void))polynomial, METH_FASTCALL, NULL},
    {"cast", cast, METH_O, NULL},
    {"are_within", (PyCFunction)(void (*)(void))are_within, METH_FASTCALL, NULL},
    {"take_along", (PyCFunction)(void (*)(void))take_along, METH_FASTCALL, NULL},
    {"fits_along", (PyCFunction)(void (*)(void))fits_along, METH_FASTCALL, NULL},
    {"put_along", (PyCFunction)(void (*)(void))put_along, METH_FASTCALL, NULL},
    {"add_along", (PyCFunction)(void (*)(void))add_along, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
    if (PyArray_ImportNumPyAPI() < 0 || PyUFunc_ImportUFuncAPI() < 0 || fill_served() < 0 ||
        add_executor(module) < 0) {
        return -1;
    }
    PyObject *listed = PyTuple_New(COUNT);
    if (listed == NULL) {
        return -1;
    }
    for (size_t i = 0; i < COUNT; i++) {
        PyTuple_SET_ITEM(listed, (Py_ssize_t)i, Py_NewRef(ufuncs[i]));
    }
    int failed = PyModule_AddObjectRef(module, "UFUNCS", listed);
    Py_DECREF(listed);
    return failed;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
    /* See Note [Without the global lock]. */
    {Py_mod_gil, Py_MOD_GIL_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "vtgrad._loops",
    .m_doc = "NumPy's inner loops, called directly.",
    .m_size = 0,
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__loops(void) { return PyModuleDef_Init(&definition); }
