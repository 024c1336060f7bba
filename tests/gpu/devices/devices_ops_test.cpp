// SPDX-License-Identifier: Apache-2.0
// Every op family on several devices: the same bits as on one device, the same refusals, a row for each.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/device_pair.hpp"
#include "support/field_oracle.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Devices;
using weft::EncodeMethod;
using weft::Errc;
using weft::Field;
using weft::FieldOp;
using weft::OpReport;

namespace {

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

std::vector<float> floats(std::size_t count, std::uint32_t seed, float scale = 1) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> values(-scale, scale);
    std::vector<float> made(count);
    for (float& v : made) v = values(random);
    return made;
}

std::uint64_t items_of_rows(const OpReport& report) {
    std::uint64_t items = 0;
    for (const weft::DeviceReport& row : report.devices) items += row.items;
    return items;
}

}  // namespace

TEST_CASE("devices, field: element-wise ops and reductions") {
    on_devices(1024, [](Devices& devices) {
        constexpr std::size_t kElements = 50021;
        const auto a = random_elements(kElements, 1), b = random_elements(kElements, 2);
        for (const FieldOp op : {FieldOp::add, FieldOp::mul, FieldOp::inverse}) {
            std::vector<std::uint64_t> out(a.size()), one(a.size());
            const weft::ConstHostArray second =
                takes_b(op) ? weft::ConstHostArray(b) : weft::ConstHostArray();
            const OpReport report = weft::field_apply(devices, Field::bls12_381_fp, op, a, second, {}, out);
            weft::field_apply(devices[0], Field::bls12_381_fp, op, a, second, {}, one);
            CHECK(same_bits(out, one));
            if (op == FieldOp::add) CHECK(out == expected(op, a, b));
            CHECK(report.items == kElements);
            check_rows(report, devices, kElements);
        }
        std::vector<std::uint64_t> scalar(a.begin(), a.begin() + 6), out(a.size()), one(a.size());
        weft::field_axpy(devices, Field::bls12_381_fp, scalar, a, b, out);
        weft::field_axpy(devices[0], Field::bls12_381_fp, scalar, a, b, one);
        CHECK(same_bits(out, one));
        std::vector<std::uint64_t> in_place = a;
        weft::field_add(devices, Field::bls12_381_fp, in_place, b, in_place);
        CHECK(in_place == expected(FieldOp::add, a, b));
    });
    on_devices(1024, [](Devices& devices) {
        // Reductions are shared by blocks of 4096 elements, and at least 1024 of these.
        std::vector<std::uint64_t> ones(3u << 22, 1), sum(1);
        ones[5] = 7;
        const OpReport report = weft::field_sum(devices, Field::goldilocks, ones, sum);
        CHECK(sum[0] == ones.size() + 6);
        CHECK(report.items == ones.size());
        CHECK(report.elements == ones.size());
        check_rows(report, devices, ones.size());
        // Rows count elements too; the last block of the second call has fewer.
        const auto odd = std::span<const std::uint64_t>(ones).first(50021);
        const OpReport small = weft::field_inner_product(devices, Field::goldilocks, odd, odd, sum);
        CHECK(items_of_rows(report) == ones.size());
        CHECK(items_of_rows(small) == odd.size());
    });
}

