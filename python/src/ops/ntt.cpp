// SPDX-License-Identifier: Apache-2.0
// Field: number-theoretic transforms, low-degree extensions and products of polynomials.
#include <weft/ops/ntt.hpp>

#include <bit>
#include <utility>

#include <nanobind/stl/string.h>

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

/// What Python says about a transform.
struct Transform {
    std::string name;          // "ntt", "lde"
    std::uint32_t blowup = 0;  // of lde; 0: a transform
    bool inverse = false, montgomery = false;
    NttOrder order = NttOrder::nn;
    int axis = -1;
    Array coset, root;  // without data: not given

    std::string call() const { return "Field." + name; }
    NttDirection direction() const { return inverse ? NttDirection::inverse : NttDirection::forward; }
    FieldForm form() const { return montgomery ? FieldForm::montgomery : FieldForm::plain; }
};

/// One element in host memory.
Array scalar_of(const char* call, const char* name, const FieldInfo& info, nb::handle object) {
    if (object.is_none()) return {};
    Array scalar = input(call, name, object, {limb_type(info)});
    if (scalar.size != info.limbs)
        refuse(std::string(call) + ": " + name + ": wrong shape (got " + to_string(scalar.shape) +
               ", need one element)");
    return scalar;
}

NttOrder order_named(const std::string& call, const std::string& name) {
    for (const NttOrder order : {NttOrder::nn, NttOrder::nr, NttOrder::rn})
        if (name == weft::to_string(order)) return order;
    refuse(call + ": order: no such order (got '" + name + "', need 'nn', 'nr' or 'rn')");
}

Transform transform_of(const FieldInfo& info, const std::string& name, bool inverse, std::uint32_t blowup,
                       const std::string& order, int axis, nb::handle coset, nb::handle root,
                       bool montgomery) {
    Transform t{.name = name, .blowup = blowup, .inverse = inverse, .montgomery = montgomery, .axis = axis};
    const std::string call = t.call();
    t.order = order_named(call, order);
    t.coset = scalar_of(call.c_str(), "coset", info, coset);
    t.root = scalar_of(call.c_str(), "root", info, root);
    return t;
}

template <class Options>
Options options_of(const Transform& t) {
    Options options;
    options.order = t.order;
    options.form = t.form();
    if (t.coset.data != nullptr) options.coset = t.coset;
    if (t.root.data != nullptr) options.root = t.root;
    return options;
}

/// The transforms along an axis of an array, and the shape of the result.
struct Lie {
    NttShape shape;
    Shape out;
};
Lie lie_of(const FieldInfo& info, const Transform& t, const Shape& x) {
    const std::string call = t.call();
    require_elements(call.c_str(), "x", info, x);
    const int axes = static_cast<int>(x.size()) - (info.limbs == 1 ? 0 : 1);
    const int at = t.axis < 0 ? t.axis + axes : t.axis;
    if (axes == 0) refuse(call + ": x: one element (got shape " + to_string(x) + ", need a vector)");
    if (at != 0 && at != axes - 1)
        refuse(call + ": axis: neither the first nor the last one of x (got " + std::to_string(t.axis) +
               " of " + std::to_string(axes) +
               " axes of elements, need 0 or -1; write numpy.moveaxis and numpy.ascontiguousarray)");
    const auto axis = static_cast<std::size_t>(at);
    const std::size_t n = x[axis];
    if (n < 2 || !std::has_single_bit(n))
        refuse(call + ": x: no size of a transform (got " + std::to_string(n) + " elements along axis " +
               std::to_string(axis) + " of " + to_string(x) +
               ", need a power of two from 2 on; pad with zeros)");
    Lie lie{{}, x};
    lie.shape.log_size = static_cast<std::uint32_t>(std::countr_zero(n));
    lie.shape.layout = at == axes - 1 ? NttLayout::rows : NttLayout::columns;
    for (std::size_t i = 0; i < static_cast<std::size_t>(axes); ++i)
        if (i != axis) lie.shape.batch *= x[i];
    if (t.blowup != 0) lie.out[axis] *= t.blowup;
    return lie;
}

