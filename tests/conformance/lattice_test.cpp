// SPDX-License-Identifier: Apache-2.0
// The tables of lattice codes in every place: the results have the bits of the exact oracle.
#include "conformance/lattice_cases.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include <weft/weft.hpp>

#include "conformance/places.hpp"
#include "support/gpu_fixture.hpp"
#include "support/lattice_vectors.hpp"

namespace {

using namespace weft_test;
using Bytes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

struct Coded {
    Bytes codes, status;
    Floats decoded, quantized;
};

// Codes and statuses are bytes on the host and words on a device.
template <class Place>
using Unit = std::conditional_t<Place::kHost, std::uint8_t, std::uint32_t>;
template <class Place>
std::size_t units(std::size_t bytes) {
    return (bytes + sizeof(Unit<Place>) - 1) / sizeof(Unit<Place>);
}
template <class T>
Bytes first_bytes(const std::vector<T>& all, std::size_t bytes) {
    Bytes out(bytes);
    if (bytes != 0) std::memcpy(out.data(), all.data(), bytes);
    return out;
}
template <class Place>
std::vector<Unit<Place>> as_units(const Bytes& bytes) {
    std::vector<Unit<Place>> out(units<Place>(bytes.size()));
    if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

template <class Place>
auto options_at(Place& place, std::size_t width, bool check_values) {
    if constexpr (Place::kHost)
        return weft::LatticeHostOptions{.width = width, .check_values = check_values, .batch = place.batch()};
    else
        return weft::LatticeOptions{.width = width};
}
template <class Place>
auto decode_options_at(Place& place, std::size_t width, std::uint32_t depth, bool check_values) {
    if constexpr (Place::kHost)
        return weft::LatticeDecodeHostOptions{
            .width = width, .depth = depth, .check_values = check_values, .batch = place.batch()};
    else
        return weft::LatticeDecodeOptions{.width = width, .depth = depth};
}

// Runs `call`, which throws on host memory if there are values that are not finite.
template <class Place, class Call>
void finish(bool finite, const Call& call) {
    if (Place::kHost && !finite)
        check_error(weft::Errc::invalid_argument, "not finite", call);
    else
        call();
}

template <class Place>
Coded coded_at(Place& place, const LatticeCode& code, const Floats& x, std::size_t width, bool finite) {
    const std::size_t row = width == 0 ? dimension(code.lattice) : width;
    const std::size_t n = x.size() / row * weft::lattice_tiles(code.lattice, row),
                      bytes = weft::code_bytes(code, n);
    const auto in = place.input(x);
    auto over = place.input(x);
    auto codes = place.template output<Unit<Place>>(units<Place>(bytes)),
         status = place.template output<Unit<Place>>(units<Place>(n)),
         again = place.template output<Unit<Place>>(units<Place>(n)),
         last = place.template output<Unit<Place>>(units<Place>(n));
    auto decoded = place.template output<float>(x.size()), quantized = place.template output<float>(x.size());
    const auto options = options_at(place, width, finite);
    const auto values = place.read(in, x.size());
    finish<Place>(finite, [&] {
        call_lattice_encode(place, code, values, place.write(codes), place.write(status), options);
    });
    call_lattice_decode(place, code, place.write(codes), place.write(status), place.write(decoded),
                        decode_options_at(place, width, 0, finite));
    finish<Place>(finite, [&] {
        call_lattice_quantize(place, code, values, place.write(quantized), place.write(again), options);
    });
    const auto same = place.write(over, x.size());
    finish<Place>(finite,
                  [&] { call_lattice_quantize(place, code, same, same, place.write(last), options); });
    const Floats y = place.result(quantized);
    CHECK(bits_of(place.values(over)) == bits_of(y));
    const Bytes statuses = first_bytes(place.result(status), n);
    CHECK(first_bytes(place.result(again), n) == statuses);
    CHECK(first_bytes(place.result(last), n) == statuses);
    return {first_bytes(place.result(codes), bytes), statuses, place.result(decoded), y};
}

void run(weft::Backend& backend, const LatticeCase& c) {
    INFO("case: " << std::string(c.name) << ", " << std::string(weft::to_string(c.code.lattice)));
    CAPTURE(c.code.q);
    CAPTURE(c.code.levels);
    CAPTURE(c.code.packed);
    CAPTURE(c.width);
    const std::size_t d = c.width == 0 ? dimension(c.code.lattice) : c.width;
    const Floats x(c.x.begin(), c.x.end() - static_cast<std::ptrdiff_t>(c.x.size() % d));
    std::optional<Coded> want;
    if (c.judged) {
        const OracleCodes oracle = oracle_codes(c.code, x, c.width);
        REQUIRE(std::count(oracle.near_tie.begin(), oracle.near_tie.end(), true) == 0);
        want = Coded{oracle.codes, oracle.status, oracle.values, oracle.values};
    }
    // Eight chunks with edges at arbitrary places.
    on_places(backend, x.size() / dimension(c.code.lattice) / 8 + 1, [&](auto& place) {
        const Coded got = coded_at(place, c.code, x, c.width, c.finite);
        if (!want) want = got;
        CHECK(got.codes == want->codes);
        CHECK(got.status == want->status);
        CHECK(bits_of(got.decoded) == bits_of(want->decoded));
        CHECK(bits_of(got.quantized) == bits_of(want->quantized));
    });
}

// The exact products of rows in units of beta^2; if y has one row, it is used for all rows of x.
Floats products(const Floats& x, const Floats& y, std::size_t width) {
    Floats out;
    for (std::size_t row = 0; row < x.size() / width; ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < width; ++i)
            sum += static_cast<double>(x[row * width + i]) *
                   static_cast<double>(y[(y.size() == width ? 0 : row * width) + i]);
        out.push_back(static_cast<float>(sum));
    }
    return out;
}

}  // namespace