TEST_CASE("devices, field: lists of jobs, progress and refusals") {
    on_devices(512, [](Devices& devices) {
        std::vector<std::vector<std::uint64_t>> a, out;
        std::vector<weft::FieldJob> jobs;
        std::uint64_t total = 0;
        for (std::size_t j = 0; j < 60; ++j) {
            a.push_back(random_elements(100 + 97 * j, static_cast<std::uint32_t>(j)));
            out.emplace_back(a.back().size());
        }
        for (std::size_t j = 0; j < a.size(); ++j) {
            jobs.push_back({.a = a[j], .b = a[j], .out = out[j]});
            total += a[j].size() / 6;
        }
        std::uint64_t last = 0;
        weft::field_batch(devices, Field::bls12_381_fp, FieldOp::add, jobs,
                          {.batch = {.progress = [&](const weft::Progress& p) {
                               CHECK(p.done > last);
                               CHECK(p.total == total);
                               last = p.done;
                           }}});
        CHECK(last == total);
        for (std::size_t j = 0; j < a.size(); ++j) CHECK(out[j] == expected(FieldOp::add, a[j], a[j]));
        const std::vector<std::uint64_t> large = random_elements(20000, 3);
        std::vector<std::uint64_t> inverse(large.size());
        std::uint64_t calls = 0;
        last = 0;
        weft::field_inverse(devices, Field::bls12_381_fp, large, inverse,
                            {.batch = {.progress = [&](const weft::Progress& p) {
                                 CHECK(p.done > last);
                                 CHECK(p.total == 20000);
                                 last = p.done;
                                 ++calls;
                             }}});
        CHECK(last == 20000);
        CHECK(calls > 1);  // one job that is done in chunks
        std::vector<std::uint64_t> wrong(a[3].size(), ~std::uint64_t{0});
        std::vector<std::uint64_t> untouched(a[3].size(), 5), before = untouched;
        check_error(Errc::invalid_argument, "not canonical", [&] {
            weft::field_add(devices, Field::bls12_381_fp, wrong, a[3], untouched, {.check_values = true});
        });
        CHECK(untouched == before);
        const weft::Program program = weft::field_program(devices, Field::bls12_381_fp, FieldOp::neg);
        CHECK(program.bindings().size() == 2);
    });
}

TEST_CASE("devices, lattice: encode, decode, quantize, inner products and the search") {
    on_devices(512, [](Devices& devices) {
        for (const weft::Lattice lattice : {weft::Lattice::z2, weft::Lattice::d4, weft::Lattice::e8})
            for (const bool packed : {false, true})
                for (const std::size_t width : {0u, 24u, 13u}) {
                    CAPTURE(weft::to_string(lattice));
                    CAPTURE(packed);
                    CAPTURE(width);
                    weft::LatticeCode code{.lattice = lattice,
                                           .q = 5,
                                           .levels = 2,
                                           .beta = 0.11f,
                                           .alpha = 0.5f,
                                           .max_retries = 6,
                                           .packed = packed,
                                           .dither_seed = 99,
                                           .dither_first = 17};
                    const std::size_t d = weft::dimension(lattice), row = width == 0 ? d : width;
                    const std::vector<float> x = floats(row * 20011, 7, 3);
                    const std::size_t vectors = 20011 * weft::lattice_tiles(lattice, row);
                    std::vector<std::uint8_t> codes(weft::code_bytes(code, vectors)), status(vectors);
                    auto codes_one = codes, status_one = status;
                    const OpReport report =
                        weft::lattice_encode(devices, code, x, codes, status, {.width = width});
                    const OpReport alone =
                        weft::lattice_encode(devices[0], code, x, codes_one, status_one, {.width = width});
                    CHECK(same_bits(codes, codes_one));
                    CHECK(same_bits(status, status_one));
                    CHECK(report.items == vectors);
                    CHECK(report.retried == alone.retried);
                    CHECK(report.unresolved == alone.unresolved);
                    check_rows(report, devices, vectors);
                    std::vector<float> y(x.size()), y_one(x.size()), quantized(x.size());
                    check_rows(weft::lattice_decode(devices, code, codes, status, y, {.width = width}),
                               devices, vectors);
                    weft::lattice_decode(devices[0], code, codes, status, y_one, {.width = width});
                    CHECK(same_bits(y, y_one));
                    weft::lattice_quantize(devices, code, x, quantized, {}, {.width = width});
                    CHECK(same_bits(quantized, y_one));
                }
        const weft::LatticeCode code{.lattice = weft::Lattice::d4, .q = 4, .levels = 2, .beta = 0.2f};
        std::vector<float> x = floats(40000, 3);
        const weft::LatticeSearch search = weft::lattice_search_beta(devices, code, x);
        const weft::LatticeSearch alone = weft::lattice_search_beta(devices[0], code, x);
        CHECK(search.best.beta == alone.best.beta);
        std::vector<std::uint8_t> codes(weft::code_bytes(code, 10000));
        weft::lattice_encode(devices, code, x, codes);
        const weft::LatticeTable table(code.lattice, code.q);
        std::vector<float> inner(10000), inner_one(10000);
        weft::lattice_inner(devices, table, code, codes, codes, inner);
        weft::lattice_inner(devices[0], table, code, codes, codes, inner_one);
        CHECK(same_bits(inner, inner_one));
        x[4 * 9000 + 1] = std::numeric_limits<float>::infinity();
        x[4 * 100] = std::nanf("");
        try {
            weft::lattice_encode(devices, code, x, codes);
            FAIL_CHECK("nothing was thrown");
        } catch (const weft::EncodeError& error) {
            REQUIRE(error.failures().size() == 2);
            CHECK(error.failures()[0].sample == 100);
            CHECK(error.failures()[1].sample == 9000);
            CHECK(error.failures()[1].position == 1);
        }
    });
}

