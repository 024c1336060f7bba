// SPDX-License-Identifier: Apache-2.0
// Several CUDA devices behind one call: results are those of one device. Two places on one GPU serve where
// there is no second one; WEFT_TEST_CUDA_DEVICES names others.
#include <weft/cuda/devices.hpp>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

#include <weft/weft.hpp>

#include "support/any_field.hpp"
#include "support/gpu_fixture.hpp"
#include "support/lattice_oracle.hpp"

namespace {

using namespace weft_test;
using weft::Errc;
using weft::Field;
using weft::FieldOp;
using weft::OpReport;
using weft::cuda::Devices;
using Limbs = std::vector<std::uint64_t>;

std::string pair_of_devices() {
    const char* const set = std::getenv("WEFT_TEST_CUDA_DEVICES");
    return set != nullptr ? set : "0,0";
}

/// Checks the rows of a report: one a device, all of which took part, with all items.
void check_rows(const OpReport& report, const Devices& devices, std::uint64_t items) {
    REQUIRE(report.devices.size() == devices.size());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const weft::DeviceReport& row = report.devices[i];
        CAPTURE(i);
        CHECK(row.name == devices[i].name);
        CHECK(row.device == i);
        CHECK(row.shares != 0);
        CHECK(row.items != 0);
        CHECK(row.busy_s > 0);
        CHECK(row.busy_s + row.idle_end_s <= report.wall_s * 1.001 + 1e-6);
        CHECK_FALSE(row.lost);
        sum += row.items;
    }
    CHECK(sum == items);
    CHECK(report.items == items);
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class Call>
void check_transforms(Devices& devices, weft::NttLayout layout, std::uint64_t blowup, const Call& call) {
    const weft::NttShape shape{.log_size = 6, .batch = 500, .layout = layout};
    const Limbs in = random_elements(shape.elements() / 6 + 1, 9);
    Limbs values(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(shape.elements()));
    for (std::uint64_t& value : values) value >>= 1;  // below p
    Limbs got(values.size() * blowup), want(got.size());
    const weft::NttHostOptions small{.check_values = false, .batch = {.chunk_elements = 4}};
    const OpReport alone = call(values, want, shape, small, nullptr);
    const OpReport report = call(values, got, shape, small, &devices);
    CHECK(got == want);
    CHECK(report.method == alone.method);
    CHECK(report.items == shape.batch);
    if (layout == weft::NttLayout::rows) check_rows(report, devices, shape.batch);
}

}  // namespace

TEST_CASE("cuda devices: transforms give the bits of one device") {
    Devices devices(pair_of_devices());
    for (const weft::NttLayout layout : {weft::NttLayout::rows, weft::NttLayout::columns}) {
        check_transforms(
            devices, layout, 1,
            [](const Limbs& in, Limbs& out, const weft::NttShape& shape, const weft::NttHostOptions& options,
               Devices* all) {
                constexpr auto kForward = weft::NttDirection::forward;
                return all != nullptr
                           ? weft::cuda::ntt(*all, Field::goldilocks, kForward, in, out, shape, options)
                           : weft::cuda::ntt(Field::goldilocks, kForward, in, out, shape, options);
            });
        check_transforms(
            devices, layout, 4,
            [](const Limbs& in, Limbs& out, const weft::NttShape& shape, const weft::NttHostOptions& options,
               Devices* all) {
                return all != nullptr
                           ? weft::cuda::ntt_extend(*all, Field::goldilocks, in, out, shape, 4, options)
                           : weft::cuda::ntt_extend(Field::goldilocks, in, out, shape, 4, options);
            });
    }
    const Limbs a(40, 3), b(30, 5);
    Limbs got(69), want(69);
    weft::cuda::ntt_product(Field::goldilocks, a, b, want);
    CHECK(weft::cuda::ntt_product(devices, Field::goldilocks, a, b, got).items == 1);
    CHECK(got == want);
}

