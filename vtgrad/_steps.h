/* What `_loops.c` takes from `_steps.c`. */

#ifndef VTGRAD_STEPS_H
#define VTGRAD_STEPS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Adds the class `Executor` to the module; -1 after an error. */
int add_executor(PyObject *module);

#endif