TEST_CASE("devices, encode: all methods, lists of arrays, failures by sample and job") {
    on_devices(64, [](Devices& devices) {
        for (const EncodeMethod method : {EncodeMethod::amplitude, EncodeMethod::angle, EncodeMethod::phase,
                                          EncodeMethod::iqp, EncodeMethod::iqp_z}) {
            CAPTURE(weft::to_string(method));
            constexpr std::uint32_t kQubits = 5;
            const weft::StateShape shape{3001, kQubits};
            const std::uint64_t features = weft::encode_features(method, kQubits);
            const std::vector<float> x = floats(shape.samples * features, 4, 3);
            std::vector<weft::c32> states(shape.amplitudes()), one(shape.amplitudes());
            std::uint64_t last = 0;
            const OpReport report = weft::encode(devices, method, x, states, shape,
                                                 {.batch = {.progress = [&](const weft::Progress& p) {
                                                      CHECK(p.done > last);
                                                      last = p.done;
                                                  }}});
            CHECK(last == shape.samples);
            weft::encode(devices[0], method, x, one, shape);
            CHECK(same_bits(states, one));
            CHECK(report.items == shape.samples);
            check_rows(report, devices, shape.samples);
        }
        // 14 qubits: an iqp that takes several passes.
        const weft::StateShape wide{300, 12};
        const std::vector<double> angles(wide.samples * weft::encode_features(EncodeMethod::iqp, 12), 0.3);
        std::vector<weft::c64> states(wide.amplitudes()), one(wide.amplitudes());
        weft::encode_iqp(devices, angles, states, wide);
        weft::encode_iqp(devices[0], angles, one, wide);
        CHECK(same_bits(states, one));
    });
    on_devices(64, [](Devices& devices) {
        std::vector<std::vector<float>> values;
        std::vector<std::vector<weft::c32>> states;
        std::vector<weft::EncodeJob> jobs;
        for (std::uint64_t j = 0; j < 40; ++j) {
            values.push_back(floats((50 + j) * 16, static_cast<std::uint32_t>(j)));
            states.emplace_back((50 + j) * 16);
        }
        for (std::uint64_t j = 0; j < 40; ++j) jobs.push_back({values[j], states[j], 50 + j});
        const OpReport report = weft::encode_batch(devices, EncodeMethod::amplitude, jobs, 4);
        CHECK(report.jobs == 40);
        CHECK(weft::encode_batch(devices, EncodeMethod::amplitude, {}, 4).devices.size() == devices.size());
        for (std::uint64_t j = 0; j < 40; ++j) {
            std::vector<weft::c32> one(states[j].size());
            weft::encode_amplitude(devices[0], values[j], one, {50 + j, 4});
            CHECK(same_bits(states[j], one));
        }
        std::fill_n(values[31].begin() + 3 * 16, 16, 0.0f);
        values[2][16 * 7 + 5] = std::nanf("");
        try {
            weft::encode_batch(devices, EncodeMethod::amplitude, jobs, 4);
            FAIL_CHECK("nothing was thrown");
        } catch (const weft::EncodeError& error) {
            REQUIRE(error.failures().size() == 2);
            CHECK(error.failures()[0].job == 2);
            CHECK(error.failures()[0].sample == 7);
            CHECK(error.failures()[0].position == 5);
            CHECK(error.failures()[1].job == 31);
            CHECK(error.failures()[1].sample == 3);
        }
        std::vector<weft::c32> of_angles(50 * 16);
        check_error(Errc::invalid_argument, "encode: BatchOptions::path", [&] {
            weft::encode_angle(devices, floats(200, 1), of_angles, {50, 4},
                               {.batch = {.path = weft::Path::host}});
        });
    });
}

