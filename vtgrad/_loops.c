/* NumPy's inner loops, called directly. `_loops.pyi` has the types, and `storage/loops.py` the reasons:
   Note [Loops in C], Note [The same loop as NumPy's], Note [Memory of a loop]. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* An extension built with these headers loads with NumPy 2.0 and all later versions of 2. */
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#include <fenv.h>
#include <math.h>
#include <string.h>

#define MOST_INPUTS 2
/* Of integers up to this value float32 holds each, so a conversion does not round. */
#define SMALL_INTEGER 16777216L

/* The ufuncs that are served. A result has the dtype of the operands, and no loop raises an error, as those
   of integer powers do. `storage/loops.py` has the list too. */
static const char *const NAMES[] = {
    "absolute", "add",   "arccos", "arccosh",     "arcsin",   "arcsinh", "arctan",  "arctan2", "arctanh",
    "ceil",     "cos",   "cosh",   "exp",         "exp2",     "expm1",   "floor",   "fmax",    "fmin",
    "hypot",    "log",   "log10",  "log1p",       "log2",     "maximum", "minimum", "multiply",
    "negative", "rint",  "sign",   "sin",         "sinh",     "sqrt",    "square",  "subtract", "tan",
    "tanh",     "true_divide", "trunc",
};
#define COUNT (sizeof NAMES / sizeof *NAMES)

/* What the ufunc's table has for operands and result of one dtype. */
typedef struct {
    PyUFuncGenericFunction function;
    void *data;
} Loop;

typedef struct {
    PyObject *ufunc;
    int inputs;
    Loop loops[NPY_CLONGDOUBLE + 1];
} Served;

/* Filled once, at the first import in a process, and only read afterwards. */
static Served served[COUNT];
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
        entry->ufunc = found; /* kept until the process ends */
        entry->inputs = ufunc->nin;
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
        if (served[i].ufunc == ufunc) {
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

/* The ufunc, its operands, and `out` or None. */
static PyObject *call(PyObject *const *objects, int inputs, PyObject *given) {
    const Served *entry = entry_of(objects[0], inputs);
    if (entry == NULL) {
        Py_RETURN_NONE;
    }
    objects++;
    PyArrayObject *like = shaped(objects, inputs);
    if (like == NULL) {
        Py_RETURN_NONE;
    }
    int type = PyArray_TYPE(like);
    npy_intp count = PyArray_SIZE(like);
    if (count == 0 || !is_served_type(type) || entry->loops[type].function == NULL) {
        Py_RETURN_NONE;
    }
    Operand operands[MOST_INPUTS + 1];
    Number numbers[MOST_INPUTS];
    for (int i = 0; i < inputs; i++) {
        if (!read_operand(objects[i], like, &numbers[i], &operands[i])) {
            Py_RETURN_NONE;
        }
    }
    if (given != Py_None) {
        if (!read_out(given, like, operands, inputs, count)) {
            Py_RETURN_NONE;
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

static PyMethodDef methods[] = {
    {"unary", (PyCFunction)(void (*)(void))unary, METH_FASTCALL, NULL},
    {"binary", (PyCFunction)(void (*)(void))binary, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
    if (PyArray_ImportNumPyAPI() < 0 || PyUFunc_ImportUFuncAPI() < 0 || fill_served() < 0) {
        return -1;
    }
    PyObject *ufuncs = PyTuple_New(COUNT);
    if (ufuncs == NULL) {
        return -1;
    }
    for (size_t i = 0; i < COUNT; i++) {
        PyTuple_SET_ITEM(ufuncs, (Py_ssize_t)i, Py_NewRef(served[i].ufunc));
    }
    int failed = PyModule_AddObjectRef(module, "UFUNCS", ufuncs);
    Py_DECREF(ufuncs);
    return failed;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
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
