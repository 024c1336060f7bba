// SPDX-License-Identifier: Apache-2.0
// The memory of streamed encodes: the estimate is a bound, limits shrink chunks, and repeated calls make
// nothing.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/encode_routes.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::c32;
using weft::EncodeMethod;
using weft::Errc;
using weft::StateShape;

struct Case {
    EncodeMethod method;
    StateShape shape;
};

// By jobs, by rounds of several rows, by parts of a row.
const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {EncodeMethod::amplitude, {3000, 6}}, {EncodeMethod::amplitude, {150, 16}},
        {EncodeMethod::amplitude, {1, 23}},   {EncodeMethod::angle, {3000, 6}},
        {EncodeMethod::angle, {150, 16}},     {EncodeMethod::basis, {150, 16}},
        {EncodeMethod::iqp, {3000, 6}},       {EncodeMethod::iqp, {150, 15}},
    };
    return all;
}

std::vector<float> values_of(const Case& c) {
    const std::uint64_t features = weft::encode_features(c.method, c.shape.qubits);
    std::vector<float> values(c.shape.samples * features, 1.0f);
    if (c.method == EncodeMethod::basis) return values;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.25f + static_cast<float>(i % 1009) / 512;
    return values;
}

weft::EncodeTypes types() {
    return {weft::kFloat32, weft::kComplex64};
}

weft::Config limited(std::uint64_t bytes) {
    weft::Config config = weft::Config::from_env();
    config.memory_limit = bytes;
    return config;
}

bool same_bits(const std::vector<c32>& a, const std::vector<c32>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(c32)) == 0;
}

}  // namespace

TEST_CASE("encode memory: estimates are bounds, and a limit of this size is enough") {
    for (const Case& c : cases())
        for (const bool staged : {false, true}) {
            CAPTURE(weft::to_string(c.method));
            CAPTURE(c.shape.qubits);
            CAPTURE(staged);
            const std::vector<float> values = values_of(c);
            std::vector<c32> states(c.shape.amplitudes()), again(c.shape.amplitudes());
            weft::Config config = weft::Config::from_env();
            if (staged) config.path = weft::Path::staged;
            std::uint64_t estimated = 0;
            on_device(
                [&](weft::Backend& backend) {
                    const auto e = weft::estimate_encode(backend, c.method, c.shape, types());
                    estimated = e.streamed_bytes;
                    weft::encode(backend, c.method, values, states, c.shape);
                    CHECK(backend.memory().peak_bytes <= estimated);
                },
                config);
            if (estimated == 0) return;  // no device
            config.memory_limit = estimated;
            on_device(
                [&](weft::Backend& backend) {
                    const auto e = weft::estimate_encode(backend, c.method, c.shape, types());
                    CHECK(e.streamed_fits);
                    CHECK(e.streamed_bytes <= estimated);
                    for (int call = 0; call < 2; ++call)
                        weft::encode(backend, c.method, values, again, c.shape);
                    CHECK(backend.memory().block_bytes <= estimated);
                },
                config);
            CHECK(same_bits(states, again));
        }
}

TEST_CASE("encode memory: under a limit chunks shrink, or the call is refused with the figures") {
    for (const Case& c : cases()) {
        const std::vector<float> values = values_of(c);
        std::vector<c32> states(c.shape.amplitudes()), again(c.shape.amplitudes());
        on_device([&](weft::Backend& backend) { weft::encode(backend, c.method, values, states, c.shape); });
        for (const std::uint64_t limit : {256u << 10, 1u << 20, 3u << 20, 9u << 20, 20u << 20, 100u << 20}) {
            CAPTURE(weft::to_string(c.method));
            CAPTURE(c.shape.qubits);
            CAPTURE(limit);
            on_device(
                [&](weft::Backend& backend) {
                    const auto e = weft::estimate_encode(backend, c.method, c.shape, types());
                    CHECK(e.available_bytes <= limit);
                    const auto call = [&] { weft::encode(backend, c.method, values, again, c.shape); };
                    std::fill(again.begin(), again.end(), guard_amplitude<c32>());
                    if (e.streamed_fits) {
                        call();
                        CHECK(same_bits(states, again));
                        CHECK(backend.memory().peak_bytes <= e.streamed_bytes);
                        return;
                    }
                    CHECK_FALSE(e.reason.empty());
                    check_error(Errc::out_of_memory,
                                "(got " + std::to_string(limit) + " bytes, need " +
                                    std::to_string(e.streamed_bytes) + ")",
                                call);
                    CHECK(backend.memory().peak_bytes == 0);
                    CHECK(std::all_of(again.begin(), again.end(),
                                      [](c32 a) { return a == guard_amplitude<c32>(); }));
                },
                limited(limit));
        }
    }
}

TEST_CASE("encode memory: scratch of resident encodes is that of the estimate") {
    on_device([](weft::Backend& backend) {
        for (const auto& [method, shape] : {std::pair{EncodeMethod::amplitude, StateShape{1, 1}},
                                            {EncodeMethod::amplitude, {3, 15}},
                                            {EncodeMethod::amplitude, {1, 18}},
                                            {EncodeMethod::angle, {3, 4}},
                                            {EncodeMethod::iqp, {1, 14}}}) {
            CAPTURE(weft::to_string(method));
            CAPTURE(shape.qubits);
            backend.trim();
            weft::Stream stream(backend);
            weft::Buffer<float> in(backend, shape.samples * weft::encode_features(method, shape.qubits));
            weft::Buffer<c32> out(backend, shape.amplitudes());
            const std::uint64_t before = backend.memory().live_bytes;
            const auto outcome = weft::encode(stream, method, in, out, shape);
            CHECK(backend.memory().live_bytes - before ==
                  weft::estimate_encode(backend, method, shape, types()).scratch_bytes);
        }
    });
}

TEST_CASE("encode memory: a repeated call makes no object and allocates nothing") {
    on_device([](weft::Backend& backend) {
        for (const Case& c : cases()) {
            CAPTURE(weft::to_string(c.method));
            CAPTURE(c.shape.qubits);
            const std::vector<float> values = values_of(c);
            std::vector<c32> states(c.shape.amplitudes());
            const auto call = [&] { weft::encode(backend, c.method, values, states, c.shape); };
            for (int i = 0; i < 8; ++i) call();
            weft::Counters before, after;
            // On a busy machine, a stream may have one more command list under way than ever before, or bring
            // a command list and a buffer together that have not met. Both end: the lists are bounded, and
            // each pair writes one set.
            const auto is_steady = [&] {
                return after.objects_created == before.objects_created &&
                       after.descriptor_updates == before.descriptor_updates;
            };
            for (int window = 0; window < 16; ++window) {
                before = backend.counters();
                for (int i = 0; i < 3; ++i) call();
                after = backend.counters();
                CHECK(after.memory_allocations == before.memory_allocations);
                if (is_steady()) break;
            }
            CHECK(is_steady());
        }
        backend.trim();
        CHECK(backend.memory().live_buffers == 0);
    });
}
