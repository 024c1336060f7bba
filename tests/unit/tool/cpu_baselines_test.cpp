// SPDX-License-Identifier: Apache-2.0
// The CPU baselines of reports, compared with values that were computed by hand or in another way. Reports
// also compare them with the device.
#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "cpu/cpu_circuit.hpp"
#include "cpu/cpu_encode.hpp"
#include "cpu/cpu_field.hpp"
#include "cpu/cpu_kernel_matrix.hpp"
#include "cpu/cpu_lattice.hpp"
#include "cpu/cpu_ntt.hpp"
#include "cpu/cpu_threads.hpp"
#include "support/ntt_oracle.hpp"

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

TEST_CASE("threads are kept between calls, and an exception of one is rethrown after all have ended") {
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
            cpu_field<std::uint64_t>(field, op, {.a = a, .b = b, .out = out}, 1);
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

TEST_CASE("fields of 31 bits, compared with 64-bit arithmetic") {
    const FieldInfo& field = field_info(Field::babybear);
    const std::uint64_t p = field.modulus[0];
    std::vector<std::uint32_t> a(5000), b(a.size()), out(a.size());
    fill_field(field, 1, std::span<std::uint32_t>(a));
    fill_field(field, 2, std::span<std::uint32_t>(b));
    cpu_field<std::uint32_t>(field, FieldOp::mul, {.a = a, .b = b, .out = out}, 2);
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(out[i] == std::uint64_t{a[i]} * b[i] % p);
    CHECK(a[1] == p - 1);
    CHECK(a[2] == 0);
}

TEST_CASE("all operations of a field of 31 bits, compared with 64-bit arithmetic, in both forms") {
    const FieldInfo& field = field_info(Field::koalabear);
    const std::uint64_t p = field.modulus[0], r = (std::uint64_t{1} << 32) % p;
    const auto power = [&](std::uint64_t x, std::uint64_t exponent) {
        std::uint64_t result = 1;
        for (; exponent != 0; exponent >>= 1, x = x * x % p)
            if ((exponent & 1) != 0) result = result * x % p;
        return result;
    };
    const std::uint64_t r_inverse = power(r, p - 2);
    std::vector<std::uint32_t> a(5003), b(a.size()), scalar{12345};
    fill_field(field, 1, std::span<std::uint32_t>(a));
    fill_field(field, 2, std::span<std::uint32_t>(b));
    for (const FieldForm form : {FieldForm::plain, FieldForm::montgomery}) {
        CAPTURE(form == FieldForm::plain);
        const std::uint64_t over = form == FieldForm::plain ? 1 : r_inverse;  // of a product
        const std::uint64_t one = form == FieldForm::plain ? 1 : r;
        const auto run = [&](FieldOp op) {
            std::vector<std::uint32_t> out(is_reduction(op) ? 1 : a.size());
            CpuFieldJob<std::uint32_t> job{.a = a, .out = out, .form = form};
            if (takes_b(op)) job.b = b;
            if (op == FieldOp::axpy) job.scalar = scalar;
            cpu_field(field, op, job, 3);
            return out;
        };
        const auto square = run(FieldOp::square), inverse = run(FieldOp::inverse),
                   to = run(FieldOp::to_montgomery), from = run(FieldOp::from_montgomery),
                   axpy = run(FieldOp::axpy), neg = run(FieldOp::neg);
        std::uint64_t sum = 0, products = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            const std::uint64_t x = a[i], y = b[i];
            REQUIRE(square[i] == x * x % p * over % p);
            REQUIRE(x * inverse[i] % p * over % p == (x == 0 ? 0 : one));
            REQUIRE(to[i] == x * r % p);
            REQUIRE(from[i] == x * r_inverse % p);
            REQUIRE(axpy[i] == (scalar[0] * x % p * over + y) % p);
            REQUIRE((neg[i] + x) % p == 0);
            sum += x;
            products = (products + x * y % p * over) % p;
        }
        CHECK(run(FieldOp::sum)[0] == sum % p);
        CHECK(run(FieldOp::inner_product)[0] == products);
    }
}

