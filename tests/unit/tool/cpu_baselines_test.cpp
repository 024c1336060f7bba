// SPDX-License-Identifier: Apache-2.0
// The baselines of reports, against values worked out by hand or in another way. Reports compare them with
// the device besides.
#include <atomic>
#include <cmath>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "cpu/cpu_encode.hpp"
#include "cpu/cpu_field.hpp"
#include "cpu/cpu_kernel_matrix.hpp"
#include "cpu/cpu_lattice.hpp"
#include "cpu/cpu_threads.hpp"

using namespace weft;
using namespace weft::tool;

TEST_CASE("parallel_for covers every index once") {
    for (const std::size_t count : {0u, 1u, 7u, 1000u})
        for (const unsigned threads : {1u, 3u, 8u}) {
            std::vector<std::atomic<int>> seen(count);
            parallel_for(count, 10, threads, [&](std::size_t first, std::size_t last) {
                for (std::size_t i = first; i < last; ++i) ++seen[i];
            });
            for (const auto& times : seen) CHECK(times == 1);
        }
    CHECK(cpu_threads() >= 1);
}

TEST_CASE("threads are kept between calls, and what one throws comes out after all have ended") {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    CpuThreads threads;
    for (int call = 0; call < 200; ++call)
        threads.run(4, [&](std::size_t) {
            const std::lock_guard lock(mutex);
            seen.insert(std::this_thread::get_id());
        });
    CHECK(seen.size() <= 4);
    std::atomic<int> ran = 0;
    CHECK_THROWS_AS(threads.run(8,
                                [&](std::size_t part) {
                                    ++ran;
                                    if (part == 5) throw std::runtime_error("made up");
                                }),
                    std::runtime_error);
    CHECK(ran == 8);
    threads.run(8, [&](std::size_t) { ++ran; });
    CHECK(ran == 16);
    threads.run(0, [&](std::size_t) { ++ran; });
    CHECK(ran == 16);
}

