// SPDX-License-Identifier: Apache-2.0
// Calls that are refused: the error has the same text in every place (in C with its own names), outputs do
// not change, and no work runs.
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <weft/weft.hpp>

#include "conformance/places.hpp"
#include "support/any_field.hpp"
#include "support/gpu_fixture.hpp"
#include "support/kernel_routes.hpp"

namespace {

using namespace weft_test;
using weft::c32;
using weft::Errc;
using Wide = std::vector<std::uint64_t>;
using Narrow = std::vector<std::uint32_t>;

// Calls rows(place, refuse) for every place; refuse(text, call) is a row of the table.
template <class Rows>
void refuse_everywhere(const Rows& rows) {
    on_device([&](weft::Backend& backend) {
        on_places(backend, 0, [&](auto& place) {
            const std::uint64_t before = backend.counters().submissions;
            rows(place, [&](const char* text, auto&& call, Errc code = Errc::invalid_argument) {
                if constexpr (std::remove_reference_t<decltype(place)>::kC)
                    check_error(code, std::remove_reference_t<decltype(place)>::text(text), call);
                else
                    check_error(code, text, call);
            });
            CHECK(backend.counters().submissions == before);
        });
    });
}

}  // namespace

TEST_CASE("refusals: field") {
    refuse_everywhere([](auto& place, const auto& refuse) {
        using enum weft::Field;
        using Place = std::remove_reference_t<decltype(place)>;
        using weft::FieldOp;
        const auto a = place.input(Wide(120, 1));
        auto o = place.input(Wide(120, 77));
        auto n = place.input(Narrow(120, 1));
        const auto in = [&](std::size_t first, std::size_t count) { return place.read(a, count, first); };
        const auto out = [&](std::size_t first, std::size_t count) { return place.write(o, count, first); };
        const auto narrow = place.write(n, 120);
        const typename Place::In none{};
        const auto row = [&](const char* text, weft::Field field, FieldOp op, const typename Place::In& x,
                             const typename Place::In& y, const typename Place::Out& z,
                             const weft::ConstHostArray& scalar = {},
                             weft::FieldForm form = weft::FieldForm::plain,
                             weft::FieldShader shader = weft::FieldShader::automatic) {
            refuse(text, [&] {
                if constexpr (Place::kHost)
                    call_field_apply(place, field, op, x, y, scalar, z,
                                     weft::FieldHostOptions{.form = form, .shader = shader});
                else
                    call_field_apply(place, field, op, x, y, scalar, z,
                                     weft::FieldOptions{.form = form, .shader = shader});
            });
        };
        const Wide five{5}, p_of_goldilocks{0xffffffff00000001}, all_ones{~std::uint64_t{0}};
        const Narrow p_of_mersenne31{0x7fffffff};
        // If there may be many jobs, arrays are compared with `a` of the same job.
        constexpr bool kJobs = Place::kHost;
        row(kJobs ? "field_add: b and a differ in length (got 54 limbs, need 60"
                  : "field_add: b does not fit out (got 54 limbs, need 60",
            bls12_381_fp, FieldOp::add, in(0, 60), in(60, 54), out(0, 60));
        row(kJobs ? "field_add: out and a differ in length (got 60 limbs, need 54"
                  : "field_add: a does not fit out (got 54 limbs, need 60",
            bls12_381_fp, FieldOp::add, in(0, 54), in(60, 54), out(0, 60));
        row("a multiple of 6", bls12_381_fp, FieldOp::add, in(0, 10), in(60, 10), out(0, 10));
        row("field_sub: out overlaps a in part", bls12_381_fp, FieldOp::sub, place.read(o, 48, 0), in(0, 48),
            out(6, 48));
        row("field_sum: out overlaps a", bls12_381_fp, FieldOp::sum, place.read(o, 60, 0), none, out(6, 6));
        row("field_sum: out is not one element (got 12 limbs, need 6", bls12_381_fp, FieldOp::sum, in(0, 60),
            none, out(0, 12));
        if constexpr (!Place::kC) {  // whose fields take bytes, not types
            row("has uint64 elements (got uint64, need uint32 limbs of babybear)", babybear, FieldOp::neg,
                in(0, 60), none, out(0, 60));
            row("field_mul: a has uint32 elements (got uint32, need uint64 limbs of bn254-fp)", bn254_fp,
                FieldOp::mul, narrow, in(0, 60), out(0, 60));
        }
        row("field_axpy: the scalar is not canonical", goldilocks, FieldOp::axpy, in(0, 4), in(4, 4),
            out(0, 4), all_ones);
        row("field_axpy: the scalar is not canonical", goldilocks, FieldOp::axpy, in(0, 4), in(4, 4),
            out(0, 4), p_of_goldilocks);
        row("field_axpy: axpy needs a scalar (got 0 limbs, need 6", bls12_381_fp, FieldOp::axpy, in(0, 6),
            in(6, 6), out(0, 6));
        if constexpr (!Place::kC)
            row("field_axpy: scalar has uint64 elements (got uint64, need uint32 limbs of mersenne31)",
                mersenne31, FieldOp::axpy, narrow, narrow, narrow, five);
        row("field_axpy: the scalar is not canonical (got 0x7fffffff, need below p = 0x7fffffff)", mersenne31,
            FieldOp::axpy, narrow, narrow, narrow, p_of_mersenne31);
        row(kJobs ? "field_neg: neg takes no b (got 60 limbs, need 0" : "field_neg: there is no b", bn254_fp,
            FieldOp::neg, in(0, 60), in(60, 60), out(0, 60));
        row(kJobs ? "field_mul: b and a differ in length (got 0 limbs, need 60" : "field_mul: b is missing",
            bn254_fp, FieldOp::mul, in(0, 60), none, out(0, 60));
        row("no such field (got 99, need 0 to 10)", static_cast<weft::Field>(99), FieldOp::neg, in(0, 60),
            none, out(0, 60));
        row("no such operation (got 11, need 0 to 10)", bn254_fp, static_cast<FieldOp>(11), in(0, 60), none,
            out(0, 60));
        row("no such form (got 9, need 0 to 1)", bn254_fp, FieldOp::neg, in(0, 60), none, out(0, 60), {},
            static_cast<weft::FieldForm>(9));
        row("FieldShader::limbs64 does not apply to fields of 31 bits (got limbs64 for koalabear, need",
            koalabear, FieldOp::neg, narrow, none, narrow, {}, weft::FieldForm::plain,
            weft::FieldShader::limbs64);
        if constexpr (Place::kHost) CHECK(place.values(o) == Wide(120, 77));
    });
}