TEST_CASE("cuda devices: a list names them") {
    Devices devices(pair_of_devices());
    REQUIRE(devices.size() >= 2);
    CHECK_FALSE(devices.lost(1));
    CHECK(Devices("all").size() == weft::cuda::list_devices().size());
    CHECK(Devices("").size() == 1);
    CHECK(Devices("0,0,0").size() == 3);
    check_error(Errc::invalid_argument, "cuda::Devices: no such device (got 9", [&] { (void)devices[9]; });
    check_error(Errc::invalid_argument, "cuda::Devices: the device setting has an empty name",
                [] { Devices none(","); });
    check_error(Errc::invalid_argument, "cuda::Devices: no device matches \"no such card\"",
                [] { Devices none("0,no such card"); });
    Devices moved(std::move(devices));
    check_error(Errc::invalid_argument, "used after it was moved from", [&] { (void)devices.size(); });
    CHECK(moved.size() >= 2);
}

TEST_CASE("cuda devices: fields, in jobs and alone, give the bits of one device") {
    Devices devices(pair_of_devices());
    constexpr std::size_t kElements = 200'000;
    const Limbs a = random_elements(kElements, 4), b = random_elements(kElements, 5);
    const weft::FieldHostOptions small{.batch = {.chunk_elements = 1024}};
    int current = 0, after = 7;
    REQUIRE(cudaGetDevice(&current) == cudaSuccess);
    for (const FieldOp op : {FieldOp::add, FieldOp::mul, FieldOp::neg}) {
        CAPTURE(weft::to_string(op));
        Limbs got(a.size()), want(a.size());
        const weft::ConstHostArray second =
            weft::takes_b(op) ? weft::ConstHostArray(b) : weft::ConstHostArray();
        weft::cuda::field_apply(Field::bls12_381_fp, op, a, second, {}, want);
        const OpReport report =
            weft::cuda::field_apply(devices, Field::bls12_381_fp, op, a, second, {}, got, small);
        CHECK(got == want);
        check_rows(report, devices, kElements);
        CHECK(report.jobs == 1);
        CHECK(report.bytes_out == got.size() * 8);
    }
    for (const FieldOp op : {FieldOp::sum, FieldOp::inner_product}) {
        Limbs got(6), want(6);
        const weft::ConstHostArray second =
            weft::takes_b(op) ? weft::ConstHostArray(b) : weft::ConstHostArray();
        weft::cuda::field_apply(Field::bls12_381_fp, op, a, second, {}, want);
        check_rows(weft::cuda::field_apply(devices, Field::bls12_381_fp, op, a, second, {}, got, small),
                   devices, kElements);
        CHECK(got == want);
    }
    CHECK(cudaGetDevice(&after) == cudaSuccess);
    CHECK(after == current);
    // Jobs of different lengths, one without elements, and in place.
    Limbs first(a), second(b.begin(), b.begin() + 6 * 777), none;
    const weft::FieldJob jobs[] = {{a, b, {}, first}, {none, none, {}, none}, {second, second, {}, second}};
    Limbs want_first(a.size()), want_second(second.size());
    weft::cuda::field_apply(Field::bls12_381_fp, FieldOp::add, a, b, {}, want_first);
    weft::cuda::field_apply(Field::bls12_381_fp, FieldOp::add, second, second, {}, want_second);
    std::uint64_t last = 0;
    const std::thread::id caller = std::this_thread::get_id();
    weft::FieldHostOptions watched = small;
    watched.batch.progress = [&](const weft::Progress& p) {
        CHECK(p.done > last);
        CHECK(p.total == kElements + 777);
        CHECK(std::this_thread::get_id() == caller);
        last = p.done;
    };
    const OpReport report =
        weft::cuda::field_batch(devices, Field::bls12_381_fp, FieldOp::add, jobs, watched);
    CHECK(report.jobs == 3);
    CHECK(last == kElements + 777);
    CHECK(first == want_first);
    CHECK(second == want_second);
    const OpReport little =
        weft::cuda::field_apply(devices, Field::bls12_381_fp, FieldOp::neg, std::span(a).first(60), {}, {},
                                std::span(first).first(60));
    CHECK(little.devices[1].note.find("too little work to share") != std::string::npos);
}

