// SPDX-License-Identifier: Apache-2.0
// Encoded states on both back ends against the definition, within the bounds that both state; the same faults
// and the same errors.
#include <weft/cuda/encode.hpp>

#include <limits>
#include <vector>

#include <weft/weft.hpp>

#include "support/cuda_array.hpp"
#include "support/encode_routes.hpp"
#include "support/gpu_fixture.hpp"
#include "support/same_error.hpp"

namespace {

using namespace weft_test;
using weft::c32;
using weft::c64;
using weft::EncodeMethod;
using weft::StateShape;

constexpr EncodeMethod kMethods[] = {EncodeMethod::amplitude, EncodeMethod::angle, EncodeMethod::basis,
                                     EncodeMethod::phase,     EncodeMethod::iqp,   EncodeMethod::iqp_z};

template <class Amplitude, class Value>
std::vector<Amplitude> by_cuda(EncodeMethod method, const std::vector<Value>& values, const StateShape& shape,
                               bool check_values = false) {
    constexpr std::size_t kGuards = 64;
    std::vector<Amplitude> all(shape.amplitudes() + kGuards, guard_amplitude<Amplitude>());
    const CudaStream stream;
    const CudaArray<Value> in(values);
    const CudaArray<Amplitude> out(all);
    weft::cuda::encode(stream, method, in.span(), out.span(0, shape.amplitudes()), shape, {.check_values = check_values})
        .require_all(stream);
    all = out.download();
    for (std::size_t i = shape.amplitudes(); i < all.size(); ++i)
        CHECK(all[i] == guard_amplitude<Amplitude>());
    all.resize(shape.amplitudes());
    return all;
}

template <class Amplitude, class Value>
void check_states(weft::Backend& backend, EncodeMethod method, std::uint32_t qubits, std::uint64_t samples) {
    CAPTURE(weft::to_string(method));
    CAPTURE(qubits);
    CAPTURE(samples);
    CAPTURE(sizeof(Value));
    CAPTURE(sizeof(Amplitude));
    std::vector<Value> values;
    std::vector<std::vector<double>> rows;
    for (std::uint64_t s = 0; s < samples; ++s) {
        rows.push_back(sample_values(method, qubits, s + 1));
        const std::vector<Value> row = cast_values<Value>(rows.back());
        values.insert(values.end(), row.begin(), row.end());
    }
    const StateShape shape{samples, qubits};
    const auto cuda = by_cuda<Amplitude>(method, values, shape);
    const auto vulkan = encode_by<Amplitude>(backend, EncodeRoute::resident, method, values, shape);
    for (std::uint64_t s = 0; s<samples; s += samples> 6 ? samples / 3 : 1)
        CHECK(worst_difference(cuda, s << qubits, expected_state(method, rows[s], qubits)) <
              tolerance<Amplitude>(method, qubits));
    double apart = 0;
    for (std::size_t i = 0; i < cuda.size(); ++i)
        apart = std::max(apart, static_cast<double>(std::abs(cuda[i] - vulkan[i])));
    CHECK(apart < 2 * tolerance<Amplitude>(method, qubits));
}

}  // namespace

TEST_CASE("conformance: every method and type, small states") {
    on_device([](weft::Backend& backend) {
        for (const EncodeMethod method : kMethods)
            for (const std::uint32_t qubits : {1u, 5u, 6u, 7u, 9u, 12u}) {
                check_states<c32, float>(backend, method, qubits, 5);
                check_states<c64, double>(backend, method, qubits, 3);
                if (qubits % 3 != 0) continue;  // shaders of every form take long to compile
                check_states<c32, double>(backend, method, qubits, 5);
                check_states<c64, float>(backend, method, qubits, 1);
            }
    });
}

TEST_CASE("conformance: many small states, and large ones") {
    on_device([](weft::Backend& backend) {
        for (const EncodeMethod method : kMethods) {
            check_states<c32, float>(backend, method, 4, 3001);
            check_states<c32, float>(backend, method, 9, 301);
            for (const std::uint32_t qubits : {13u, 15u, 17u}) {
                if (method == EncodeMethod::iqp && qubits > 13) continue;  // the definition takes its time
                check_states<c32, float>(backend, method, qubits, 3);
                check_states<c64, double>(backend, method, qubits, 2);
            }
        }
    });
}

