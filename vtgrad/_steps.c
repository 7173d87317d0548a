/* Steps of a recorded program, run one after the other: loops of ufuncs, copies, and calls of Python.
   `_loops.pyi` has the types, and `jit/executor.py` the reasons: Note [Steps in C]. */

#include "_steps.h"

/* The tables of NumPy's functions are those of `_loops.c`. */
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#define PY_ARRAY_UNIQUE_SYMBOL vtgrad_array_api
#define PY_UFUNC_UNIQUE_SYMBOL vtgrad_ufunc_api
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#include <fenv.h>
#include <string.h>

#define MOST_OPERANDS 3
/* Of the loops around NumPy's. */
#define MOST_OUTER 8
/* Of one operand of a generalised ufunc. */
#define MOST_CORE 2
#define MOST_STEPS (MOST_OPERANDS * (1 + MOST_CORE))
/* Sizes that a generalised ufunc has names for. */
#define MOST_SIZES 4
/* The global lock is released for a stretch of steps with more elements than this. */
#define LONG_WORK 20000
/* Signals are looked for after a stretch, which ends at the latest after so many steps or elements. */
#define STRETCH_STEPS 4096
#define STRETCH_WORK 50000000

/* How a step is done; many steps have the same shape. */
typedef struct {
    PyUFuncGenericFunction function; /* NULL for a copy */
    void *data;
    npy_intp item; /* the bytes of an element that is copied */
    int operands;
    int outer;
    npy_intp work;
    npy_intp sizes[MOST_OUTER]; /* of the loops around, the innermost first */
    npy_intp outer_steps[MOST_OPERANDS][MOST_OUTER];
    npy_intp dimensions[1 + MOST_SIZES];
    npy_intp steps[MOST_STEPS];
    /* The bytes that are reached from where an operand begins. */
    npy_intp low[MOST_OPERANDS];
    npy_intp high[MOST_OPERANDS];
} Form;

typedef struct {
    Py_ssize_t form; /* -1 for a call of Python */
    union {
        char *memory[MOST_OPERANDS];
        Py_ssize_t call;
    } at;
} Step;

/* Steps with no call of Python between them, or one such call. */
typedef struct {
    Py_ssize_t first;
    Py_ssize_t count;
    npy_intp work;
} Stretch;

typedef struct {
    PyObject_HEAD
    PyObject *arena; /* an array, which has the memory of all operands */
    PyObject *calls; /* a list of functions and their arguments, in turns */
    Form *forms;
    Py_ssize_t form_count, form_room;
    Step *steps;
    Py_ssize_t step_count, step_room;
    Stretch *stretches;
    Py_ssize_t stretch_count, stretch_room;
    int running;
} Executor;

