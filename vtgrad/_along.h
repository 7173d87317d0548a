/* What `_loops.c` takes from `_along.c`. */

#ifndef VTGRAD_ALONG_H
#define VTGRAD_ALONG_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Functions of the module; `_loops.pyi` has their types. */
PyObject *take_along(PyObject *module, PyObject *const *arguments, Py_ssize_t given);
PyObject *fits_along(PyObject *module, PyObject *const *arguments, Py_ssize_t given);
PyObject *put_along(PyObject *module, PyObject *const *arguments, Py_ssize_t given);
PyObject *add_along(PyObject *module, PyObject *const *arguments, Py_ssize_t given);

#endif