nb::any apply(const FieldInfo& info, const std::string& name, nb::handle backend, nb::handle x_object,
              nb::handle out_object, bool inverse, std::uint32_t blowup, const std::string& order, int axis,
              nb::handle coset, nb::handle root, bool checked, bool montgomery, nb::handle progress) {
    Transform t = transform_of(info, name, inverse, blowup, order, axis, coset, root, montgomery);
    const std::string call = t.call();
    const Place place = place_of(call.c_str(), {x_object, out_object});
    if (place.on_cuda())
        refuse(call + ": x: on a CUDA device (need an array in host memory, or a Buffer with a stream)");
    Array x = operand(call.c_str(), "x", info, x_object, place);
    const Lie lie = lie_of(info, t, x.shape);
    Array out = output_or_new(call.c_str(), "out", out_object, limb_type(info), lie.out, place);
    nb::any result = out.object;
    const Where where = where_of(backend);
    // A transform takes a product or so for each bit of its size.
    const std::uint64_t work = (x.bytes() + out.bytes()) * lie.shape.log_size;
    Call run(where, work, progress, out.made_here);
    last_report() = run([=, field = info.field, t = std::move(t), x = std::move(x),
                         out = std::move(out)](const BatchOptions& batch) {
        auto options = options_of<NttHostOptions>(t);
        options.check_values = checked;
        options.batch = batch;
        return where([&](auto& on) {
            if (t.blowup != 0) return ntt_extend(on, field, x, out, lie.shape, t.blowup, options);
            return ntt(on, field, t.direction(), x, out, lie.shape, options);
        });
    });
    return result;
}

void record(const FieldInfo& info, const std::string& name, PyStream& stream, nb::handle x_object,
            nb::handle out_object, bool inverse, std::uint32_t blowup, const std::string& order, int axis,
            nb::handle coset, nb::handle root, bool montgomery) {
    const Transform t = transform_of(info, name, inverse, blowup, order, axis, coset, root, montgomery);
    const std::string call = t.call();
    const PyBuffer& x = buffer_of(call.c_str(), "x", x_object);
    const PyBuffer& out = buffer_of(call.c_str(), "out", out_object);
    require(call.c_str(), "x", x, limb_type(info), x.shape);
    const Lie lie = lie_of(info, t, x.shape);
    require(call.c_str(), "out", out, limb_type(info), lie.out);
    const auto options = options_of<NttOptions>(t);
    const PyStream::Use use(stream);
    if (t.blowup != 0)
        ntt_extend(*use, info.field, x.array(), out.array(), lie.shape, t.blowup, options);
    else
        ntt(*use, info.field, t.direction(), x.array(), out.array(), lie.shape, options);
}

/// The shape of a product of polynomials.
Shape product_shape(const char* call, const FieldInfo& info, const Shape& a, const Shape& b) {
    const std::size_t axes = info.limbs == 1 ? 1 : 2;
    const auto check = [&](const char* name, const Shape& shape) {
        require_elements(call, name, info, shape);
        if (shape.size() != axes || shape[0] == 0)
            refuse(std::string(call) + ": " + name + ": no polynomial (got shape " + to_string(shape) +
                   ", need (n" + (axes == 1 ? ",)" : ", " + std::to_string(info.limbs) + ")") +
                   ", at least one coefficient)");
    };
    check("a", a);
    check("b", b);
    Shape out = a;
    out[0] += b[0] - 1;
    return out;
}