/* Room for one more element; 0 after an error. */
static int make_room(void **elements, Py_ssize_t count, Py_ssize_t *room, size_t size) {
    if (count < *room) {
        return 1;
    }
    Py_ssize_t more = *room == 0 ? 16 : *room * 2;
    void *found = PyMem_Realloc(*elements, (size_t)more * size);
    if (found == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    *elements = found;
    *room = more;
    return 1;
}

static PyObject *executor_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *arena;
    if ((keywords != NULL && PyDict_GET_SIZE(keywords)) || !PyArg_ParseTuple(arguments, "O:Executor", &arena)) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "Executor() takes no keyword arguments");
        }
        return NULL;
    }
    if (!PyArray_CheckExact(arena) || PyArray_TYPE((PyArrayObject *)arena) != NPY_UBYTE ||
        PyArray_NDIM((PyArrayObject *)arena) != 1 ||
        !PyArray_CHKFLAGS((PyArrayObject *)arena, NPY_ARRAY_CARRAY)) {
        PyErr_SetString(PyExc_TypeError, "the arena must be a writeable contiguous array of bytes");
        return NULL;
    }
    Executor *self = (Executor *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->arena = Py_NewRef(arena);
    self->calls = PyList_New(0);
    if (self->calls == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int executor_traverse(PyObject *object, visitproc visit, void *arg) {
    Executor *self = (Executor *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->arena);
    Py_VISIT(self->calls);
    return 0;
}

static int executor_clear(PyObject *object) {
    Executor *self = (Executor *)object;
    self->step_count = self->stretch_count = 0;
    Py_CLEAR(self->calls);
    Py_CLEAR(self->arena);
    return 0;
}

static void executor_dealloc(PyObject *object) {
    Executor *self = (Executor *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    executor_clear(object);
    PyMem_Free(self->forms);
    PyMem_Free(self->steps);
    PyMem_Free(self->stretches);
    type->tp_free(object);
    Py_DECREF(type);
}

/* Reads integers of a tuple; their number, or -1 after an error. */
static int read_sizes(PyObject *tuple, npy_intp *sizes, int most, const char *name) {
    if (!PyTuple_CheckExact(tuple) || PyTuple_GET_SIZE(tuple) > most) {
        PyErr_Format(PyExc_ValueError, "%s must be a tuple of at most %d integers", name, most);
        return -1;
    }
    int count = (int)PyTuple_GET_SIZE(tuple);
    for (int i = 0; i < count; i++) {
        sizes[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, i));
        if (sizes[i] == -1 && PyErr_Occurred()) {
            return -1;
        }
    }
    return count;
}

/* The steps of each operand, one tuple for each. */
static int read_steps(PyObject *tuple, npy_intp *steps, int operands, int stride, int count, const char *name) {
    if (!PyTuple_CheckExact(tuple) || PyTuple_GET_SIZE(tuple) != operands) {
        PyErr_Format(PyExc_ValueError, "%s must have a tuple for each operand", name);
        return -1;
    }
    for (int k = 0; k < operands; k++) {
        int found = read_sizes(PyTuple_GET_ITEM(tuple, k), steps + k * stride, stride, name);
        if (found < 0) {
            return -1;
        }
        if (found != count) {
            PyErr_Format(PyExc_ValueError, "%s must have %d integers for each operand", name, count);
            return -1;
        }
    }
    return 0;
}

/* An operand reaches from its beginning as far as this. */
static void reach(Form *form, int operand, npy_intp size, npy_intp step) {
    npy_intp far = step * (size - 1);
    if (far < 0) {
        form->low[operand] += far;
    }
    else {
        form->high[operand] += far;
    }
}

static int are_positive(const npy_intp *sizes, int count) {
    for (int i = 0; i < count; i++) {
        if (sizes[i] < 1) {
            PyErr_SetString(PyExc_ValueError, "sizes must be positive");
            return 0;
        }
    }
    return 1;
}

/* The loops around, which all forms have: sizes, and the steps of each operand. */
static int read_outer(Form *form, PyObject *sizes, PyObject *steps) {
    form->outer = read_sizes(sizes, form->sizes, MOST_OUTER, "sizes");
    if (form->outer < 0 || !are_positive(form->sizes, form->outer) ||
        read_steps(steps, form->outer_steps[0], form->operands, MOST_OUTER, form->outer, "steps") < 0) {
        return -1;
    }
    for (int i = 0; i < form->outer; i++) {
        form->work *= form->sizes[i];
        for (int k = 0; k < form->operands; k++) {
            reach(form, k, form->sizes[i], form->outer_steps[k][i]);
        }
    }
    return 0;
}

/* Long stretches run without the lock, and read what another thread would move. */
static int is_idle(const Executor *self) {
    if (self->running || self->arena == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the executor is running");
        return 0;
    }
    return 1;
}

static PyObject *added_form(Executor *self, const Form *form) {
    if (!is_idle(self) || !make_room((void **)&self->forms, self->form_count, &self->form_room, sizeof *form)) {
        return NULL;
    }
    self->forms[self->form_count] = *form;
    return PyLong_FromSsize_t(self->form_count++);
}

/* copy_form(item, sizes, steps, count, inner): copies elements of `item` bytes. */
static PyObject *copy_form(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    if (given != 5) {
        return PyErr_Format(PyExc_TypeError, "copy_form() takes 5 arguments (%zd given)", given);
    }
    Form form;
    memset(&form, 0, sizeof form);
    form.operands = 2;
    form.item = PyLong_AsSsize_t(arguments[0]);
    form.dimensions[0] = PyLong_AsSsize_t(arguments[3]);
    if (PyErr_Occurred() || !are_positive(&form.item, 1) || !are_positive(form.dimensions, 1)) {
        return NULL;
    }
    form.work = form.dimensions[0];
    form.high[0] = form.high[1] = form.item;
    if (read_outer(&form, arguments[1], arguments[2]) < 0 ||
        read_sizes(arguments[4], form.steps, 2, "inner") != 2) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "inner must have two integers");
        }
        return NULL;
    }
    reach(&form, 0, form.dimensions[0], form.steps[0]);
    reach(&form, 1, form.dimensions[0], form.steps[1]);
    return added_form((Executor *)object, &form);
}