TEST_CASE("refusals: encode") {
    refuse_everywhere([](auto& place, const auto& refuse) {
        using enum weft::EncodeMethod;
        using Place = std::remove_reference_t<decltype(place)>;
        const auto floats = place.input(std::vector<float>(64, 0.5f));
        const auto whole = place.input(std::vector<std::int64_t>{1, 2});
        const auto short_ints = place.input(std::vector<std::int32_t>{1, 2});
        auto states = place.input(std::vector<c32>(64, c32(7, 7)));
        auto no_states = place.input(std::vector<float>(64, 7));
        const auto row = [&](const char* text, weft::EncodeMethod method, const typename Place::In& values,
                             const typename Place::Out& out, const weft::StateShape& shape) {
            refuse(text, [&] {
                if constexpr (Place::kHost)
                    call_encode(place, method, values, out, shape, weft::EncodeHostOptions{});
                else
                    static_cast<void>(call_encode(place, method, values, out, shape, weft::EncodeOptions{}));
            });
        };
        const auto in = [&](std::size_t count) { return place.read(floats, count); };
        const auto out = [&](std::size_t count) { return place.write(states, count); };
        row("wrong number of values a sample (got 5, need 1 to 4", amplitude, in(5), out(4), {1, 2});
        row("wrong number of values a sample (got 9, need 1 to 8", amplitude, in(9), out(8), {1, 3});
        row("do not divide by the samples", amplitude, in(7), out(8), {2, 2});
        row("(got 2, need 3 for 3 qubits)", angle, in(2), out(8), {1, 3});
        row("no samples", angle, in(3), out(8), {0, 3});
        row("(got 3, need 1", basis, in(3), out(4), {1, 2});
        row("(got 2, need 3", iqp, in(2), out(4), {1, 2});
        row("(got 4, need 3", iqp, in(4), out(4), {1, 2});
        row("qubits out of range (got 0, need 1 to 30)", phase, in(1), out(1), {1, 0});
        row("qubits out of range (got 31, need 1 to 30)", phase, in(31), out(1), {1, 31});
        row("states do not fit the shape (got 7 amplitudes, need 8)", iqp_z, in(3), out(7), {1, 3});
        row("states do not fit the shape (got 31 amplitudes, need 32)", angle, in(8), out(31), {2, 4});
        row("too many samples", basis, in(1), out(4), {std::uint64_t{1} << 60, 2});
        row("no such method (got 6, need 0 to 5)", static_cast<weft::EncodeMethod>(6), in(2), out(4), {1, 2});
        row("got int64, need float32 or float64", angle, place.read(whole, 2), out(4), {1, 2});
        if constexpr (!Place::kC)  // which has no such type
            row("encode: values are of type int32 (got int32, need float32, float64 or, for basis, int64)",
                basis, place.read(short_ints, 2), out(4), {2, 1});
        row("encode: states are of type float32 (got float32, need complex64 or complex128)", basis,
            place.read(whole, 2), place.write(no_states, 4), {2, 1});
        if constexpr (Place::kHost) CHECK(place.values(states) == std::vector<c32>(64, c32(7, 7)));
    });
}

