// SPDX-License-Identifier: Apache-2.0
// The kernels on arrays in host memory: both back ends give the same, in one chunk and in many, from ordinary
// and from page-locked memory, and from several threads.
#include <weft/cuda/host.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/any_field.hpp"
#include "support/cuda_array.hpp"
#include "support/gpu_fixture.hpp"
#include "support/lattice_oracle.hpp"
#include "support/same_error.hpp"

namespace {

using namespace weft_test;
using weft::FieldOp;
using Limbs = std::vector<std::uint64_t>;

constexpr weft::Field kFp = weft::Field::bls12_381_fp;

double worst_apart(const auto& a, const auto& b) {
    REQUIRE(a.size() == b.size());
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double apart = static_cast<double>(std::abs(a[i] - b[i]));
        worst = std::isnan(apart) ? std::numeric_limits<double>::infinity() : std::max(worst, apart);
    }
    return worst;
}

}  // namespace

TEST_CASE("host: field operations of one element, and of many chunks") {
    on_device([](weft::Backend& backend) {
        for (const std::size_t n : {std::size_t{1}, std::size_t{700'001}}) {
            const Limbs a = random_elements(n, 1), b = random_elements(n, 2), scalar = random_elements(1, 3);
            for (const FieldOp op : {FieldOp::add, FieldOp::mul, FieldOp::inverse, FieldOp::axpy,
                                     FieldOp::sum, FieldOp::inner_product}) {
                CAPTURE(weft::to_string(op));
                CAPTURE(n);
                Limbs cuda(weft::is_reduction(op) ? 6 : a.size()), vulkan(cuda.size());
                weft::FieldJob job{a, b, scalar, cuda};
                if (!weft::takes_b(op)) job.b = {};
                if (op != FieldOp::axpy) job.scalar = {};
                const weft::OpReport report = weft::cuda::field_batch(kFp, op, std::span(&job, 1));
                CHECK(report.op == std::string(op == FieldOp::inner_product
                                                   ? "field_inner_product"
                                                   : std::string("field_") + to_string(op)));
                CHECK(report.items == n);
                CHECK(report.chunks >= 1);
                job.out = vulkan;
                weft::field_batch(backend, kFp, op, std::span(&job, 1));
                CHECK(cuda == vulkan);
            }
        }
    });
}

TEST_CASE("host: page-locked memory, in place, from four threads at once") {
    on_device([](weft::Backend& backend) {
        constexpr std::size_t kElements = 300'000;
        const Limbs a = random_elements(kElements, 4), b = random_elements(kElements, 5);
        const Limbs want = expected(FieldOp::add, a, b);
        std::vector<int> right(4);
        const auto add = [&](std::size_t t) {
            weft::HostBuffer<std::uint64_t> locked(backend, a.size());
            for (int round = 0; round < 4; ++round) {
                std::copy(a.begin(), a.end(), locked.span().begin());
                const weft::FieldJob job{.a = locked.span(), .b = b, .out = locked.span()};
                weft::cuda::field_batch(kFp, FieldOp::add, std::span(&job, 1));
                right[t] += std::equal(want.begin(), want.end(), locked.span().begin()) ? 1 : 0;
            }
        };
        {
            std::vector<std::jthread> threads;
            for (std::size_t t = 0; t < right.size(); ++t) threads.emplace_back(add, t);
        }
        CHECK(right == std::vector<int>(4, 4));
    });
}

TEST_CASE("host: encodes, and samples that cannot be encoded wherever they lie") {
    on_device([](weft::Backend& backend) {
        for (const weft::EncodeMethod method :
             {weft::EncodeMethod::amplitude, weft::EncodeMethod::angle, weft::EncodeMethod::iqp}) {
            CAPTURE(weft::to_string(method));
            const weft::StateShape shape{5'000, 10};
            std::vector<float> values(shape.samples * weft::encode_features(method, shape.qubits));
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = 0.1f + 0.01f * static_cast<float>(i % 601);
            std::vector<weft::c32> cuda(shape.amplitudes()), vulkan(shape.amplitudes());
            weft::cuda::encode(method, values, cuda, shape);
            weft::encode(backend, method, values, vulkan, shape);
            CHECK(worst_apart(cuda, vulkan) < 4e-6);
            values[values.size() - 3] = values[values.size() / 2] = std::numeric_limits<float>::quiet_NaN();
            check_same_error([&] { weft::encode(backend, method, values, vulkan, shape); },
                             [&] { weft::cuda::encode(method, values, cuda, shape); });
            CHECK(worst_apart(cuda, vulkan) < 4e-6);
        }
    });
}

TEST_CASE("host: lattice codes of rows of any width, packed, with dither and retries") {
    on_device([](weft::Backend& backend) {
        for (const weft::Lattice lattice : {weft::Lattice::z2, weft::Lattice::d4, weft::Lattice::e8})
            for (const std::size_t width : {std::size_t{0}, std::size_t{19}}) {
                CAPTURE(weft::to_string(lattice));
                CAPTURE(width);
                const weft::LatticeCode code{.lattice = lattice,
                                             .q = 5,
                                             .levels = 3,
                                             .beta = 0.3f,
                                             .max_retries = 4,
                                             .packed = true,
                                             .dither_seed = 11,
                                             .dither_first = 77};
                const std::vector<float> x = normal_values(std::size_t{19} * 8 * 40'001, 3);
                const std::size_t row = width == 0 ? dimension(lattice) : width;
                const std::size_t vectors = x.size() / row * weft::lattice_tiles(lattice, row);
                std::vector<std::uint8_t> codes[2], status[2];
                std::vector<float> decoded[2], quantized[2];
                for (int i = 0; i < 2; ++i) {
                    codes[i].resize(weft::code_bytes(code, vectors));
                    status[i].resize(vectors);
                    decoded[i].resize(x.size());
                    quantized[i].resize(x.size());
                }
                weft::lattice_encode(backend, code, x, codes[0], status[0], {.width = width});
                weft::lattice_decode(backend, code, codes[0], status[0], decoded[0], {.width = width});
                weft::lattice_quantize(backend, code, x, quantized[0], {}, {.width = width});
                weft::cuda::lattice_encode(code, x, codes[1], status[1], {.width = width});
                weft::cuda::lattice_decode(code, codes[1], status[1], decoded[1], {.width = width});
                const auto report = weft::cuda::lattice_quantize(code, x, quantized[1], {}, {.width = width});
                CHECK(report.items == vectors);
                CHECK(codes[0] == codes[1]);
                CHECK(status[0] == status[1]);
                CHECK(decoded[0] == decoded[1]);
                CHECK(quantized[0] == quantized[1]);
            }
    });
}

TEST_CASE("host: the search for beta tries and finds the same") {
    on_device([](weft::Backend& backend) {
        const std::vector<float> sample = normal_values(std::size_t{19} * 4'001, 5);
        const weft::LatticeCode code{.lattice = weft::Lattice::e8, .q = 4, .levels = 2};
        std::uint64_t tried[2] = {};
        const auto search = [&](int i, auto&& call) {
            return call(weft::LatticeSearchOptions{
                .width = 19, .steps = 20, .batch = {.progress = [&tried, i](const weft::Progress& p) {
                                              tried[i] = p.done;
                                          }}});
        };
        const auto of_vulkan = search(0, [&](const weft::LatticeSearchOptions& options) {
            return weft::lattice_search_beta(backend, code, sample, options);
        });
        const auto of_cuda = search(1, [&](const weft::LatticeSearchOptions& options) {
            return weft::cuda::lattice_search_beta(code, sample, options);
        });
        REQUIRE(of_cuda.trials.size() >= 30);
        REQUIRE(of_vulkan.trials.size() == of_cuda.trials.size());
        CHECK(tried[0] == of_vulkan.trials.size());
        CHECK(tried[1] == of_cuda.trials.size());
        CHECK(of_vulkan.best.beta == of_cuda.best.beta);
        for (std::size_t i = 0; i < of_cuda.trials.size(); ++i) {
            CHECK(of_vulkan.trials[i].beta == of_cuda.trials[i].beta);
            CHECK(of_vulkan.trials[i].mean_squared_error == of_cuda.trials[i].mean_squared_error);
            CHECK(of_vulkan.trials[i].unresolved == of_cuda.trials[i].unresolved);
        }
        weft_test::check_error(weft::Errc::invalid_argument, "lattice_search_beta: the sample is empty",
                               [&] { weft::cuda::lattice_search_beta(code, {}); });
    });
}

TEST_CASE("host: options that CUDA cannot honour are refused by name, a stop ends a call") {
    on_device([](weft::Backend&) {
        const Limbs a(60, 1);
        Limbs out(60, 7);
        const auto refused = [&](const char* text, const weft::FieldHostOptions& options) {
            weft_test::check_error(weft::Errc::invalid_argument, text, [&] {
                weft::cuda::field_apply(kFp, FieldOp::neg, a, {}, {}, out, options);
            });
        };
        refused("field_neg: BatchOptions::path does not apply (got host, need automatic)",
                {.batch = {.path = weft::Path::host}});
        refused("field_neg: BatchOptions::chunk_elements does not apply (got 9, need 0)",
                {.batch = {.chunk_elements = 9}});
        refused("field_neg: FieldHostOptions::shader does not apply (got limbs32, need automatic)",
                {.shader = weft::FieldShader::limbs32});
        std::stop_source stop;
        stop.request_stop();
        weft_test::check_error(weft::Errc::cancelled, "field_neg: cancelled by its stop token", [&] {
            weft::cuda::field_apply(kFp, FieldOp::neg, a, {}, {}, out,
                                    {.batch = {.cancel = stop.get_token()}});
        });
        CHECK(out == Limbs(60, 7));
        const std::vector<float> x(64, 1);
        std::vector<std::uint8_t> codes(128);
        weft_test::check_error(weft::Errc::invalid_argument,
                               "lattice_encode: BatchOptions::mode does not apply", [&] {
                                   weft::cuda::lattice_encode(
                                       {}, x, codes, {}, {.batch = {.mode = weft::BatchMode::sequential}});
                               });
    });
}

TEST_CASE("host: kernel matrices of rows and of states") {
    on_device([](weft::Backend& backend) {
        const weft::KernelMatrixShape square{1'001, 0, 6}, cross{301, 517, 6};
        std::vector<double> x(1'001 * 6), y(517 * 6);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
        for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::cos(static_cast<double>(i));
        std::vector<double> cuda(square.values()), vulkan(square.values());
        weft::cuda::kernel_matrix(weft::KernelMatrixCircuit{}, x, cuda, square);
        weft::kernel_matrix(backend, weft::KernelMatrixCircuit{}, x, vulkan, square);
        CHECK(worst_apart(cuda, vulkan) < 1e-12);
        cuda.resize(cross.values());
        vulkan.resize(cross.values());
        const std::vector<double> some(x.begin(), x.begin() + 301 * 6), weights(18, 0.3);
        const weft::KernelMatrixCircuit circuit{.weights = weft::ConstHostArray(weights), .reupload = true};
        weft::cuda::kernel_matrix(circuit, some, y, cuda, cross);
        weft::kernel_matrix(backend, circuit, some, y, vulkan, cross);
        CHECK(worst_apart(cuda, vulkan) < 1e-11);
        std::vector<weft::c64> states(64 * 33);
        for (std::size_t i = 0; i < states.size(); ++i)
            states[i] = std::polar(0.125, static_cast<double>(i % 97));
        cuda.resize(33 * 33);
        vulkan.resize(33 * 33);
        weft::cuda::kernel_matrix(states, cuda, weft::KernelMatrixShape{33, 0, 6});
        weft::kernel_matrix(backend, states, vulkan, weft::KernelMatrixShape{33, 0, 6});
        CHECK(worst_apart(cuda, vulkan) < 1e-11);
    });
}