TEST_CASE("lattice conformance: known codes, one vector at a time") {
    on_device([](weft::Backend& backend) {
        for (const LatticeVector& v : lattice_vectors())
            for (const bool packed : {false, true}) {
                if (packed && v.packed.empty()) continue;  // each kind of code is compiled separately
                CAPTURE(v.id);
                LatticeCode code = v.code;
                code.packed = packed;
                on_places(backend, 0, [&](auto& place) {
                    const Coded got = coded_at(place, code, v.x, 0, true);
                    CHECK(got.codes == (packed ? v.packed : Bytes(v.digits.begin(), v.digits.end())));
                    CHECK(got.status == Bytes{v.status});
                    for (std::size_t i = 0; i < v.value.size(); ++i)
                        CHECK(got.decoded[i] == static_cast<float>(v.value[i]) * code.beta);
                    CHECK(bits_of(got.quantized) == bits_of(got.decoded));
                });
            }
    });
}

TEST_CASE("lattice conformance: values of given digits, of all levels and of the coarse ones alone") {
    on_device([](weft::Backend& backend) {
        for (const LatticeDecodeVector& v : lattice_decode_vectors()) {
            CAPTURE(v.id);
            on_places(backend, 0, [&](auto& place) {
                using Place = std::remove_reference_t<decltype(place)>;
                const auto units = as_units<Place>(v.digits);
                const auto codes = place.input(units);
                auto out = place.template output<float>(v.value.size());
                const auto options = decode_options_at(place, 0, v.depth, true);
                if constexpr (Place::kHost)
                    call_lattice_decode(place, v.code, place.read(codes, units.size()),
                                        std::span<const std::uint8_t>(), place.write(out), options);
                else
                    call_lattice_decode(place, v.code, place.read(codes, units.size()), std::nullopt,
                                        place.write(out), options);
                CHECK(bits_of(place.result(out)) == bits_of(v.value));
            });
        }
    });
}

TEST_CASE("lattice conformance: the table") {
    on_device([](weft::Backend& backend) {
        const bool every_code = backend.device().type != weft::DeviceType::cpu;
        for (const LatticeCase& c : lattice_cases(every_code)) run(backend, c);
    });
}

TEST_CASE("lattice conformance: inner products of codes, against one row or as many") {
    on_device([](weft::Backend& backend) {
        for (const LatticeInnerCase& c : lattice_inner_cases()) {
            CAPTURE(c.width);
            const weft::LatticeTable table(c.code.lattice, c.code.q);
            const auto range = static_cast<float>(
                std::bit_floor(static_cast<unsigned>(std::pow(c.code.q, c.code.levels) / 2)));
            const Floats x = dyadic_values(c.width * c.rows, range, 1), y = dyadic_values(x.size(), range, 2);
            const std::size_t d = dimension(c.code.lattice),
                              tiles = weft::lattice_tiles(c.code.lattice, c.width);
            for (const std::size_t others : {c.rows, std::size_t{1}}) {
                CAPTURE(others);
                const Floats some(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(others * c.width));
                const Bytes cx = oracle_codes(c.code, x, c.width).codes,
                            cy = oracle_codes(c.code, some, c.width).codes;
                // Codes have zero padding only if rows fill their tiles; decoded padding may have any value.
                Floats xd(c.rows * tiles * d), yd(others * tiles * d);
                weft::lattice_decode(backend, c.code, cx, {}, xd);
                weft::lattice_decode(backend, c.code, cy, {}, yd);
                const Floats want = products(xd, yd, tiles * d);
                on_places(backend, 2, [&](auto& place) {
                    using Place = std::remove_reference_t<decltype(place)>;
                    // CUDA has no such call on host memory.
                    if constexpr (!(Place::kCuda && Place::kHost)) {
                        const auto ux = as_units<Place>(cx), uy = as_units<Place>(cy);
                        const auto ix = place.input(ux), iy = place.input(uy);
                        auto out = place.template output<float>(c.rows);
                        call_lattice_inner(place, table, c.code, place.read(ix, ux.size()),
                                           place.read(iy, uy.size()), place.write(out),
                                           options_at(place, c.width, true));
                        CHECK(place.result(out) == want);
                    }
                });
            }
        }
    });
}