TEST_CASE("refusals: kernel matrix") {
    refuse_everywhere([](auto& place, const auto& refuse) {
        using Place = std::remove_reference_t<decltype(place)>;
        const auto floats = place.input(std::vector<float>(64, 0.5f));
        const auto doubles = place.input(std::vector<double>(64, 0.5));
        auto kernel = place.input(std::vector<float>(64, -7));
        const auto x = [&](std::size_t count) { return typename Place::In(place.read(floats, count)); };
        const auto k = [&](std::size_t count) { return typename Place::Out(place.write(kernel, count)); };
        const auto wide = typename Place::In(place.read(doubles, 64));
        const auto square = [&](const char* text, const typename Place::In& rows,
                                const typename Place::Out& values, const weft::KernelMatrixShape& shape,
                                const weft::KernelMatrixCircuit& circuit = {},
                                const weft::KernelMatrixOptions& options = {}) {
            refuse(text, [&] {
                if constexpr (Place::kHost)
                    call_kernel_matrix(place, circuit, rows, values, shape, on_host(options));
                else
                    call_kernel_matrix(place, circuit, rows, values, shape, options);
            });
        };
        const auto cross = [&](const char* text, const typename Place::In& rows,
                               const typename Place::In& others, const typename Place::Out& values,
                               const weft::KernelMatrixShape& shape,
                               const weft::KernelMatrixOptions& options = {}) {
            refuse(text, [&] {
                const weft::KernelMatrixCircuit circuit;
                if constexpr (Place::kHost)
                    call_kernel_matrix(place, circuit, rows, others, values, shape, on_host(options));
                else
                    call_kernel_matrix(place, circuit, rows, others, values, shape, options);
            });
        };
        const std::vector<double> weights{0.3, 0.7, -0.2};
        std::vector<double> infinite{0.3, 0.7, std::numeric_limits<double>::infinity(), 0.4};
        square("k does not fit the shape (got 8 values, need 9)", x(6), k(8), {3, 0, 2});
        square("x does not fit the shape (got 6 values, need 8)", x(6), k(9), {4, 0, 2});
        square("rows of Y without Y", x(6), k(9), {3, 3, 2});
        square("no qubits", x(6), k(9), {3, 0, 0});
        square("no samples", x(6), k(9), {0, 0, 2});
        square("weights: no whole layers", x(6), k(9), {3, 0, 2}, {.weights = weights});
        square("weights: row 1 column 0 is", x(4), k(4), {2, 0, 2}, {.weights = infinite, .reupload = true});
        square("vram_fraction", x(6), k(9), {3, 0, 2}, {}, {.vram_fraction = 2});
        cross("y does not fit the shape (got 6 values, need 4)", x(6), x(6), k(6), {3, 2, 2});
        if constexpr (!Place::kC)  // which takes one type for both
            cross("types differ (got X of float64 and Y of float32", wide, x(4), k(64), {32, 2, 2});
        cross("no rows of Y", x(6), x(6), k(9), {3, 0, 2});
        // Options that would do nothing.
        const std::vector<double> layers{0.3, 0.7, -0.2, 0.4};
        const weft::KernelMatrixCircuit cancels{.weights = layers};
        square("KernelMatrixOptions::jitter does not apply without normalize (got 0.01, need 0)", x(6), k(9),
               {3, 0, 2}, {}, {.jitter = 0.01});
        cross("KernelMatrixOptions::jitter does not apply to K of X with Y", x(6), x(4), k(6), {3, 2, 2},
              {.normalize = true, .jitter = 0.01});
        square(
            Place::kC  // where 0 is the default
                ? "KernelMatrixOptions::state_tile does not apply to a circuit in closed form, which builds "
                  "no states (got 64, need 0)"
                : "KernelMatrixOptions::state_tile does not apply to a circuit in closed form, which builds "
                  "no states (got 64, need -1)",
            x(6), k(9), {3, 0, 2}, cancels, {.state_tile = 64});
        square(
            "KernelMatrixOptions::bulk_states does not apply to a circuit in closed form, which builds no "
            "states (got on, need automatic or off)",
            x(6), k(9), {3, 0, 2}, cancels, {.bulk_states = weft::Choice::on});
        square("KernelMatrixOptions::autotune does not apply to ", x(6), k(9), {3, 0, 2}, cancels,
               {.autotune = weft::Choice::on});
        if constexpr (Place::kHost) CHECK(place.values(kernel) == std::vector<float>(64, -7));
    });
}