/* The loop of a ufunc for these types; 0 if there is none that needs nothing of Python. */
static int find_loop(Form *form, PyUFuncObject *ufunc, PyObject *types) {
    npy_intp wanted[MOST_OPERANDS];
    int count = read_sizes(types, wanted, MOST_OPERANDS, "types");
    if (count != ufunc->nargs) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "a type for each operand is needed");
        }
        return 0;
    }
    form->operands = count;
    for (int k = 0; k < count; k++) {
        if (!PyTypeNum_ISNUMBER((int)wanted[k]) && wanted[k] != NPY_BOOL) {
            PyErr_SetString(PyExc_ValueError, "only loops over numbers are called");
            return 0;
        }
        PyArray_Descr *descr = PyArray_DescrFromType((int)wanted[k]);
        form->high[k] = PyDataType_ELSIZE(descr);
        Py_DECREF(descr);
    }
    for (int row = 0; row < ufunc->ntypes; row++) {
        int same = 1;
        for (int k = 0; k < count; k++) {
            same = same && ufunc->types[row * count + k] == wanted[k];
        }
        if (same && ufunc->functions[row] != NULL) {
            form->function = ufunc->functions[row];
            form->data = ufunc->data == NULL ? NULL : ufunc->data[row];
            return 1;
        }
    }
    PyErr_SetString(PyExc_ValueError, "the ufunc has no loop for these types");
    return 0;
}

/* What NumPy gives to the loop: sizes, and steps of operands and of their core dimensions. */
static int read_inner(Form *form, PyUFuncObject *ufunc, PyObject *dimensions, PyObject *steps) {
    int names = ufunc->core_enabled ? ufunc->core_num_dim_ix : 0, wanted = form->operands;
    for (int k = 0; ufunc->core_enabled && k < form->operands; k++) {
        wanted += ufunc->core_num_dims[k];
    }
    if (names > MOST_SIZES || wanted > MOST_STEPS) {
        PyErr_SetString(PyExc_ValueError, "the ufunc has too many core dimensions");
        return 0;
    }
    int sizes = read_sizes(dimensions, form->dimensions, 1 + MOST_SIZES, "dimensions");
    int found = sizes < 0 ? -1 : read_sizes(steps, form->steps, MOST_STEPS, "inner");
    if (sizes != 1 + names || found != wanted) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "sizes or steps of the loop do not fit the ufunc");
        }
        return 0;
    }
    if (!are_positive(form->dimensions, sizes)) {
        return 0;
    }
    form->work = 1;
    for (int i = 0; i < sizes; i++) {
        form->work *= form->dimensions[i];
    }
    int next = form->operands;
    for (int k = 0; k < form->operands; k++) {
        reach(form, k, form->dimensions[0], form->steps[k]);
        for (int i = 0; ufunc->core_enabled && i < ufunc->core_num_dims[k]; i++) {
            int name = ufunc->core_dim_ixs[ufunc->core_offsets[k] + i];
            reach(form, k, form->dimensions[1 + name], form->steps[next++]);
        }
    }
    return 1;
}

/* loop_form(ufunc, types, sizes, steps, dimensions, inner): calls a loop of the ufunc. */
static PyObject *loop_form(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    if (given != 6) {
        return PyErr_Format(PyExc_TypeError, "loop_form() takes 6 arguments (%zd given)", given);
    }
    if (!PyObject_TypeCheck(arguments[0], &PyUFunc_Type)) {
        return PyErr_Format(PyExc_TypeError, "loop_form() takes a ufunc, not %R", arguments[0]);
    }
    PyUFuncObject *ufunc = (PyUFuncObject *)arguments[0];
    Form form;
    memset(&form, 0, sizeof form);
    if (!find_loop(&form, ufunc, arguments[1]) || !read_inner(&form, ufunc, arguments[4], arguments[5]) ||
        read_outer(&form, arguments[2], arguments[3]) < 0) {
        return NULL;
    }
    return added_form((Executor *)object, &form);
}

