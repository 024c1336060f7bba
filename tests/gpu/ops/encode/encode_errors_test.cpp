// SPDX-License-Identifier: Apache-2.0
// Samples that cannot be encoded, calls that are refused, and the state after both.
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <weft/weft.hpp>

#include "support/encode_routes.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::c32;
using weft::c64;
using weft::EncodeFault;
using weft::EncodeMethod;
using weft::Errc;
using weft::StateShape;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("encode: a recorded encode uses the current contents of its buffers, and reports that run") {
    on_device([](weft::Backend& backend) {
        weft::Stream stream(backend);
        weft::Buffer<double> in(backend, 4);
        weft::Buffer<c64> out(backend, 8);
        std::optional<weft::EncodeOutcome> outcome;
        const weft::Sequence sequence = stream.record([&](weft::Stream& to) {
            outcome = weft::encode_angle(to, in, out, {2, 2});
        });
        for (const double bad : {kNaN, 0.25, kInf, 0.5}) {
            CAPTURE(bad);
            const std::vector<double> values{0.1, 0.2, bad, 0.4};
            stream.upload(values, in);
            stream.replay(sequence);
            const auto failures = outcome->failures(stream);
            CHECK(failures.size() == (std::isfinite(bad) ? 0 : 1));
            const auto states = stream.download(out);
            CHECK(worst_difference(states, 0, angle_state(std::vector{0.1, 0.2})) < 1e-15);
            if (std::isfinite(bad)) {
                CHECK(worst_difference(states, 4, angle_state(std::vector{bad, 0.4})) < 1e-15);
            } else {
                CHECK(states[5] == c64(0));
                check_error(Errc::invalid_argument, "sample 1 value 0",
                            [&] { outcome->require_all(stream); });
            }
        }
        check_error(Errc::invalid_argument, "download", [&] {
            stream.record([&](weft::Stream& to) {
                weft::encode_angle(to, in, out, {2, 2}, {.check_values = true});
            });
        });
    });
}

TEST_CASE("encode: an outcome is read on the stream that makes the states, submitted or not") {
    on_device([](weft::Backend& backend) {
        for (const double value : {kNaN, 1.0}) {
            CAPTURE(value);
            weft::Stream first(backend, {.name = "first"}), second(backend, {.name = "second"});
            const std::vector<double> values(4, value);
            weft::Buffer<double> in(backend, 4);
            weft::Buffer<c32> out(backend, 4);
            first.upload(values, in);
            const weft::EncodeOutcome outcome = weft::encode_amplitude(first, in, out, {1, 2});
            const auto refused = [&](weft::Stream& stream) {
                check_error(Errc::invalid_argument, "made on another stream (got \"second\", need",
                            [&] { outcome.require_all(stream); });
            };
            refused(second);
            first.submit();
            refused(second);
            weft::Stream moved = std::move(first);
            CHECK(outcome.failures(moved).size() == (std::isnan(value) ? 1 : 0));
            refused(second);
            // A sequence may be replayed by another stream.
            std::optional<weft::EncodeOutcome> recorded;
            const weft::Sequence sequence = moved.record([&](weft::Stream& to) {
                recorded = weft::encode_amplitude(to, in, out, {1, 2});
            });
            second.replay(sequence);
            CHECK(recorded->failures(second).size() == (std::isnan(value) ? 1 : 0));
        }
    });
}

TEST_CASE("encode: states begin where the device can bind them, values anywhere") {
    on_device([](weft::Backend& backend) {
        weft::Stream stream(backend);
        const std::vector<float> ones(3, 1.0f);
        weft::Buffer<float> in(backend, 3);
        weft::Buffer<c32> out(backend, 1024);
        stream.upload(ones, in);
        check_error(Errc::invalid_argument, "states begin where the device cannot bind them (got byte 8 of",
                    [&] {
                        weft::encode_amplitude(stream, in.view(1, 2), out.view(1, 2), {1, 1});
                    });
        const std::size_t first =
            std::max<std::size_t>(2, backend.device().limits.storage_buffer_offset_alignment / sizeof(c32));
        weft::encode_amplitude(stream, in.view(1, 2), out.view(first, 2), {1, 1}).require_all(stream);
        CHECK(std::abs(stream.download(out)[first + 1] - c32(0.70710678f)) < 1e-6f);
    });
}

TEST_CASE("encode: options of batches are checked by every route") {
    on_device([](weft::Backend& backend) {
        for (const auto& [method, qubits] : {std::pair{EncodeMethod::iqp, 8u},
                                             {EncodeMethod::iqp, 14u},
                                             {EncodeMethod::amplitude, 4u},
                                             {EncodeMethod::amplitude, 15u}}) {
            CAPTURE(qubits);
            const std::vector<double> values(weft::encode_features(method, qubits), 1.0);
            std::vector<c32> states(std::size_t{1} << qubits, guard_amplitude<c32>());
            const auto refused = [&](const weft::BatchOptions& batch, const char* text) {
                check_error(Errc::invalid_argument, text, [&] {
                    weft::encode(backend, method, values, states, {1, qubits}, {.batch = batch});
                });
            };
            refused({.ring_slots = 99}, "BatchOptions::ring_slots out of range (got 99");
            refused({.path = static_cast<weft::Path>(77)}, "no such path (got 77");
            refused({.queues = static_cast<weft::QueueMode>(7)}, "no such queue mode (got 7");
            refused({.chunk_elements = std::uint64_t{1} << 32}, "BatchOptions::chunk_elements");
            refused({.path = weft::Path::staged}, "encode: BatchOptions::path does not apply (got staged");
            refused({.queues = weft::QueueMode::single}, "encode: BatchOptions::queues does not apply");
            refused({.ring_slots = 2}, "encode: BatchOptions::ring_slots does not apply (got 2, need 0)");
            refused({.stage_times = weft::Choice::on}, "encode: BatchOptions::stage_times does not apply");
            for (const c32& a : states) CHECK(a == guard_amplitude<c32>());
        }
    });
}

