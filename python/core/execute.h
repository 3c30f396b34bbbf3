// SPDX-License-Identifier: Apache-2.0
// python/core/execute.h - the hot call: arrays of Python in, wavetile_plan_execute out.
#pragma once

#include "python/core/python.h"

namespace wt::python {

// execute(plan, arrays, stream, workspace): arrays holds one array or None a role; stream is an address, or None for
// the current one of torch and else the default; workspace is an array, an address with its bytes, or None: on the host
// it is then allocated for the time of the call.
PyObject* execute(PyObject* module, PyObject* const* arguments, Py_ssize_t count);

// copy_array(plan, role, array, address, into_device): copies an array that execute would take to or from memory of the
// simulator, which is the host's.
PyObject* copy_array(PyObject* module, PyObject* arguments);

}  // namespace wt::python
