// SPDX-License-Identifier: Apache-2.0
// weft's exceptions as those of weftgpu/_errors.py.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

namespace weft::python {

/// Makes exceptions of weft, in functions of this module, the classes of weftgpu/_errors.py.
void translate_errors();

/// Registers a module once in a process: types that are registered again end it. `imported` belongs to the
/// module. Errors: std::runtime_error, which an import shows as ImportError - it was imported before, by
/// another interpreter or before its entries of sys.modules were deleted.
void require_first_import(bool& imported);

/// Throws a TypeError: for arguments that are not an array, or not of a type that the call takes.
[[noreturn]] void refuse_type(const std::string& text);
/// Throws weftgpu.InvalidArgument.
[[noreturn]] void refuse(const std::string& text);

}  // namespace weft::python