TEST_CASE("encode: indices of basis by type, as they are stored") {
    on_device([](weft::Backend& backend) {
        const auto fault = [&](const auto& value, std::uint32_t qubits) {
            std::vector<c32> states(std::size_t{1} << qubits);
            try {
                weft::encode(backend, EncodeMethod::basis, std::vector{value}, states, {1, qubits});
            } catch (const weft::EncodeError& error) {
                return std::string(weft::to_string(error.failures().at(0).fault));
            }
            CHECK(states[static_cast<std::size_t>(value)] == c32(1));
            return std::string("good");
        };
        // 16777217 as float32 is 16777216, so this value may stand for either index.
        CHECK(fault(16777217.0f, 25) == weft::to_string(EncodeFault::inexact));
        CHECK(fault(16777215.0f, 24) == "good");
        CHECK(fault(16777216.0f, 24) == weft::to_string(EncodeFault::out_of_range));
        CHECK(fault(16777217.0, 25) == "good");
        CHECK(fault(std::int64_t{16777217}, 25) == "good");
        CHECK(fault(std::int64_t{-1}, 3) == weft::to_string(EncodeFault::negative));
        CHECK(fault(std::int64_t{8}, 3) == weft::to_string(EncodeFault::out_of_range));
        CHECK(fault(std::int64_t{1} << 40, 3) == weft::to_string(EncodeFault::out_of_range));
        CHECK(fault(std::int64_t{7}, 3) == "good");
        CHECK(fault(-0.0f, 3) == "good");
        CHECK(fault(1e-40f, 3) == weft::to_string(EncodeFault::fractional));
        CHECK(fault(3e9f, 20) == weft::to_string(EncodeFault::out_of_range));
    });
}

TEST_CASE("encode: wrong calls are refused before anything is written") {
    on_device([](weft::Backend& backend) {
        std::vector<c32> states(4);
        check_error(Errc::invalid_argument, "overlap", [&] {
            weft::encode(backend, EncodeMethod::angle, weft::ConstHostArray(states.data(), 2, weft::kFloat32),
                         states, {1, 2});
        });
        check_error(Errc::invalid_argument, "encode: values are of type uint64", [&] {
            weft::estimate_encode(backend, EncodeMethod::angle, {1, 2}, {.values = weft::kUint64});
        });
        check_error(Errc::invalid_argument, "need amplitude, angle, basis",
                    [] { weft::encode_method("angel"); });
        CHECK(weft::encode_method("IQP-Z") == EncodeMethod::iqp_z);
    });
}

TEST_CASE("encode: memory and time are estimated before the call") {
    on_device([](weft::Backend& backend) {
        const auto small = weft::estimate_encode(backend, EncodeMethod::amplitude, {64, 16});
        CHECK(small.bytes_in == 64u << 19);
        CHECK(small.bytes_out == 64u << 19);
        CHECK(small.scratch_bytes >= 64 * 8);
        CHECK(small.scratch_bytes <= small.bytes_in / 64);
        CHECK(small.resident_fits);
        CHECK(small.streamed_fits);
        CHECK(small.reason.empty());
        const auto huge = weft::estimate_encode(backend, EncodeMethod::iqp, {1u << 20, 30},
                                                {weft::kFloat64, weft::kComplex128});
        CHECK(huge.bytes_out == std::uint64_t{1} << 54);
        CHECK_FALSE(huge.resident_fits);
        CHECK(huge.reason.find("got") != std::string::npos);
        check_error(Errc::invalid_argument, "too many samples", [&] {
            weft::estimate_encode(backend, EncodeMethod::basis, {std::uint64_t{1} << 62, 30});
        });
        check_error(Errc::invalid_argument, "qubits", [&] {
            weft::estimate_encode(backend, EncodeMethod::basis, {1, 31});
        });
        // Sizes whose product overflows to a number that fits, and numbers of qubits that are too large for a
        // shift.
        const std::uint64_t wraps = (std::uint64_t{1} << 63) + 2;
        check_error(Errc::invalid_argument,
                    "too many values a sample (got 9223372036854775810, need at most 4", [&] {
                        weft::estimate_encode(backend, EncodeMethod::amplitude, {2, 2}, {}, wraps);
                    });
        check_error(Errc::invalid_argument, "qubits out of range (got 64", [&] {
            weft::estimate_encode(backend, EncodeMethod::amplitude, {1, 64}, {}, 1);
        });
    });
}
