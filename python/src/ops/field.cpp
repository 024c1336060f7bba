// SPDX-License-Identifier: Apache-2.0
// Field: vectors over a finite field.
#include <weft/ops/field.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "buffer.hpp"
#include "calls.hpp"
#include "cuda/cuda.hpp"
#include "devices.hpp"
#include "errors.hpp"
#include "ops/field.hpp"
#include "stream.hpp"

namespace weft::python {

namespace {

/// "n, 4" as a message shows it.
std::string vector_shape(const FieldInfo& info) {
    return info.limbs == 1 ? "any shape" : "(..., " + std::to_string(info.limbs) + ")";
}

}  // namespace

ElementType limb_type(const FieldInfo& info) {
    return info.limb_bytes == 8 ? kUint64 : kUint32;
}

Shape element_shape(const FieldInfo& info) {
    return info.limbs == 1 ? Shape{} : Shape{info.limbs};
}

void require_elements(const char* call, const char* name, const FieldInfo& info, const Shape& shape) {
    if (info.limbs != 1 && (shape.empty() || shape.back() != info.limbs))
        refuse(std::string(call) + ": " + name + ": wrong shape (got " + to_string(shape) + ", need " +
               vector_shape(info) + " for " + std::string(info.name) + ")");
}

Array operand(const char* call, const char* name, const FieldInfo& info, nb::handle object,
              const Place& place) {
    // A cast would change numbers that are negative or not below the modulus.
    Array array = input(call, name, object, {limb_type(info)}, place, Advice::field_array);
    require_elements(call, name, info, array.shape);
    return array;
}

namespace {

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const FieldInfo& info : fields()) all.emplace_back(info.name);
    return all;
}

FieldInfo field_named(const std::string& name) {
    if (const std::optional<Field> field = find_field(name)) return field_info(*field);
    std::string legal;
    for (const std::string& known : names()) legal += (legal.empty() ? "" : ", ") + known;
    refuse("Field: unknown field (got '" + name + "', need one of " + legal + ")");
}

FieldOp op_named(const std::string& name) {
    for (int op = 0; op <= static_cast<int>(FieldOp::inner_product); ++op)
        if (name == weft::to_string(static_cast<FieldOp>(op))) return static_cast<FieldOp>(op);
    refuse("Field: unknown operation (got '" + name + "')");
}

void require_same_shape(const char* call, const Shape& a, const Shape& b) {
    if (a != b)
        refuse(std::string(call) + ": b: wrong shape (got " + to_string(b) + ", need that of a, " +
               to_string(a) + ")");
}

Shape result_shape(const FieldInfo& info, FieldOp op, const Shape& a) {
    return is_reduction(op) ? element_shape(info) : a;
}

nb::any apply(const FieldInfo& info, const std::string& name, nb::handle backend, nb::handle a_object,
              nb::handle b_object, nb::handle scalar_object, nb::handle out_object, bool checked,
              bool montgomery, nb::handle progress) {
    const FieldOp op = op_named(name);
    const std::string call_name = "Field." + name;
    const char* const call = call_name.c_str();
    const Place place = place_of(call, {a_object, b_object, out_object});
    Array a = operand(call, "a", info, a_object, place);
    Array b, scalar;
    if (takes_b(op)) {
        b = operand(call, "b", info, b_object, place);
        require_same_shape(call, a.shape, b.shape);
    }
    if (op == FieldOp::axpy) {
        scalar = input(call, "scalar", scalar_object, {limb_type(info)});
        if (scalar.size != info.limbs)
            refuse(call_name + ": scalar: wrong shape (got " + to_string(scalar.shape) +
                   ", need one element)");
    }
    Array out =
        output_or_new(call, "out", out_object, limb_type(info), result_shape(info, op, a.shape), place);
    const FieldForm form = montgomery ? FieldForm::montgomery : FieldForm::plain;
    nb::any result = out.object;
    if (place.on_cuda()) {
        refuse_on_cuda(
            call, {{"checked", checked}, {"backend", !backend.is_none()}, {"progress", !progress.is_none()}});
        field_on_cuda(place, info.field, op, a, b, scalar, out, {.form = form});
        return result;
    }
    const Where where = where_of(backend);
    FieldHostOptions options{.form = form, .check_values = checked};
    // An inverse takes hundreds of products.
    const std::uint64_t work = (a.bytes() + b.bytes() + out.bytes()) * (op == FieldOp::inverse ? 64 : 1);
    Call run(where, work, progress, out.made_here);
    last_report() =
        run([=, field = info.field, a = std::move(a), b = std::move(b), scalar = std::move(scalar),
             out = std::move(out)](const BatchOptions& batch) mutable {
            options.batch = batch;
            return where([&](auto& on) {
                return field_apply(on, field, op, a, takes_b(op) ? b : ConstHostArray(),
                                   op == FieldOp::axpy ? scalar : ConstHostArray(), out, options);
            });
        });
    return result;
}