TEST_CASE("cuda devices: refusals change nothing, a stop and an exception end a call") {
    Devices devices(pair_of_devices());
    const Limbs a = random_elements(100'000, 4);
    Limbs out(a.size(), 7);
    check_error(Errc::invalid_argument, "field_neg: BatchOptions::path does not apply", [&] {
        weft::cuda::field_apply(devices, Field::bls12_381_fp, FieldOp::neg, a, {}, {}, out,
                                {.batch = {.path = weft::Path::host}});
    });
    check_error(Errc::invalid_argument, "field_neg: out and a differ in length", [&] {
        weft::cuda::field_apply(devices, Field::bls12_381_fp, FieldOp::neg, a, {}, {},
                                std::span(out).first(60));
    });
    CHECK(out == Limbs(a.size(), 7));
    std::stop_source stop;
    check_error(Errc::cancelled, "field_neg: cancelled by its stop token", [&] {
        weft::cuda::field_apply(devices, Field::bls12_381_fp, FieldOp::neg, a, {}, {}, out,
                                {.batch = {.chunk_elements = 64,
                                           .progress = [&](const weft::Progress&) { stop.request_stop(); },
                                           .cancel = stop.get_token()}});
    });
    CHECK_THROWS_AS(
        weft::cuda::field_apply(
            devices, Field::bls12_381_fp, FieldOp::neg, a, {}, {}, out,
            {.batch = {.chunk_elements = 64,
                       .progress = [](const weft::Progress&) { throw std::runtime_error("mine"); }}}),
        std::runtime_error);
    CHECK_FALSE(devices.lost(0));
    weft::cuda::field_apply(devices, Field::bls12_381_fp, FieldOp::neg, a, {}, {}, out);
}

TEST_CASE("cuda devices: encodes give the bits of one device, and name what fails") {
    Devices devices(pair_of_devices());
    for (const weft::EncodeMethod method : {weft::EncodeMethod::amplitude, weft::EncodeMethod::angle,
                                            weft::EncodeMethod::iqp, weft::EncodeMethod::phase}) {
        CAPTURE(weft::to_string(method));
        const weft::StateShape shape{20'001, 5};
        const std::uint64_t features = weft::encode_features(method, shape.qubits);
        std::vector<float> x = normal_values(shape.samples * features, 3);
        std::vector<weft::c32> got(shape.amplitudes()), want(shape.amplitudes());
        weft::cuda::encode(method, x, want, shape);
        check_rows(weft::cuda::encode(devices, method, x, got, shape, {.batch = {.chunk_elements = 64}}),
                   devices, shape.samples);
        CHECK(same_bits(got, want));
        x[7'000 * features] = std::numeric_limits<float>::quiet_NaN();
        try {
            weft::cuda::encode(devices, method, x, got, shape, {.batch = {.chunk_elements = 64}});
            FAIL_CHECK("nothing was thrown");
        } catch (const weft::EncodeError& error) {
            REQUIRE(error.failures().size() == 1);
            CHECK(error.failures()[0].sample == 7'000);
        }
    }
    const weft::OpReport none = weft::cuda::encode_batch(devices, weft::EncodeMethod::angle, {}, 3);
    CHECK(none.devices.size() == devices.size());
}

TEST_CASE("cuda devices: lattice codes give the bits of one device") {
    Devices devices(pair_of_devices());
    const std::vector<float> x = normal_values(std::size_t{19} * 40'001, 5);
    for (const weft::Lattice lattice : {weft::Lattice::d4, weft::Lattice::e8}) {
        const weft::LatticeCode code{
            .lattice = lattice, .q = 4, .levels = 2, .beta = 0.3f, .max_retries = 3, .dither_seed = 9};
        const weft::LatticeHostOptions small{.width = 19, .batch = {.chunk_elements = 64}};
        const std::size_t d = lattice == weft::Lattice::d4 ? 4 : 8, tiles = (19 + d - 1) / d;
        const std::size_t vectors = 40'001 * tiles;
        std::vector<std::uint8_t> codes(weft::code_bytes(code, vectors)), want_codes(codes.size());
        std::vector<std::uint8_t> status(vectors), want_status(vectors);
        weft::cuda::lattice_encode(code, x, want_codes, want_status, {.width = 19});
        const OpReport report = weft::cuda::lattice_encode(devices, code, x, codes, status, small);
        CHECK(codes == want_codes);
        CHECK(status == want_status);
        check_rows(report, devices, vectors);
        std::vector<float> y(x.size()), want(x.size());
        weft::cuda::lattice_decode(code, codes, status, want, {.width = 19});
        weft::cuda::lattice_decode(devices, code, codes, status, y,
                                   {.width = 19, .batch = {.chunk_elements = 64}});
        CHECK(same_bits(y, want));
        weft::cuda::lattice_quantize(devices, code, x, y, {}, small);
        CHECK(same_bits(y, want));
    }
    const weft::LatticeCode code{.lattice = weft::Lattice::e8, .q = 4, .levels = 2};
    const std::span<const float> sample = std::span(x).first(19 * 2'000);
    CHECK(weft::cuda::lattice_search_beta(devices, code, sample, {.width = 19, .steps = 10}).best.beta ==
          weft::cuda::lattice_search_beta(code, sample, {.width = 19, .steps = 10}).best.beta);
}

namespace {

/// Enough rows that several devices share K.
constexpr std::uint64_t kRows = 8192, kOthers = 5000;

/// A call on `devices`, and the same on the current device alone, give the same bits; all devices take part.
template <class Value, class Call>
void check_shared(Devices& devices, const weft::KernelMatrixShape& shape, const Call& call) {
    std::vector<Value> got(shape.values()), want(shape.values());
    call(want, static_cast<Devices*>(nullptr), weft::BatchOptions());
    std::uint64_t last = 0;
    const OpReport report = call(got, &devices, weft::BatchOptions{.progress = [&](const weft::Progress& p) {
                                     CHECK(p.done > last);
                                     CHECK(p.total == shape.pairs());
                                     last = p.done;
                                 }});
    CHECK(same_bits(got, want));
    CHECK(last == shape.pairs());
    check_rows(report, devices, shape.pairs());
    CHECK(report.bytes_out == got.size() * sizeof(Value));
}

}  // namespace

namespace {

struct Features {
    std::vector<float> x = normal_values(kRows * 10, 7), y = normal_values(kOthers * 10, 8),
                       weights = std::vector<float>(2 * 10, 0.4f);
    weft::KernelMatrixCircuit closed{}, built{.weights = weights, .reupload = true};
};

void check_square(Devices& devices, const Features& features, const weft::KernelMatrixCircuit& circuit,
                  weft::KernelMatrixHostOptions options = {}) {
    CAPTURE(circuit.reupload);
    CAPTURE(options.state_tile);
    CAPTURE(options.normalize);
    const weft::KernelMatrixShape shape{kRows, 0, 10};
    check_shared<float>(
        devices, shape, [&](std::vector<float>& k, Devices* on, const weft::BatchOptions& batch) {
            options.batch = batch;
            return on != nullptr ? weft::cuda::kernel_matrix(*on, circuit, features.x, k, shape, options)
                                 : weft::cuda::kernel_matrix(circuit, features.x, k, shape, options);
        });
}

template <class Value>
void check_rectangle(Devices& devices, const Features& features, const weft::KernelMatrixCircuit& circuit) {
    CAPTURE(circuit.reupload);
    const weft::KernelMatrixShape shape{kRows, kOthers, 10};
    check_shared<Value>(
        devices, shape, [&](std::vector<Value>& k, Devices* on, const weft::BatchOptions& batch) {
            weft::KernelMatrixHostOptions options;
            options.batch = batch;
            return on != nullptr
                       ? weft::cuda::kernel_matrix(*on, circuit, features.x, features.y, k, shape, options)
                       : weft::cuda::kernel_matrix(circuit, features.x, features.y, k, shape, options);
        });
}

}  // namespace

TEST_CASE("cuda devices: square kernel matrices of features give the bits of one device") {
    Devices devices(pair_of_devices());
    const Features features;
    weft::KernelMatrixHostOptions tiled, normalized;
    tiled.state_tile = 2048;
    tiled.bulk_states = weft::Choice::off;
    normalized.normalize = true;
    normalized.jitter = 1e-3;
    check_square(devices, features, features.closed);
    check_square(devices, features, features.closed, normalized);
    check_square(devices, features, features.built);
    check_square(devices, features, features.built, tiled);
    check_square(devices, features, features.built, normalized);
}

TEST_CASE("cuda devices: rectangular kernel matrices of features give the bits of one device") {
    Devices devices(pair_of_devices());
    const Features features;
    check_rectangle<double>(devices, features, features.closed);
    check_rectangle<float>(devices, features, features.built);
}

TEST_CASE("cuda devices: a kernel matrix on three places gives the bits of one device") {
    Devices devices("0,0,0");
    const Features features;
    check_square(devices, features, features.built);
}

TEST_CASE("cuda devices: a kernel matrix of states in float64 gives the bits of one device") {
    Devices devices(pair_of_devices());
    const Features features;
    check_rectangle<double>(devices, features, features.built);
}

TEST_CASE("cuda devices: kernel matrices of states give the bits of one device") {
    const std::vector<float> angles = normal_values((kRows + kOthers) * 9, 9);
    std::vector<weft::c32> states((kRows + kOthers) << 9);
    weft::cuda::encode(weft::EncodeMethod::iqp_z, angles, states, {kRows + kOthers, 9});
    const std::span<const weft::c32> x = std::span(states).first(kRows << 9),
                                     y = std::span(states).subspan(kRows << 9);
    Devices devices(pair_of_devices());
    const weft::KernelMatrixShape square{kRows, 0, 9}, rectangle{kRows, kOthers, 9};
    for (const std::int64_t tile : {-1, 1024}) {
        CAPTURE(tile);
        weft::KernelMatrixHostOptions options;
        options.state_tile = tile;
        options.bulk_states = tile > 0 ? weft::Choice::off : weft::Choice::automatic;
        check_shared<float>(devices, square,
                            [&](std::vector<float>& k, Devices* on, const weft::BatchOptions& batch) {
                                options.batch = batch;
                                return on != nullptr ? weft::cuda::kernel_matrix(*on, x, k, square, options)
                                                     : weft::cuda::kernel_matrix(x, k, square, options);
                            });
    }
    check_shared<float>(devices, rectangle,
                        [&](std::vector<float>& k, Devices* on, const weft::BatchOptions& batch) {
                            weft::KernelMatrixHostOptions options;
                            options.batch = batch;
                            return on != nullptr ? weft::cuda::kernel_matrix(*on, x, y, k, rectangle, options)
                                                 : weft::cuda::kernel_matrix(x, y, k, rectangle, options);
                        });
}

TEST_CASE(
    "cuda devices: kernel matrices go into page-locked memory in place, are refused, stopped, or small") {
    Devices devices(pair_of_devices());
    const std::vector<float> x = normal_values(kRows * 6, 7);
    const std::vector<float> weights(2 * 6, 0.4f);
    const weft::KernelMatrixCircuit circuit{.weights = weights, .reupload = true};
    const weft::KernelMatrixShape shape{kRows, 0, 6};
    std::vector<float> want(shape.values());
    weft::cuda::kernel_matrix(circuit, x, want, shape);
    void* locked = nullptr;
    REQUIRE(cudaHostAlloc(&locked, want.size() * sizeof(float), cudaHostAllocDefault) == cudaSuccess);
    weft::cuda::kernel_matrix(devices, circuit, x, std::span(static_cast<float*>(locked), want.size()),
                              shape);
    CHECK(std::memcmp(locked, want.data(), want.size() * sizeof(float)) == 0);
    CHECK(cudaFreeHost(locked) == cudaSuccess);
    std::vector<float> k(want.size(), 7);
    check_error(Errc::invalid_argument, "kernel_matrix: BatchOptions::path does not apply", [&] {
        weft::KernelMatrixHostOptions options;
        options.batch.path = weft::Path::host;
        weft::cuda::kernel_matrix(devices, circuit, x, k, shape, options);
    });
    check_error(Errc::invalid_argument, "kernel_matrix: ", [&] {
        weft::cuda::kernel_matrix(devices, circuit, x, k, {kRows, 5, 6});
    });
    CHECK(k == std::vector<float>(want.size(), 7));
    std::stop_source stop;
    check_error(Errc::cancelled, "kernel_matrix: cancelled", [&] {
        weft::KernelMatrixHostOptions options;
        options.batch.progress = [&](const weft::Progress&) { stop.request_stop(); };
        options.batch.cancel = stop.get_token();
        weft::cuda::kernel_matrix(devices, circuit, x, k, shape, options);
    });
    const weft::KernelMatrixShape little{100, 0, 6};
    std::vector<float> part(little.values());
    const OpReport report =
        weft::cuda::kernel_matrix(devices, circuit, std::span(x).first(600), part, little);
    CHECK(report.devices[0].shares + report.devices[1].shares == 1);
    CHECK(report.devices[1].note.find("too little work to share") != std::string::npos);
    CHECK(report.items == little.pairs());
}