nb::any product(const FieldInfo& info, nb::handle backend, nb::handle a_object, nb::handle b_object,
                nb::handle out_object, bool checked, bool montgomery, nb::handle progress) {
    constexpr const char* call = "Field.poly_mul";
    const Place place = place_of(call, {a_object, b_object, out_object});
    if (place.on_cuda())
        refuse(std::string(call) +
               ": a: on a CUDA device (need arrays in host memory, or Buffers with a stream)");
    Array a = operand(call, "a", info, a_object, place), b = operand(call, "b", info, b_object, place);
    const Shape shape = product_shape(call, info, a.shape, b.shape);
    Array out = output_or_new(call, "out", out_object, limb_type(info), shape, place);
    nb::any result = out.object;
    const Where where = where_of(backend);
    const auto log_size = static_cast<std::uint64_t>(std::bit_width(out.size));
    Call run(where, 3 * out.bytes() * log_size, progress, out.made_here);
    last_report() = run([=, field = info.field, a = std::move(a), b = std::move(b),
                         out = std::move(out)](const BatchOptions& batch) {
        FieldHostOptions options;
        options.form = montgomery ? FieldForm::montgomery : FieldForm::plain;
        options.check_values = checked;
        options.batch = batch;
        return where([&](auto& on) { return ntt_product(on, field, a, b, out, options); });
    });
    return result;
}

void record_product(const FieldInfo& info, PyStream& stream, nb::handle a_object, nb::handle b_object,
                    nb::handle out_object, bool montgomery) {
    constexpr const char* call = "Field.poly_mul";
    const PyBuffer& a = buffer_of(call, "a", a_object);
    const PyBuffer& b = buffer_of(call, "b", b_object);
    const PyBuffer& out = buffer_of(call, "out", out_object);
    require(call, "a", a, limb_type(info), a.shape);
    require(call, "b", b, limb_type(info), b.shape);
    require(call, "out", out, limb_type(info), product_shape(call, info, a.shape, b.shape));
    const FieldOptions options{.form = montgomery ? FieldForm::montgomery : FieldForm::plain};
    ntt_product(*PyStream::Use(stream), info.field, a.array(), b.array(), out.array(), options);
}

nb::object integer(const std::array<std::uint64_t, 6>& limbs) {
    const nb::bytes bytes(reinterpret_cast<const char*>(limbs.data()), sizeof(limbs));
    return nb::module_::import_("builtins").attr("int").attr("from_bytes")(bytes, "little");
}

}  // namespace

void bind_ntt(nb::module_& module) {
    module.def("_ntt", &apply, nb::arg("field"), nb::arg("name"), nb::arg("backend").none(),
               nb::arg("x").none(), nb::arg("out").none(), nb::arg("inverse"), nb::arg("blowup"),
               nb::arg("order"), nb::arg("axis"), nb::arg("coset").none(), nb::arg("root").none(),
               nb::arg("checked"), nb::arg("montgomery"), nb::arg("progress").none());
    module.def("_ntt_stream", &record, nb::arg("field"), nb::arg("name"), nb::arg("stream"),
               nb::arg("x").none(), nb::arg("out").none(), nb::arg("inverse"), nb::arg("blowup"),
               nb::arg("order"), nb::arg("axis"), nb::arg("coset").none(), nb::arg("root").none(),
               nb::arg("montgomery"));
    module.def("_ntt_product", &product, nb::arg("field"), nb::arg("backend").none(), nb::arg("a").none(),
               nb::arg("b").none(), nb::arg("out").none(), nb::arg("checked"), nb::arg("montgomery"),
               nb::arg("progress").none());
    module.def("_ntt_product_stream", &record_product, nb::arg("field"), nb::arg("stream"),
               nb::arg("a").none(), nb::arg("b").none(), nb::arg("out").none(), nb::arg("montgomery"));
    module.def(
        "_ntt_root",
        [](const FieldInfo& info, std::uint32_t log_size) { return integer(ntt_root(info.field, log_size)); },
        nb::arg("field"), nb::arg("log_size"), nb::sig("def _ntt_root(field: _Field, log_size: int) -> int"));
    module.def(
        "_two_adicity", [](const FieldInfo& info) { return ntt_info(info.field).two_adicity; },
        nb::arg("field"));
}

}  // namespace weft::python