TEST_CASE("conformance: amplitudes of rows of every length, and with extreme values") {
    on_device([](weft::Backend& backend) {
        for (const std::uint32_t qubits : {3u, 9u, 14u, 15u, 21u})
            for (const std::size_t cut :
                 {std::size_t{0}, std::size_t{3}, (std::size_t{1} << qubits) / 2 + 1}) {
                CAPTURE(qubits);
                CAPTURE(cut);
                std::vector<double> row = sample_values(EncodeMethod::amplitude, qubits, 4);
                row.resize(row.size() - cut);
                for (const double scale : {1.0, qubits < 14 ? 1e-30 : 1e30}) {
                    std::vector<double> scaled = row;
                    for (double& v : scaled) v = static_cast<float>(v * scale);
                    const auto cuda =
                        by_cuda<c32>(EncodeMethod::amplitude, cast_values<float>(scaled), {1, qubits});
                    CHECK(worst_difference(cuda, 0, amplitude_state(scaled, qubits)) <
                          tolerance<c32>(EncodeMethod::amplitude, qubits));
                    const auto vulkan =
                        encode_by<c32>(backend, EncodeRoute::resident, EncodeMethod::amplitude,
                                       cast_values<float>(scaled), {1, qubits});
                    double apart = 0;
                    for (std::size_t i = 0; i < cuda.size(); ++i)
                        apart = std::max(apart, static_cast<double>(std::abs(cuda[i] - vulkan[i])));
                    CHECK(apart < tolerance<c32>(EncodeMethod::amplitude, qubits));
                }
            }
    });
}

TEST_CASE("conformance: the same faults of samples") {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(),
                     kInf = std::numeric_limits<double>::infinity();
    on_device([&](weft::Backend& backend) {
        const auto both = [&](EncodeMethod method, std::uint32_t qubits, const std::vector<double>& values,
                              std::uint64_t samples) {
            CAPTURE(weft::to_string(method));
            for (const bool check_values : {false, true})
                check_same_error(
                    [&] {
                        encode_by<c32>(backend, EncodeRoute::resident, method, values, {samples, qubits},
                                       check_values);
                    },
                    [&] {
                        by_cuda<c32>(method, values, {samples, qubits}, check_values);
                    });
        };
        both(EncodeMethod::amplitude, 2, {1, 2, 3, 0, 0, 0, 4, 5, 6}, 3);
        both(EncodeMethod::amplitude, 1, {1, kNaN, 3, 4, kInf, 1, -kInf, kNaN}, 4);
        both(EncodeMethod::angle, 3, {0, 1, 2, 3, 4, kNaN, 0, 0, 0}, 3);
        both(EncodeMethod::phase, 2, {0, -kInf, 1, 1, kNaN, kNaN}, 3);
        both(EncodeMethod::iqp_z, 2, {0, 0, kInf, kNaN}, 2);
        both(EncodeMethod::iqp, 2, {0, kInf, 0, 1, 1, 1}, 2);
        both(EncodeMethod::basis, 3, {-1, 8, 2.5, kNaN, 1e300, 3, -0.0, -0.5, kInf}, 9);
        std::vector<double> row(std::size_t{1} << 16, 1);
        row[40000] = kNaN;
        both(EncodeMethod::amplitude, 16, row, 1);
        std::vector<double> angles(16, 0.5);
        angles[7] = kInf;
        both(EncodeMethod::angle, 16, angles, 1);
    });
}

TEST_CASE("conformance: the same errors for the same bad calls") {
    on_device([](weft::Backend& backend) {
        const CudaStream cuda;
        weft::Stream vulkan(backend);
        const weft::Buffer<float> vx(backend, 64);
        const weft::Buffer<c32> vs(backend, 64);
        const CudaArray<float> cx(64);
        const CudaArray<c32> cs(64);
        const auto both = [&](EncodeMethod method, std::size_t values, std::size_t states,
                              const StateShape& shape) {
            check_same_error(
                [&] { weft::encode(vulkan, method, vx.view(0, values), vs.view(0, states), shape); },
                [&] { weft::cuda::encode(cuda, method, cx.span(0, values), cs.span(0, states), shape); });
        };
        both(EncodeMethod::angle, 6, 16, {2, 4});
        both(EncodeMethod::angle, 8, 32, {2, 3});
        both(EncodeMethod::angle, 8, 31, {2, 4});
        both(EncodeMethod::amplitude, 9, 8, {1, 3});
        both(EncodeMethod::phase, 3, 8, {0, 3});
        both(EncodeMethod::phase, 3, 8, {1, 31});
        both(static_cast<EncodeMethod>(9), 3, 8, {1, 3});
        check_error(weft::Errc::invalid_argument, "encode: states is not aligned", [&] {
            weft::cuda::encode(cuda, weft::EncodeMethod::angle, cx.span(0, 3), cs.span(1, 8), {1, 3});
        });
    });
}