TEST_CASE("refusals: lattice") {
    refuse_everywhere([](auto& place, const auto& refuse) {
        using Place = std::remove_reference_t<decltype(place)>;
        using Unit = std::conditional_t<Place::kHost, std::uint8_t, std::uint32_t>;
        constexpr std::size_t kPerUnit = sizeof(Unit);
        const auto floats = place.input(std::vector<float>(256, 0.5f));
        auto values = place.input(std::vector<float>(256, 77));
        auto code_units = place.input(std::vector<Unit>(512, 7));
        auto status_units = place.input(std::vector<Unit>(512, 7));
        const auto x = [&](std::size_t count) { return place.read(floats, count); };
        const auto codes = [&](std::size_t bytes) { return place.write(code_units, bytes / kPerUnit); };
        const auto status = [&](std::size_t bytes) { return place.write(status_units, bytes / kPerUnit); };
        const auto row = [&](const char* text, const weft::LatticeCode& code, std::size_t count,
                             std::size_t code_bytes, std::size_t statuses) {
            refuse(text, [&] {
                if constexpr (Place::kHost)
                    call_lattice_encode(place, code, x(count), codes(code_bytes), status(statuses),
                                        weft::LatticeHostOptions{});
                else
                    call_lattice_encode(place, code, x(count), codes(code_bytes), status(statuses),
                                        weft::LatticeOptions{});
            });
        };
        row("lattice_encode: ", {}, 64, 124, 16);  // 16 vectors of 8 digits
        row("lattice_encode: ", {}, 64, 128, 20);
        row("lattice_encode: ", {}, 63, 128, 16);
        row("LatticeCode::q", {.q = 2}, 64, 128, 16);
        row("LatticeCode::q", {.q = 17}, 64, 128, 16);
        row("LatticeCode::levels", {.levels = 5}, 64, 128, 16);
        row("LatticeCode::beta", {.beta = 1e30f}, 64, 128, 16);
        if constexpr (!Place::kC) row("LatticeCode::beta", {.beta = 0}, 64, 128, 16);  // C: the default
        row("LatticeCode::alpha", {.alpha = 5}, 64, 128, 16);
        row("LatticeCode::max_retries", {.max_retries = 101}, 64, 128, 16);
        row("LatticeCode::dither_first does not apply without dither_seed (got 5, need 0)",
            {.dither_first = 5}, 64, 128, 16);
        refuse("lattice_quantize: ", [&] {
            const auto y = place.write(values, 64), shifted = place.write(values, 64, 4);
            if constexpr (Place::kHost)
                call_lattice_quantize(place, weft::LatticeCode{}, y, shifted, status(16),
                                      weft::LatticeHostOptions{});
            else
                call_lattice_quantize(place, weft::LatticeCode{}, y, shifted, status(16),
                                      weft::LatticeOptions{});
        });
        refuse("depth", [&] {
            const auto y = place.write(values, 64);
            if constexpr (Place::kHost)
                call_lattice_decode(place, weft::LatticeCode{}, codes(128), status(16), y,
                                    weft::LatticeDecodeHostOptions{.depth = 3});
            else
                call_lattice_decode(place, weft::LatticeCode{}, codes(128), status(16), y,
                                    weft::LatticeDecodeOptions{.depth = 3});
        });
        if constexpr (Place::kHost) {
            CHECK(place.values(values) == std::vector<float>(256, 77));
            CHECK(place.values(code_units) == std::vector<Unit>(512, 7));
        }
    });
}