/* Adds to the stretch before, or begins another one. */
static int extend_stretches(Executor *self, npy_intp work, int is_call) {
    Stretch *last = self->stretch_count ? &self->stretches[self->stretch_count - 1] : NULL;
    if (last != NULL && !is_call && last->work >= 0 && last->count < STRETCH_STEPS && last->work < STRETCH_WORK) {
        last->count++;
        last->work += work;
        return 1;
    }
    if (!make_room((void **)&self->stretches, self->stretch_count, &self->stretch_room, sizeof *last)) {
        return 0;
    }
    /* A call of Python has no work that could be counted. */
    self->stretches[self->stretch_count++] = (Stretch){self->step_count, 1, is_call ? -1 : work};
    return 1;
}

static int can_add(Executor *self) {
    return is_idle(self) && make_room((void **)&self->steps, self->step_count, &self->step_room, sizeof(Step));
}

/* add(form, offsets): a step whose operands begin at these bytes of the arena. */
static PyObject *add(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    Executor *self = (Executor *)object;
    if (given != 2) {
        return PyErr_Format(PyExc_TypeError, "add() takes 2 arguments (%zd given)", given);
    }
    if (!can_add(self)) {
        return NULL;
    }
    Py_ssize_t number = PyLong_AsSsize_t(arguments[0]);
    if (number < 0 || number >= self->form_count) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_IndexError, "there is no form of this number");
        }
        return NULL;
    }
    const Form *form = &self->forms[number];
    npy_intp offsets[MOST_OPERANDS];
    int count = read_sizes(arguments[1], offsets, MOST_OPERANDS, "offsets");
    if (count != form->operands) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "an offset for each operand is needed");
        }
        return NULL;
    }
    Step step = {.form = number};
    PyArrayObject *arena = (PyArrayObject *)self->arena;
    for (int k = 0; k < count; k++) {
        if (offsets[k] + form->low[k] < 0 || offsets[k] + form->high[k] > PyArray_DIM(arena, 0)) {
            PyErr_SetString(PyExc_IndexError, "an operand reaches beyond the arena");
            return NULL;
        }
        step.at.memory[k] = PyArray_BYTES(arena) + offsets[k];
    }
    if (!extend_stretches(self, form->work, 0)) {
        return NULL;
    }
    self->steps[self->step_count++] = step;
    Py_RETURN_NONE;
}

/* call(function, arguments): a step that calls Python. */
static PyObject *add_call(PyObject *object, PyObject *const *arguments, Py_ssize_t given) {
    Executor *self = (Executor *)object;
    if (given != 2 || !PyCallable_Check(arguments[0]) || !PyTuple_CheckExact(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "call() takes a function and a tuple");
        return NULL;
    }
    if (!can_add(self)) {
        return NULL;
    }
    Step step = {.form = -1};
    step.at.call = PyList_GET_SIZE(self->calls);
    if (PyList_Append(self->calls, arguments[0]) < 0 || PyList_Append(self->calls, arguments[1]) < 0 ||
        !extend_stretches(self, 0, 1)) {
        return NULL;
    }
    self->steps[self->step_count++] = step;
    Py_RETURN_NONE;
}

#define COPY(size)                                                                                         \
    for (npy_intp i = 0; i < count; i++, to += to_step, from += from_step) {                                \
        memcpy(to, from, size);                                                                            \
    }

static void copy_elements(const Form *form, char *to, const char *from) {
    npy_intp count = form->dimensions[0], to_step = form->steps[0], from_step = form->steps[1];
    if (to_step == form->item && from_step == form->item) {
        memmove(to, from, (size_t)(count * form->item));
        return;
    }
    if (to == from && to_step == from_step) {
        return;
    }
    /* Sizes that the compiler knows are single moves. */
    switch (form->item) {
    case 1:
        COPY(1)
        break;
    case 2:
        COPY(2)
        break;
    case 4:
        COPY(4)
        break;
    case 8:
        COPY(8)
        break;
    case 16:
        COPY(16)
        break;
    default:
        COPY((size_t)form->item)
    }
}