TEST_CASE("inverses in fields of many limbs, and sums of all operands with their negatives") {
    for (const Field name : {Field::goldilocks, Field::bn254_fr, Field::bls12_381_fp}) {
        const FieldInfo& field = field_info(name);
        CAPTURE(field.name);
        constexpr std::size_t kElements = 100;
        std::vector<std::uint64_t> a(kElements * field.limbs), inverse(a.size()), product(a.size());
        fill_field(field, 1, std::span<std::uint64_t>(a));
        cpu_field<std::uint64_t>(field, FieldOp::inverse, {.a = a, .out = inverse}, 1);
        cpu_field<std::uint64_t>(field, FieldOp::mul, {.a = a, .b = inverse, .out = product}, 1);
        for (std::size_t i = 0; i < a.size(); ++i)
            REQUIRE(product[i] == (i % field.limbs == 0 && i / field.limbs != 2 ? 1 : 0));  // element 2 is 0
        std::vector<std::uint64_t> total(field.limbs), negated(a.size());
        cpu_field<std::uint64_t>(field, FieldOp::neg, {.a = a, .out = negated}, 1);
        negated.insert(negated.end(), a.begin(), a.end());
        cpu_field<std::uint64_t>(field, FieldOp::sum, {.a = negated, .out = total}, 2);
        CHECK(total == std::vector<std::uint64_t>(field.limbs));
    }
}

