// SPDX-License-Identifier: Apache-2.0
// Lattice: hierarchical nested-lattice quantization.
#include <weft/ops/lattice.hpp>

#include <memory>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <weft/ops/lattice_inner.hpp>
#include <weft/ops/lattice_search.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "calls.hpp"
#include "cuda/cuda.hpp"
#include "devices.hpp"
#include "errors.hpp"

namespace weft::python {

namespace {

Lattice lattice_named(const std::string& name) {
    for (const Lattice lattice : {Lattice::z2, Lattice::d4, Lattice::e8}) {
        const std::string known = weft::to_string(lattice);
        if (name == known ||
            (name.size() == 2 && std::tolower(name[0]) == std::tolower(known[0]) && name[1] == known[1]))
            return lattice;
    }
    refuse("Lattice: unknown lattice (got '" + name + "', need one of 'z2', 'd4', 'e8')");
}

std::size_t product(const Shape& shape, std::size_t axes) {
    std::size_t elements = 1;
    for (std::size_t i = 0; i < axes; ++i) elements *= shape[i];
    return elements;
}

/// Rows of values, and the vectors that they are cut into.
struct Rows {
    Shape leading;
    std::size_t rows = 0, width = 0, tiles = 0;
    std::size_t vectors() const { return rows * tiles; }
};

Rows rows_of(const char* call, const LatticeCode& code, const Shape& shape) {
    if (shape.empty() || shape.back() == 0)
        refuse(std::string(call) + ": x: no values (got shape " + to_string(shape) + ", need (..., width))");
    Rows rows;
    rows.leading.assign(shape.begin(), shape.end() - 1);
    rows.rows = product(shape, shape.size() - 1);
    rows.width = shape.back();
    rows.tiles = lattice_tiles(code.lattice, rows.width);
    return rows;
}

/// [..., tiles, levels, d] digits of a byte, or packed bytes without structure.
Shape codes_shape(const LatticeCode& code, const Rows& rows) {
    if (code.packed) return {code_bytes(code, rows.vectors())};
    Shape shape = rows.leading;
    shape.insert(shape.end(), {rows.tiles, code.levels, dimension(code.lattice)});
    return shape;
}

Shape status_shape(const Rows& rows) {
    Shape shape = rows.leading;
    shape.push_back(rows.tiles);
    return shape;
}

std::span<const float> floats(const Array& array) {
    return {static_cast<const float*>(array.data), static_cast<std::size_t>(array.size)};
}
std::span<float> writable_floats(const Array& array) {
    return {static_cast<float*>(array.data), static_cast<std::size_t>(array.size)};
}
std::span<std::uint8_t> bytes_of(const Array& array) {
    return {static_cast<std::uint8_t*>(array.data), static_cast<std::size_t>(array.size)};
}

/// Of calls on arrays in host memory alone.
void refuse_host_options(const char* call, bool checked, nb::handle backend, nb::handle progress) {
    refuse_on_cuda(
        call, {{"checked", checked}, {"backend", !backend.is_none()}, {"progress", !progress.is_none()}});
}

nb::typed<nb::tuple, nb::any, nb::any> encode_rows(const LatticeCode& code, nb::handle backend,
                                                   nb::handle x_object, nb::handle out_object,
                                                   nb::handle status_object, bool checked,
                                                   nb::handle progress) {
    constexpr const char* call = "Lattice.encode";
    const Place place = place_of(call, {x_object, out_object, status_object});
    Array x = input(call, "x", x_object, {kFloat32}, place);
    const Rows rows = rows_of(call, code, x.shape);
    Array codes = output_or_new(call, "out", out_object, kUint8, codes_shape(code, rows), place);
    Array status = output_or_new(call, "status", status_object, kUint8, status_shape(rows), place);
    const nb::typed<nb::tuple, nb::any, nb::any> result = nb::make_tuple(codes.object, status.object);
    if (place.on_cuda()) {
        refuse_host_options(call, checked, backend, progress);
        lattice_encode_on_cuda(place, code, x, codes, status, {.width = rows.width});
        return result;
    }
    const Where where = where_of(backend);
    LatticeHostOptions options{.width = rows.width, .check_values = checked};
    Call run(where, x.bytes() + codes.bytes(), progress, codes.made_here && status.made_here);
    last_report() = run([=, code = code, x = std::move(x), codes = std::move(codes),
                         status = std::move(status)](const BatchOptions& batch) mutable {
        options.batch = batch;
        return where([&](auto& on) {
            return lattice_encode(on, code, floats(x), bytes_of(codes), bytes_of(status), options);
        });
    });
    return result;
}

/// The shape of the values that codes stand for, unless the caller gives one.
Shape decoded_shape(const LatticeCode& code, const Array& codes, const std::optional<Shape>& given) {
    if (given) return *given;
    if (code.packed)
        refuse("Lattice.decode: shape: packed codes do not have the shape of the values; give shape=");
    if (codes.shape.size() < 3)
        refuse("Lattice.decode: codes: wrong shape (got " + to_string(codes.shape) +
               ", need (..., tiles, levels, d))");
    Shape shape(codes.shape.begin(), codes.shape.end() - 3);
    shape.push_back(codes.shape[codes.shape.size() - 3] * dimension(code.lattice));
    return shape;
}

nb::any decode_rows(const LatticeCode& code, nb::handle backend, nb::handle codes_object,
                    nb::handle status_object, const std::optional<Shape>& shape, std::uint32_t depth,
                    nb::handle out_object, bool checked, nb::handle progress) {
    constexpr const char* call = "Lattice.decode";
    const Place place = place_of(call, {codes_object, status_object, out_object});
    Array codes = input(call, "codes", codes_object, {kUint8}, place);
    Array out;
    if (!out_object.is_none()) out = output(call, "out", out_object, place);
    const Shape target =
        decoded_shape(code, codes, !shape && !out_object.is_none() ? std::optional<Shape>(out.shape) : shape);
    const Rows rows = rows_of(call, code, target);
    if (codes.shape != codes_shape(code, rows))
        refuse(std::string(call) + ": codes: wrong shape (got " + to_string(codes.shape) + ", need " +
               to_string(codes_shape(code, rows)) + " for values of shape " + to_string(target) + ")");
    Array status;
    if (!status_object.is_none()) {
        status = input(call, "status", status_object, {kUint8}, place);
        if (status.shape != status_shape(rows))
            refuse(std::string(call) + ": status: wrong shape (got " + to_string(status.shape) + ", need " +
                   to_string(status_shape(rows)) + ")");
    }
    out = output_or_new(call, "out", out_object, kFloat32, target, place);
    nb::any result = out.object;
    if (place.on_cuda()) {
        refuse_host_options(call, checked, backend, progress);
        lattice_decode_on_cuda(place, code, codes, status_object.is_none() ? nullptr : &status, out,
                               {.width = rows.width, .depth = depth});
        return result;
    }
    const Where where = where_of(backend);
    LatticeDecodeHostOptions options{.width = rows.width, .depth = depth, .check_values = checked};
    Call run(where, out.bytes() + codes.bytes(), progress, out.made_here);
    last_report() = run([=, code = code, codes = std::move(codes), status = std::move(status),
                         out = std::move(out)](const BatchOptions& batch) mutable {
        options.batch = batch;
        return where([&](auto& on) {
            return lattice_decode(on, code, bytes_of(codes), bytes_of(status), writable_floats(out), options);
        });
    });
    return result;
}

nb::any quantize_rows(const LatticeCode& code, nb::handle backend, nb::handle x_object, nb::handle out_object,
                      nb::handle status_object, bool checked, nb::handle progress) {
    constexpr const char* call = "Lattice.quantize";
    const Place place = place_of(call, {x_object, out_object, status_object});
    Array x = input(call, "x", x_object, {kFloat32}, place);
    const Rows rows = rows_of(call, code, x.shape);
    Array out = output_or_new(call, "out", out_object, kFloat32, x.shape, place);
    Array status;
    const bool with_status = !status_object.is_none();
    if (with_status) status = output(call, "status", status_object, kUint8, status_shape(rows), place);
    nb::any result = out.object;
    if (place.on_cuda()) {
        refuse_host_options(call, checked, backend, progress);
        lattice_quantize_on_cuda(place, code, x, out, with_status ? &status : nullptr, {.width = rows.width});
        return result;
    }
    const Where where = where_of(backend);
    LatticeHostOptions options{.width = rows.width, .check_values = checked};
    Call run(where, x.bytes() + out.bytes(), progress, out.made_here && !status.size);
    last_report() = run([=, code = code, x = std::move(x), status = std::move(status),
                         out = std::move(out)](const BatchOptions& batch) mutable {
        options.batch = batch;
        return where([&](auto& on) {
            return lattice_quantize(on, code, floats(x), writable_floats(out), bytes_of(status), options);
        });
    });
    return result;
}

/// The table of a lattice and q is made once.
const LatticeTable& table_of(const LatticeCode& code) {
    static auto* const tables =
        new std::vector<std::unique_ptr<LatticeTable>>;  // used with the interpreter's lock held
    for (const auto& table : *tables)
        if (table->lattice() == code.lattice && table->q() == code.q) return *table;
    return *tables->emplace_back(std::make_unique<LatticeTable>(code.lattice, code.q));
}

nb::any inner(const LatticeCode& code, nb::handle backend, nb::handle x_object, nb::handle y_object,
              const Shape& shape, nb::handle out_object, bool checked) {
    constexpr const char* call = "Lattice.inner";
    const Place place = place_of(call, {x_object, y_object, out_object});
    Array x = input(call, "x", x_object, {kUint8}, place);
    Array y = input(call, "y", y_object, {kUint8}, place);
    const Rows rows = rows_of(call, code, shape);
    Array out = output_or_new(call, "out", out_object, kFloat32, rows.leading, place);
    const LatticeTable& table = table_of(code);
    nb::any result = out.object;
    if (place.on_cuda()) {
        refuse_host_options(call, checked, backend, nb::none());
        lattice_inner_on_cuda(place, table, code, x, y, out, {.width = rows.width});
        return result;
    }
    const Where where = where_of(backend);
    LatticeHostOptions options{.width = rows.width, .check_values = checked};
    Call run(where, x.bytes() + y.bytes(), nb::none(), out.made_here);
    last_report() = run([=, &table, code = code, x = std::move(x), y = std::move(y),
                         out = std::move(out)](const BatchOptions& batch) mutable {
        options.batch = batch;
        return where([&](auto& on) {
            return lattice_inner(on, table, code, bytes_of(x), bytes_of(y), writable_floats(out), options);
        });
    });
    return result;
}

/// (beta, mean squared error, share retried, share unresolved) of the best trial, and of all.
using Trial = nb::typed<nb::tuple, float, float, float, float>;

nb::typed<nb::tuple, Trial, nb::typed<nb::list, Trial>> search(const LatticeCode& code, nb::handle backend,
                                                               nb::handle sample_object, float low,
                                                               float high, std::uint32_t steps,
                                                               nb::handle progress) {
    constexpr const char* call = "Lattice.search_beta";
    Array sample = input(call, "sample", sample_object, {kFloat32});
    const Rows rows = rows_of(call, code, sample.shape);
    const Where where = where_of(backend);
    LatticeSearchOptions options{.width = rows.width, .low = low, .high = high, .steps = steps};
    Call run(where, sample.bytes() * steps, progress, true);
    const LatticeSearch found =
        run([=, code = code, sample = std::move(sample)](const BatchOptions& batch) mutable {
            options.batch = batch;
            return where([&](auto& on) { return lattice_search_beta(on, code, floats(sample), options); });
        });
    const auto trial = [](const LatticeTrial& t) {
        return nb::make_tuple(t.beta, t.mean_squared_error, t.retried, t.unresolved);
    };
    nb::list trials;
    for (const LatticeTrial& t : found.trials) trials.append(trial(t));
    return nb::make_tuple(trial(found.best), trials);
}

}  // namespace

void bind_lattice(nb::module_& module) {
    nb::class_<LatticeCode>(module, "_Lattice")
        .def(
            "__init__",
            [](LatticeCode* self, const std::string& lattice, std::uint32_t q, std::uint32_t levels,
               float beta, float alpha, std::uint32_t max_retries, bool packed,
               std::optional<std::uint64_t> dither_seed, std::uint64_t dither_first) {
                new (self) LatticeCode{lattice_named(lattice),
                                       q,
                                       levels,
                                       beta,
                                       alpha,
                                       max_retries,
                                       packed,
                                       dither_seed,
                                       dither_first};
            },
            nb::arg("lattice"), nb::arg("q"), nb::arg("levels"), nb::arg("beta"), nb::arg("alpha"),
            nb::arg("max_retries"), nb::arg("packed"), nb::arg("dither_seed").none(), nb::arg("dither_first"))
        .def_prop_ro("lattice", [](const LatticeCode& c) { return std::string(weft::to_string(c.lattice)); })
        .def_prop_ro(
            "dimension", [](const LatticeCode& c) { return dimension(c.lattice); }, "Values of a vector.")
        .def_ro("q", &LatticeCode::q)
        .def_ro("levels", &LatticeCode::levels)
        .def_ro("beta", &LatticeCode::beta)
        .def_ro("alpha", &LatticeCode::alpha)
        .def_ro("max_retries", &LatticeCode::max_retries)
        .def_ro("packed", &LatticeCode::packed)
        .def_ro("dither_seed", &LatticeCode::dither_seed)
        .def_ro("dither_first", &LatticeCode::dither_first)
        .def_prop_ro("digit_bits", [](const LatticeCode& c) { return digit_bits(c); })
        .def("_encode", &encode_rows, nb::arg("backend").none(), nb::arg("x").none(), nb::arg("out").none(),
             nb::arg("status").none(), nb::arg("checked"), nb::arg("progress").none())
        .def("_decode", &decode_rows, nb::arg("backend").none(), nb::arg("codes").none(),
             nb::arg("status").none(), nb::arg("shape").none(), nb::arg("depth"), nb::arg("out").none(),
             nb::arg("checked"), nb::arg("progress").none())
        .def("_quantize", &quantize_rows, nb::arg("backend").none(), nb::arg("x").none(),
             nb::arg("out").none(), nb::arg("status").none(), nb::arg("checked"), nb::arg("progress").none())
        .def("_inner", &inner, nb::arg("backend").none(), nb::arg("x").none(), nb::arg("y").none(),
             nb::arg("shape"), nb::arg("out").none(), nb::arg("checked"))
        .def("_search_beta", &search, nb::arg("backend").none(), nb::arg("sample").none(), nb::arg("low"),
             nb::arg("high"), nb::arg("steps"), nb::arg("progress").none());
}

}  // namespace weft::python
