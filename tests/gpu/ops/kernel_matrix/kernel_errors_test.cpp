// SPDX-License-Identifier: Apache-2.0
// Calls of kernel_matrix that are refused do not change K; values on the device that are not finite give NaN.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/error_text.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using weft_test::check_error;
using weft_test::on_device;

}  // namespace

TEST_CASE("refused calls name what is wrong and do not change K") {
    on_device([](weft::Backend& backend) {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        std::vector<double> x{0.1, 0.2, 0.5, -0.4, 1.0, 2.0}, bad = x;
        bad[3] = nan;
        const std::vector<float> narrow(x.begin(), x.end());
        std::vector<float> k(9, -7.0f), small(8, -7.0f);
        const std::vector<double> weights{0.3, 0.7, -0.2};
        const weft::KernelMatrixShape shape{3, 0, 2}, cross{3, 3, 2};
        std::vector<weft::c32> states(12);
        states[5] = {0, std::numeric_limits<float>::infinity()};
        struct Case {
            weft::Errc code;
            const char* part;
            std::function<void()> call;
        };
        const weft::Errc argument = weft::Errc::invalid_argument;
        const std::vector<Case> cases{
            {argument, "x: row 1 column 1 is not a number",
             [&] { weft::kernel_matrix(backend, {}, bad, k, shape); }},
            {argument, "y: row 1 column 1 is not a number",
             [&] { weft::kernel_matrix(backend, {}, x, bad, k, cross); }},
            {argument, "k overlaps x",
             [&] {
                 weft::kernel_matrix(backend, {}, x, weft::HostArray(x.data(), 9, weft::kFloat32), shape);
             }},
            {argument, "k is null",
             [&] {
                 weft::kernel_matrix(backend, {}, x, weft::HostArray(nullptr, 9, weft::kFloat32), shape);
             }},
            {argument, "x: row 1 column 1 is infinite",
             [&] {
                 weft::kernel_matrix(backend, states, k, weft::KernelMatrixShape{3, 0, 2});
             }},
            {weft::Errc::out_of_memory, "kernel_matrix: does not fit: ",
             [&] {
                 const std::vector<double> wide(60, 0.5), layers(60, 0.5);
                 std::vector<float> out(4);
                 weft::kernel_matrix(backend, {.weights = weft::ConstHostArray(layers), .reupload = true},
                                     wide, out, {2, 0, 30});
             }},
        };
        for (const Case& c : cases) check_error(c.code, c.part, c.call);
        for (const float value : k) CHECK(value == -7.0f);
        for (const float value : small) CHECK(value == -7.0f);
        CHECK(x[0] == 0.1);
    });
}

