// SPDX-License-Identifier: Apache-2.0
// Capsules of DLPack: each has its tensor until one consumer takes it. A library that gives the same capsule
// twice would have two consumers free one tensor, so a capsule is looked at before it is taken. nanobind
// marks those as used that it gets itself, but not those that it asks an array for.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

namespace weft::python {

namespace nb = nanobind;

/// Errors: TypeError - what __dlpack__() of an argument gave is no capsule, was used before, or has a layout
/// of another major version.
void require_unused(const std::string& argument, nb::handle capsule);

/// What is wrong with a capsule that the caller gave in place of an array.
std::string fault_of(nb::handle capsule);

/// What an array in host memory exports.
struct Exported {
    nb::object capsule;  ///< not valid: the array does not give its memory away
    std::string reason;  ///< for that, as its library says it
};
/// Asks for a capsule with a version, which says whether the memory may be written, first or last. Errors: as
/// require_unused; exceptions of Python that are no Exception, such as KeyboardInterrupt.
Exported export_array(const std::string& argument, nb::handle object, bool versioned_first);

}  // namespace weft::python