TEST_CASE("devices, kernel matrix: closed form, states, given states, both shapes") {
    on_devices(4096, [](Devices& devices) {
        constexpr std::uint64_t kRows = 700, kOthers = 530;
        constexpr std::uint32_t kQubits = 6;
        const std::vector<float> x = floats(kRows * kQubits, 1, 3), y = floats(kOthers * kQubits, 2, 3);
        const std::vector<float> weights = floats(2 * kQubits, 3, 3);
        const weft::KernelMatrixCircuit closed{}, deep{.weights = weights, .reupload = true};
        for (const weft::KernelMatrixCircuit* circuit : {&closed, &deep}) {
            std::vector<float> k(kRows * kRows), one(kRows * kRows);
            std::uint64_t last = 0;
            const weft::KernelMatrixShape square{kRows, 0, kQubits};
            const OpReport report = weft::kernel_matrix(devices, *circuit, x, k, square,
                                                        {.batch = {.progress = [&](const weft::Progress& p) {
                                                             CHECK(p.done > last);
                                                             last = p.done;
                                                         }}});
            weft::kernel_matrix(devices[0], *circuit, x, one, square);
            CHECK(last == square.pairs());
            CHECK(report.items == square.pairs());
            CHECK(same_bits(k, one));
            std::vector<double> rect(kRows * kOthers), rect_one(kRows * kOthers);
            const weft::KernelMatrixShape shape{kRows, kOthers, kQubits};
            const std::vector<double> x64(x.begin(), x.end()), y64(y.begin(), y.end());
            weft::kernel_matrix(devices, *circuit, x64, y64, rect, shape);
            weft::kernel_matrix(devices[0], *circuit, x64, y64, rect_one, shape);
            CHECK(same_bits(rect, rect_one));
            std::vector<float> normal(k.size()), normal_one(k.size());
            weft::kernel_matrix(devices, *circuit, x, normal, square, {.normalize = true, .jitter = 1e-3});
            weft::kernel_matrix(devices[0], *circuit, x, normal_one, square,
                                {.normalize = true, .jitter = 1e-3});
            CHECK(same_bits(normal, normal_one));
        }
    });
}

TEST_CASE("devices, kernel matrix: enough work is shared, tiles of states included") {
    on_devices(4096, [](Devices& devices) {
        constexpr std::uint64_t kRows = 1100;
        constexpr std::uint32_t kQubits = 13;
        const weft::StateShape states_shape{kRows, kQubits};
        const std::vector<float> angles = floats(kRows * kQubits, 1, 3);
        std::vector<weft::c32> states(states_shape.amplitudes());
        weft::encode_angle(devices, angles, states, states_shape);
        const weft::KernelMatrixShape shape{kRows, 0, kQubits};
        for (const std::int64_t tile : {-1, 256}) {
            CAPTURE(tile);
            std::vector<float> k(kRows * kRows), one(kRows * kRows);
            const OpReport report = weft::kernel_matrix(devices, states, k, shape, {.state_tile = tile});
            weft::kernel_matrix(devices[0], states, one, shape, {.state_tile = tile});
            CHECK(same_bits(k, one));
            // A GPU takes longer to share this than to do it.
            if (devices[0].device().type == weft::DeviceType::cpu) check_rows(report, devices, shape.pairs());
        }
        std::vector<float> k(kRows * kRows);
        check_error(Errc::invalid_argument, "kernel_matrix", [&] {
            weft::kernel_matrix(devices, states, k, {kRows, 3, kQubits});
        });
        std::stop_source stop;
        const auto request = [&](const weft::Progress&) { stop.request_stop(); };
        check_error(Errc::cancelled, "kernel_matrix: cancelled", [&] {
            weft::kernel_matrix(devices, states, k, shape,
                                {.batch = {.progress = request, .cancel = stop.get_token()}});
        });
    });
}