TEST_CASE("resident features that are not finite make their row and column NaN") {
    on_device([](weft::Backend& backend) {
        for (const std::size_t qubits : {2u, 40u})
            for (const float value :
                 {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
                std::vector<float> x(70 * qubits, 0.25f);
                x[66 * qubits + 1] = value;
                weft::Stream stream{backend};
                const weft::Buffer<float> features(backend, x.size()), k(backend, 70 * 70);
                stream.upload(x, features);
                weft::kernel_matrix(stream, {}, features, k, {70, 0, static_cast<std::uint32_t>(qubits)});
                const std::vector<float> out = stream.download(k);
                std::size_t wrong = 0;
                for (std::size_t i = 0; i < 70; ++i)
                    for (std::size_t j = 0; j < 70; ++j)
                        wrong += (i == 66 || j == 66) == std::isnan(out[70 * i + j]) ? 0 : 1;
                CHECK(wrong == 0);
            }
    });
}

TEST_CASE("normalised, the row and column of a row that is not finite are NaN, including the diagonal") {
    on_device([](weft::Backend& backend) {
        constexpr std::size_t kRows = 9;
        constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
        std::vector<float> x(kRows * 3, 0.25f);
        x[5 * 3 + 1] = kNan;
        std::vector<weft::c32> states(kRows * 8, weft::c32(0.5f, 0.1f));
        states[5 * 8 + 7] = weft::c32(kNan, 0);
        const std::vector<double> weights(6, 0.3);
        weft::Stream stream{backend};
        const weft::Buffer<float> features(backend, x.size());
        const weft::Buffer<weft::c32> given(backend, states.size());
        stream.upload(x, features);
        stream.upload(states, given);
        const auto check = [&](const char* what, const auto& k) {
            INFO("K of " << std::string(what) << ", " << 8 * sizeof(k[0]) << " bits: " << k[9 * 5] << " "
                         << k[9 * 5 + 5]);
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < kRows; ++i)
                for (std::size_t j = 0; j < kRows; ++j)
                    wrong += (i == 5 || j == 5) == std::isnan(k[kRows * i + j]) ? 0 : 1;
            CHECK(wrong == 0);
            CHECK(k[0] == 1);
        };
        const weft::KernelMatrixOptions normalize{.normalize = true};
        const auto each_type = [&](auto zero) {
            using Real = decltype(zero);
            const weft::Buffer<Real> k(backend, kRows * kRows);
            weft::kernel_matrix(stream, {}, features, k, {kRows, 0, 3}, normalize);
            check("features", stream.download(k));
            weft::kernel_matrix(stream, {.weights = weights, .reupload = true}, features, k, {kRows, 0, 3},
                                normalize);
            check("a circuit", stream.download(k));
            weft::kernel_matrix(stream, given, k, weft::StateShape{kRows, 3}, normalize);
            check("states", stream.download(k));
        };
        each_type(0.0f);
        if (backend.device().shader_float64) each_type(0.0);
    });
}

TEST_CASE("states too large for their fourth power are refused by row") {
    on_device([](weft::Backend& backend) {
        std::vector<weft::c32> states(4 * 16, weft::c32(0.25f, 0));
        std::vector<float> k(16, 7);
        const auto run = [&] {
            weft::kernel_matrix(backend, states, k, weft::KernelMatrixShape{4, 0, 4}, {.normalize = true});
        };
        states[16] = weft::c32(1e9f, 1e9f);
        run();
        CHECK(k[5] == 1);
        states[2 * 16 + 3] = weft::c32(0, 1e10f);
        const std::string text = weft_test::error_text(weft::Errc::invalid_argument, run);
        CHECK(text.find("row 2 is too large for float32 (got a norm of 1e+10, need at most 4.24e+09)") !=
              std::string::npos);
        if (!backend.device().shader_float64) return;
        std::vector<double> wide(16, 7);  // a K of float64 holds the fourth power of any complex64 state
        weft::kernel_matrix(backend, states, wide, weft::KernelMatrixShape{4, 0, 4}, {.normalize = true});
        CHECK(wide[2 * 5] == 1);
    });
}

TEST_CASE("a recorded kernel matrix follows its features") {
    on_device([](weft::Backend& backend) {
        weft::Stream stream{backend};
        const weft::Buffer<float> x(backend, 6), k(backend, 9);
        const std::vector<float> weights{0.3f, 0.7f, -0.2f, 0.4f};
        const weft::Sequence sequence = stream.record([&](weft::Stream& s) {
            weft::kernel_matrix(s, {.weights = weft::ConstHostArray(weights), .reupload = true}, x, k,
                                {3, 0, 2});
        });
        stream.upload(std::vector<float>{0.1f, 0.2f, 0.5f, -0.4f, 1.0f, 2.0f}, x);
        stream.replay(sequence);
        CHECK(std::abs(stream.download(k)[1] - 0.511382804912692) < 2e-6);
        stream.upload(std::vector<float>{0.1f, 0.2f, 0.1f, 0.2f, 1.0f, 2.0f}, x);
        stream.replay(sequence);
        CHECK(std::abs(stream.download(k)[1] - 1.0f) < 2e-6f);
    });
}
