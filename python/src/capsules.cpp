// SPDX-License-Identifier: Apache-2.0
#include "capsules.hpp"

#include <cstdint>
#include <string_view>

#include "errors.hpp"

namespace weft::python {

namespace {

constexpr const char* kPlain = "dltensor";
constexpr const char* kVersioned = "dltensor_versioned";
constexpr std::uint32_t kMajor = 1;  // of the layout of versioned tensors

std::string name_of(nb::handle capsule) {
    const char* const name = PyCapsule_GetName(capsule.ptr());
    if (name == nullptr) PyErr_Clear();  // also that of a capsule without a name
    return name == nullptr ? "" : name;
}

/// A versioned tensor begins with its version in every version.
std::uint32_t major_version(nb::handle capsule) {
    return *static_cast<const std::uint32_t*>(PyCapsule_GetPointer(capsule.ptr(), kVersioned));
}

}  // namespace

std::string fault_of(nb::handle capsule) {
    const std::string name = name_of(capsule);
    if (name == kVersioned && major_version(capsule) != kMajor)
        return "a DLPack capsule of an unknown version (got " + std::to_string(major_version(capsule)) +
               ", need " + std::to_string(kMajor) + ")";
    if (name == kPlain || name == kVersioned) return "";
    if (std::string_view(name).starts_with("used_"))
        return "a DLPack capsule can be used once, and this one was; give the array itself";
    return "a capsule that is not one of DLPack (got '" + name + "')";
}

void require_unused(const std::string& argument, nb::handle capsule) {
    if (!PyCapsule_CheckExact(capsule.ptr()))
        refuse_type(argument + ": __dlpack__() gave no capsule (got " +
                    nb::cast<std::string>(capsule.type().attr("__name__")) + ", need a DLPack capsule)");
    if (std::string_view(name_of(capsule)).starts_with("used_"))
        refuse_type(argument +
                    ": __dlpack__() gave a capsule that was used before (need a new capsule from each call)");
    if (const std::string fault = fault_of(capsule); !fault.empty())
        refuse_type(argument + ": __dlpack__() gave " + fault);
}

Exported export_array(const std::string& argument, nb::handle object, bool versioned_first) {
    const nb::object export_to = object.attr("__dlpack__");
    Exported exported;
    for (const bool versioned : {versioned_first, !versioned_first}) try {
            exported.capsule =
                versioned ? export_to(nb::arg("max_version") = nb::make_tuple(kMajor, 0)) : export_to();
            require_unused(argument, exported.capsule);
            return exported;
        } catch (const nb::python_error& error) {
            if (!error.matches(PyExc_Exception)) throw;
            // A library that is older than versions says TypeError, and one whose array must not be written
            // may say BufferError to a consumer that does not know of versions.
            if (!versioned || exported.reason.empty())
                exported.reason = nb::cast<std::string>(nb::str(error.value()));
        }
    return exported;
}

}  // namespace weft::python
