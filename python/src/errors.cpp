// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <exception>
#include <stdexcept>
#include <utility>

#include <weft/error.hpp>
#include <weft/ops/encode_error.hpp>

namespace nb = nanobind;

namespace weft::python {

namespace {

const char* class_of(Errc code) {
    switch (code) {
        case Errc::invalid_argument:
        case Errc::invalid_shader:
            return "InvalidArgument";
        case Errc::no_loader:
        case Errc::no_device:
        case Errc::unsupported:
            return "Unavailable";
        case Errc::out_of_memory:
            return "OutOfMemory";
        case Errc::device_lost:
            return "DeviceLost";
        case Errc::cancelled:
            return "Cancelled";
        case Errc::io:
        case Errc::driver:
            break;
    }
    return "Error";
}

void raise(const char* name, const nb::tuple& arguments) {
    const nb::object type = nb::module_::import_("weftgpu._errors").attr(name);
    PyErr_SetObject(type.ptr(), type(*arguments).ptr());
}

nb::list failures_of(const EncodeError& error) {
    nb::list failures;
    for (const EncodeFailure& failure : error.failures())
        failures.append(nb::make_tuple(failure.sample, failure.position, to_string(failure.fault)));
    return failures;
}

}  // namespace

void require_first_import(bool& imported) {
    if (std::exchange(imported, true))
        throw std::runtime_error(
            "weftgpu: was imported before in this process (need one import, by one interpreter; keep its "
            "modules in sys.modules)");
}

void translate_errors() {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const EncodeError& e) {
            raise("EncodeError",
                  nb::make_tuple(e.what(), to_string(e.code()), e.native_code(), failures_of(e)));
        } catch (const Error& e) {
            raise(class_of(e.code()), nb::make_tuple(e.what(), to_string(e.code()), e.native_code()));
        }
    });
}

void refuse_type(const std::string& text) {
    throw nb::type_error(text.c_str());
}

void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

}  // namespace weft::python