void record(const FieldInfo& info, const std::string& name, PyStream& stream, nb::handle a_object,
            nb::handle b_object, nb::handle scalar_object, nb::handle out_object, bool montgomery) {
    const FieldOp op = op_named(name);
    const std::string call_name = "Field." + name;
    const char* const call = call_name.c_str();
    const PyBuffer& a = buffer_of(call, "a", a_object);
    const PyBuffer& out = buffer_of(call, "out", out_object);
    require(call, "a", a, limb_type(info), a.shape);
    require_elements(call, "a", info, a.shape);
    ConstDeviceArray b;
    if (takes_b(op)) {
        const PyBuffer& second = buffer_of(call, "b", b_object);
        require(call, "b", second, limb_type(info), a.shape);
        b = second.array();
    }
    Array scalar;
    if (op == FieldOp::axpy) scalar = input(call, "scalar", scalar_object, {limb_type(info)});
    require(call, "out", out, limb_type(info), result_shape(info, op, a.shape));
    const FieldOptions options{.form = montgomery ? FieldForm::montgomery : FieldForm::plain};
    field_apply(*PyStream::Use(stream), info.field, op, a.array(), b,
                op == FieldOp::axpy ? scalar : ConstHostArray(), out.array(), options);
}

nb::object modulus(const FieldInfo& info) {
    const nb::bytes bytes(reinterpret_cast<const char*>(info.modulus.data()), sizeof(info.modulus));
    return nb::module_::import_("builtins").attr("int").attr("from_bytes")(bytes, "little");
}

}  // namespace

void bind_field(nb::module_& module) {
    module.def("field_names", &names, "The names that Field takes.");
    nb::class_<FieldInfo>(module, "_Field")
        .def(
            "__init__",
            [](FieldInfo* self, const std::string& name) { new (self) FieldInfo(field_named(name)); },
            nb::arg("name"))
        .def_prop_ro("name", [](const FieldInfo& f) { return std::string(f.name); })
        .def_ro("bits", &FieldInfo::bits, "Of the modulus.")
        .def_ro("limbs", &FieldInfo::limbs, "Of an element, least significant first.")
        .def_ro("element_bytes", &FieldInfo::element_bytes)
        .def_prop_ro("_dtype", [](const FieldInfo& f) { return numpy_dtype(limb_type(f)); })
        .def_prop_ro("modulus", &modulus, nb::for_getter(nb::sig("def modulus(self, /) -> int")))
        .def("_apply", &apply, nb::arg("name"), nb::arg("backend").none(), nb::arg("a").none(),
             nb::arg("b").none(), nb::arg("scalar").none(), nb::arg("out").none(), nb::arg("checked"),
             nb::arg("montgomery"), nb::arg("progress").none())
        .def("_record", &record, nb::arg("name"), nb::arg("stream"), nb::arg("a").none(), nb::arg("b").none(),
             nb::arg("scalar").none(), nb::arg("out").none(), nb::arg("montgomery"));
}

}  // namespace weft::python