TEST_CASE("field arithmetic at the ends of every field") {
    for (const FieldInfo& field : fields()) {
        CAPTURE(field.name);
        if (field.limb_bytes == 4) continue;
        const std::size_t n = field.limbs;
        // p - 1, 0 and 1, in every pair.
        std::vector<std::uint64_t> values(3 * n, 0), a, b;
        for (std::size_t i = 0; i < n; ++i) values[i] = field.modulus[i] - (i == 0 ? 1 : 0);
        values[2 * n] = 1;
        for (std::size_t x = 0; x < 3; ++x)
            for (std::size_t y = 0; y < 3; ++y)
                for (std::size_t i = 0; i < n; ++i) {
                    a.push_back(values[x * n + i]);
                    b.push_back(values[y * n + i]);
                }
        const auto apply = [&](FieldOp op) {
            std::vector<std::uint64_t> out(a.size());
            cpu_field(field, op, a, b, out, 1);
            return out;
        };
        const auto element = [&](const std::vector<std::uint64_t>& v, std::size_t i) {
            return std::vector(v.begin() + static_cast<std::ptrdiff_t>(i * n),
                               v.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
        };
        const auto most = element(values, 0), zero = element(values, 1), one = element(values, 2);
        auto less = most;
        for (std::size_t i = 0; less[i]-- == 0; ++i) {  // borrows from the next limb
        }
        const auto sum = apply(FieldOp::add), difference = apply(FieldOp::sub), product = apply(FieldOp::mul);
        CHECK(element(sum, 0) == less);  // -1 + -1 = -2
        CHECK(element(sum, 2) == zero);  // -1 + 1
        CHECK(element(sum, 1) == most);
        CHECK(element(difference, 3) == one);   // 0 - -1
        CHECK(element(difference, 5) == most);  // 0 - 1
        CHECK(element(product, 0) == one);      // -1 * -1
        CHECK(element(product, 2) == most);
        CHECK(element(product, 8) == one);
        CHECK(element(product, 1) == zero);
    }
}

TEST_CASE("fields of 31 bits against 64-bit arithmetic") {
    const FieldInfo& field = field_info(Field::babybear);
    const std::uint64_t p = field.modulus[0];
    std::vector<std::uint32_t> a(5000), b(a.size()), out(a.size());
    fill_field(field, 1, std::span<std::uint32_t>(a));
    fill_field(field, 2, std::span<std::uint32_t>(b));
    cpu_field(field, FieldOp::mul, std::span<const std::uint32_t>(a), std::span<const std::uint32_t>(b),
              std::span<std::uint32_t>(out), 2);
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(out[i] == std::uint64_t{a[i]} * b[i] % p);
    CHECK(a[1] == p - 1);
    CHECK(a[2] == 0);
}

TEST_CASE("lattice codes worked out by hand") {
    struct Row {
        LatticeCode code;
        std::vector<float> x, decoded;
        std::vector<std::uint8_t> codes;
    };
    const Row rows[] = {
        {{.lattice = Lattice::z2, .packed = true}, {3.6f, -2.2f}, {4, -2}, {0x18}},
        {{.lattice = Lattice::d4, .packed = true}, {2.4f, -3.3f, 1.2f, 0.4f}, {2, -3, 1, 0}, {0x38, 0x04}},
        {{.lattice = Lattice::d4, .packed = true}, {-5.2f, 3.1f, 0.7f, -2.9f}, {-5, 3, 1, -3}, {0xe6, 0x5d}},
        {{.lattice = Lattice::e8, .packed = true},
         {-1.2f, 3.4f, .6f, -2.7f, 1.1f, .2f, -.9f, 2},
         {-1, 3, 1, -3, 1, 0, -1, 2},
         {0x45, 0x1e, 0xf0, 0x00}},
        {{.lattice = Lattice::e8, .packed = true},
         {2.4f, -1.6f, .6f, 1.4f, -.4f, 3.5f, -2.6f, .5f},
         {2.5f, -1.5f, .5f, 1.5f, -.5f, 3.5f, -2.5f, .5f},
         {0x08, 0x53, 0x92, 0x7e}},
        {{.lattice = Lattice::d4, .q = 3, .levels = 3},
         {5.1f, -2.2f, 0.3f, 7.4f},
         {5, -2, 0, 7},
         {1, 0, 2, 2, 2, 0, 1, 1, 2, 0, 2, 2}},
    };
    for (const Row& row : rows) {
        std::vector<std::uint8_t> codes(row.codes.size()), status(1);
        std::vector<float> decoded(row.x.size()), quantized(row.x.size());
        cpu_lattice_encode(row.code, row.x, codes, status, 1);
        cpu_lattice_decode(row.code, codes, decoded, 1);
        CHECK(codes == row.codes);
        CHECK(status[0] == 0);
        CHECK(decoded == row.decoded);
        cpu_lattice_quantize(row.code, row.x, quantized, status, 1);
        CHECK(quantized == row.decoded);
    }
    std::vector<std::uint8_t> codes(1), status(1);
    cpu_lattice_encode({.lattice = Lattice::z2, .packed = true}, std::vector<float>{6, 0}, codes, status, 1);
    CHECK(status[0] == kLatticeUnresolved);
}

TEST_CASE("encoded states have norm 1 and the amplitudes of the definition") {
    const StateShape shape{.samples = 3, .qubits = 4};
    for (const EncodeMethod method : {EncodeMethod::amplitude, EncodeMethod::angle, EncodeMethod::basis,
                                      EncodeMethod::phase, EncodeMethod::iqp, EncodeMethod::iqp_z}) {
        CAPTURE(to_string(method));
        const std::size_t features = encode_features(method, shape.qubits);
        std::vector<float> x(shape.samples * features);
        fill_encode(method, shape, x);
        if (method == EncodeMethod::iqp)  // without pairs it must be iqp-z
            for (std::size_t i = 0; i < x.size(); ++i)
                if (i % features >= shape.qubits) x[i] = 0;
        std::vector<c32> states(shape.amplitudes());
        cpu_encode(method, x, states, shape, 2);
        for (std::size_t s = 0; s < shape.samples; ++s) {
            double norm = 0;
            for (std::size_t i = 0; i < shape.state_size(); ++i) norm += std::norm(c64(states[s * 16 + i]));
            CHECK(norm == doctest::Approx(1).epsilon(1e-6));
        }
        const c64 at5 = states[16 + 5];  // sample 1, bits 0 and 2
        const float* v = x.data() + features;
        const auto angle = [&](int k) { return static_cast<double>(v[k]); };
        c64 wanted = at5;
        if (method == EncodeMethod::angle)
            wanted = std::sin(angle(0)) * std::cos(angle(1)) * std::sin(angle(2)) * std::cos(angle(3));
        if (method == EncodeMethod::phase) wanted = std::polar(0.25, angle(0) + angle(2));
        if (method == EncodeMethod::basis) wanted = v[0] == 5 ? 1 : 0;
        if (method == EncodeMethod::iqp || method == EncodeMethod::iqp_z) {
            wanted = 1;
            for (int k = 0; k < 4; ++k) {
                const c64 turn = std::polar(1.0, angle(k));
                wanted *= k % 2 == 0 ? (1.0 - turn) / 2.0 : (1.0 + turn) / 2.0;
            }
        }
        CHECK(std::abs(at5 - wanted) < 1e-6);
    }
}

TEST_CASE("kernel matrices: of features by their overlap, of states by their product, larger than a tile") {
    constexpr std::size_t kSamples = 37, kQubits = 3;
    std::vector<float> x(kSamples * kQubits);
    fill_encode(EncodeMethod::phase, {.samples = kSamples, .qubits = kQubits}, x);
    for (const FeatureMap map : {FeatureMap::angle, FeatureMap::ryrz}) {
        std::vector<c32> states(kSamples << kQubits);
        for (std::size_t s = 0; s < kSamples; ++s)
            for (std::size_t i = 0; i < std::size_t{1} << kQubits; ++i) {
                c64 amplitude = 1;
                for (std::size_t q = 0; q < kQubits; ++q) {
                    const double t = static_cast<double>(x[s * kQubits + q]);
                    const bool one = (i >> q & 1) != 0;
                    amplitude *= one ? std::sin(t / 2) : std::cos(t / 2);
                    if (map == FeatureMap::ryrz) amplitude *= std::polar(1.0, one ? t / 2 : -t / 2);
                }
                states[(s << kQubits) + i] = c32(amplitude);
            }
        std::vector<float> of_features(kSamples * kSamples), of_states(of_features.size());
        cpu_kernel_of_features(map, x, kSamples, of_features, 2);
        cpu_kernel_of_states(states, kSamples, of_states, 3);
        for (std::size_t i = 0; i < kSamples; ++i)
            for (std::size_t j = 0; j < kSamples; ++j) {
                c64 product = 0;
                for (std::size_t n = 0; n < 8; ++n)
                    product += std::conj(c64(states[j * 8 + n])) * c64(states[i * 8 + n]);
                REQUIRE(static_cast<double>(of_states[i * kSamples + j]) ==
                        doctest::Approx(std::norm(product)).epsilon(1e-5));
                REQUIRE(std::abs(static_cast<double>(of_features[i * kSamples + j]) - std::norm(product)) <
                        2e-6);
            }
    }
}

TEST_CASE("pairs of iqp: two qubits by hand") {
    // theta = (0, a, b, a + b + c); amplitude 0 is their mean turn.
    const std::vector<float> x{0.3f, -1.1f, 0.7f};
    std::vector<c32> state(4);
    cpu_encode(EncodeMethod::iqp, x, state, {.samples = 1, .qubits = 2}, 1);
    const c64 sum = 1.0 + std::polar(1.0, 0.3) + std::polar(1.0, -1.1) + std::polar(1.0, 0.3 - 1.1 + 0.7);
    CHECK(std::abs(c64(state[0]) - sum / 4.0) < 1e-6);
}