TEST_CASE("lattice codes computed by hand") {
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
        fill_encode<float>(method, shape, x);
        if (method == EncodeMethod::iqp)  // without pairs it must be iqp-z
            for (std::size_t i = 0; i < x.size(); ++i)
                if (i % features >= shape.qubits) x[i] = 0;
        std::vector<c32> states(shape.amplitudes());
        cpu_encode<float>(method, x, states, shape, 2);
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

TEST_CASE("states of every method, from one qubit on, all amplitudes compared with the definition") {
    const double c = std::cos(0.3), s = std::sin(0.3), root = std::sqrt(0.5);
    // H^n diag(exp(j theta)) H^n of the zero state, term by term.
    const auto iqp = [](const std::vector<double>& d, unsigned qubits) {
        std::vector<c64> state;
        for (unsigned x = 0; x < 1u << qubits; ++x) {
            c64 sum = 0;
            for (unsigned z = 0; z < 1u << qubits; ++z) {
                double theta = 0;
                unsigned flips = 0, next = qubits;
                for (unsigned i = 0; i < qubits; ++i) {
                    theta += d[i] * (z >> i & 1);
                    flips += x >> i & z >> i & 1;
                }
                for (unsigned i = 0; i < qubits; ++i)
                    for (unsigned j = i + 1; j < qubits; ++j) theta += d[next++] * (z >> i & z >> j & 1);
                sum += std::polar(flips % 2 == 0 ? 1.0 : -1.0, theta);
            }
            state.push_back(sum / static_cast<double>(1u << qubits));
        }
        return state;
    };
    struct Known {
        EncodeMethod method;
        std::vector<double> row;
        std::vector<c64> state;
    };
    const std::vector<double> six{0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    for (const Known& k :
         std::vector<Known>{{EncodeMethod::amplitude, {3, 4}, {0.6, 0.8}},
                            {EncodeMethod::amplitude, {3, 4, 0}, {0.6, 0.8, 0, 0}},
                            {EncodeMethod::angle, {0.3}, {c, s}},
                            {EncodeMethod::angle, {0, 0.3}, {c, 0, s, 0}},
                            {EncodeMethod::basis, {2}, {0, 0, 1, 0}},
                            {EncodeMethod::phase, {0.3}, {root, root * std::polar(1.0, 0.3)}},
                            {EncodeMethod::iqp, {0.3}, iqp({0.3}, 1)},
                            {EncodeMethod::iqp, six, iqp(six, 3)},
                            {EncodeMethod::iqp_z, {0.3}, iqp({0.3}, 1)},
                            {EncodeMethod::iqp_z, {0.1, 0.2, 0.3}, iqp({0.1, 0.2, 0.3, 0, 0, 0}, 3)}}) {
        CAPTURE(to_string(k.method));
        const auto qubits = static_cast<std::uint32_t>(std::countr_zero(k.state.size()));
        std::vector<c32> got(k.state.size()), of_float(got.size());
        cpu_encode<double>(k.method, k.row, got, {.samples = 1, .qubits = qubits}, 1);
        const std::vector<float> row(k.row.begin(), k.row.end());
        cpu_encode<float>(k.method, row, of_float, {.samples = 1, .qubits = qubits}, 1);
        for (std::size_t i = 0; i < got.size(); ++i) {
            CHECK(std::abs(c64(got[i]) - k.state[i]) < 2e-7);
            CHECK(std::abs(c64(of_float[i]) - k.state[i]) < 2e-7);
        }
    }
}

TEST_CASE("kernel matrices of circuits with layers, compared with a gate-by-gate simulation") {
    constexpr std::size_t kSamples = 70, kQubits = 3;  // more than a tile
    std::vector<float> x(kSamples * kQubits), k(kSamples * kSamples);
    fill_encode<float>(EncodeMethod::phase, {.samples = kSamples, .qubits = kQubits}, x);
    const std::vector<double> weights{0.1, -0.7, 0.4, 1.2, 0.3, -0.2};
    for (const FeatureMap map : {FeatureMap::ry, FeatureMap::ryrz})
        for (const bool reupload : {false, true}) {
            const KernelMatrixCircuit circuit{map, weights, reupload, 0.8};
            cpu_kernel_of_features(circuit, x, kSamples, k, 2);
            for (std::size_t i = 0; i < kSamples; i += 23)
                for (std::size_t j = 0; j < kSamples; j += 3) {
                    const auto row = [&](std::size_t r) {
                        return std::span(x).subspan(r * kQubits, kQubits);
                    };
                    const double wanted = overlap_of(state_of(row(i), circuit), state_of(row(j), circuit));
                    REQUIRE(std::abs(static_cast<double>(k[i * kSamples + j]) - wanted) < 2e-6);
                }
        }
}

TEST_CASE("kernel matrices: of features by their overlap, of states by their product, larger than a tile") {
    constexpr std::size_t kSamples = 37, kQubits = 3;
    std::vector<float> x(kSamples * kQubits);
    fill_encode<float>(EncodeMethod::phase, {.samples = kSamples, .qubits = kQubits}, x);
    for (const FeatureMap map : {FeatureMap::ry, FeatureMap::ryrz}) {
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
        cpu_kernel_of_features({.map = map}, x, kSamples, of_features, 2);
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
    // theta = (0, a, b, a + b + c); amplitude 0 is the mean of the four phases.
    const std::vector<float> x{0.3f, -1.1f, 0.7f};
    std::vector<c32> state(4);
    cpu_encode<float>(EncodeMethod::iqp, x, state, {.samples = 1, .qubits = 2}, 1);
    const c64 sum = 1.0 + std::polar(1.0, 0.3) + std::polar(1.0, -1.1) + std::polar(1.0, 0.3 - 1.1 + 0.7);
    CHECK(std::abs(c64(state[0]) - sum / 4.0) < 1e-6);
}

TEST_CASE("transforms, compared with those of the textbook") {
    const auto check = [](auto limb, Field field, std::uint32_t log_size, std::size_t batch) {
        using Limb = decltype(limb);
        CAPTURE(to_string(field));
        CAPTURE(log_size);
        const weft_test::Modulus m(field);
        const weft_test::Big w = weft_test::big_of(ntt_root(field, log_size));
        std::mt19937_64 source(log_size);
        std::vector<std::vector<weft_test::Big>> x(batch), values;
        for (auto& row : x) {
            row.resize(std::size_t{1} << log_size);
            for (weft_test::Big& value : row) value = m.random(source);
            values.push_back(weft_test::reversed(
                weft_test::forward_transform(m, row, w, weft_test::Modulus::one(), row.size()), log_size));
        }
        auto made = weft_test::laid_out<Limb>(m, x, NttLayout::rows);
        const std::vector<Limb> powers = cpu_ntt_powers<Limb>(m.info(), log_size);
        cpu_ntt<Limb>(m.info(), log_size, powers, made, 3);
        const bool same = made == weft_test::laid_out<Limb>(m, values, NttLayout::rows);
        CHECK(same);
    };
    for (const std::uint32_t log_size : {1u, 2u, 5u}) {
        check(std::uint32_t{}, Field::babybear, log_size, 3);
        check(std::uint64_t{}, Field::goldilocks, log_size, 2);
        check(std::uint64_t{}, Field::bn254_fr, log_size, 1);
        check(std::uint64_t{}, Field::bls12_377_fp, log_size, 2);
    }
    // Larger than a block, so that the threads share steps.
    check(std::uint32_t{}, Field::babybear, 15, 1);
    check(std::uint64_t{}, Field::bn254_fr, 12, 2);
}