static void run_inner(const Form *form, char *const *memory) {
    if (form->function == NULL) {
        copy_elements(form, memory[0], memory[1]);
        return;
    }
    char *operands[MOST_OPERANDS] = {memory[0], memory[1], memory[2]};
    form->function(operands, form->dimensions, form->steps, form->data);
}

static void run_nest(const Form *form, char *const *start) {
    npy_intp index[MOST_OUTER] = {0};
    char *memory[MOST_OPERANDS] = {NULL};
    memcpy(memory, start, (size_t)form->operands * sizeof *memory);
    for (;;) {
        run_inner(form, memory);
        int i = 0;
        for (; i < form->outer; i++) {
            int ends = ++index[i] == form->sizes[i];
            for (int k = 0; k < form->operands; k++) {
                memory[k] += ends ? -form->outer_steps[k][i] * (form->sizes[i] - 1) : form->outer_steps[k][i];
            }
            if (!ends) {
                break;
            }
            index[i] = 0;
        }
        if (i == form->outer) {
            return;
        }
    }
}

/* The steps of a stretch. It does not touch anything of Python's. */
static void run_stretch(const Executor *self, const Stretch *stretch) {
    const Step *step = self->steps + stretch->first;
    for (const Step *end = step + stretch->count; step < end; step++) {
        const Form *form = &self->forms[step->form];
        if (form->outer) {
            run_nest(form, step->at.memory);
        }
        else {
            run_inner(form, step->at.memory);
        }
    }
    /* The loops have set these; no warning is given. */
    const int flags = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID;
    if (fetestexcept(flags)) {
        feclearexcept(flags);
    }
}

static int run_call(const Executor *self, const Step *step) {
    PyObject *function = PyList_GET_ITEM(self->calls, step->at.call);
    PyObject *result = PyObject_Call(function, PyList_GET_ITEM(self->calls, step->at.call + 1), NULL);
    if (result == NULL) {
        return 0;
    }
    Py_DECREF(result);
    return 1;
}

/* All stretches; 0 after an error. */
static int run_stretches(const Executor *self) {
    for (Py_ssize_t i = 0; i < self->stretch_count; i++) {
        const Stretch *stretch = &self->stretches[i];
        if (stretch->work < 0) {
            if (!run_call(self, &self->steps[stretch->first])) {
                return 0;
            }
            continue;
        }
        if (stretch->work > LONG_WORK) {
            Py_BEGIN_ALLOW_THREADS;
            run_stretch(self, stretch);
            Py_END_ALLOW_THREADS;
        }
        else {
            run_stretch(self, stretch);
        }
        if (PyErr_CheckSignals() < 0) {
            return 0;
        }
    }
    return 1;
}

static PyObject *run(PyObject *object, PyObject *Py_UNUSED(none)) {
    Executor *self = (Executor *)object;
    if (self->running) {
        PyErr_SetString(PyExc_RuntimeError, "the executor is running");
        return NULL;
    }
    self->running = 1;
    Py_INCREF(self);
    int done = run_stretches(self);
    self->running = 0;
    Py_DECREF(self);
    if (!done) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef executor_methods[] = {
    {"loop_form", (PyCFunction)(void (*)(void))loop_form, METH_FASTCALL, NULL},
    {"copy_form", (PyCFunction)(void (*)(void))copy_form, METH_FASTCALL, NULL},
    {"add", (PyCFunction)(void (*)(void))add, METH_FASTCALL, NULL},
    {"call", (PyCFunction)(void (*)(void))add_call, METH_FASTCALL, NULL},
    {"run", run, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot executor_slots[] = {
    {Py_tp_new, executor_new},
    {Py_tp_traverse, executor_traverse},
    {Py_tp_clear, executor_clear},
    {Py_tp_dealloc, executor_dealloc},
    {Py_tp_methods, executor_methods},
    {Py_tp_doc, "Steps of a recorded program, on the memory of one array."},
    {0, NULL},
};

static PyType_Spec executor_spec = {
    .name = "vtgrad._loops.Executor",
    .basicsize = sizeof(Executor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = executor_slots,
};

int add_executor(PyObject *module) {
    PyObject *type = PyType_FromModuleAndSpec(module, &executor_spec, NULL);
    if (type == NULL) {
        return -1;
    }
    int failed = PyModule_AddObjectRef(module, "Executor", type);
    Py_DECREF(type);
    return failed;
}
