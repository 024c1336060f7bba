// SPDX-License-Identifier: Apache-2.0
#include "bench_kernel_operator_states.hpp"

#include <cmath>
#include <complex>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <weft/weft.hpp>

#include "bench_kernel_operator.hpp"

namespace bench {
namespace {

/// Numbers from -1 to 1 in no order.
std::vector<float> scattered(std::size_t count, std::uint32_t seed) {
    std::vector<float> values(count);
    std::uint32_t state = seed;
    for (float& value : values) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<float>(state >> 8) * (2.0f / 16777216.0f) - 1.0f;
    }
    return values;
}

/// States of norm 1, of which all have something in common, so that K is not nearly the unit matrix.
std::vector<std::complex<float>> some_states(std::uint64_t samples, std::uint64_t amplitudes) {
    const std::vector<float> numbers = scattered(2 * samples * amplitudes, 7);
    std::vector<std::complex<float>> states(samples * amplitudes);
    for (std::uint64_t i = 0; i < samples; ++i) {
        double square = 0;
        for (std::uint64_t j = i * amplitudes; j < (i + 1) * amplitudes; ++j) {
            states[j] = {numbers[2 * j] + 1.0f, numbers[2 * j + 1]};
            square += std::norm(std::complex<double>(states[j]));
        }
        const auto factor = static_cast<float>(1 / std::sqrt(square));
        for (std::uint64_t j = i * amplitudes; j < (i + 1) * amplitudes; ++j) states[j] *= factor;
    }
    return states;
}

/// What both ways work on, in device memory.
class Inputs {
  public:
    Inputs(weft::Backend& backend, weft::Stream& stream, const StatesCase& c)
        : shape_{c.samples, 0, c.qubits}, weights_(scattered(2 * c.qubits, 3)) {
        circuit_.weights = weights_;
        circuit_.reupload = true;
        if (c.given) {
            host_ = some_states(c.samples, std::uint64_t{1} << c.qubits);
            states_.emplace(backend, host_.size());
            stream.upload(host_, *states_);
        } else {
            features_ = scattered(c.samples * c.qubits, 1);
            x_.emplace(backend, features_.size());
            stream.upload(features_, *x_);
        }
        stream.wait();
    }
    weft::KernelOperator make(weft::Stream& stream) const {
        if (states_) return {stream, *states_, shape_};
        return {stream, circuit_, *x_, shape_};
    }
    void stored(weft::Stream& stream, const weft::Buffer<float>& k) const {
        if (states_) return weft::kernel_matrix(stream, *states_, k, shape_);
        weft::kernel_matrix(stream, circuit_, *x_, k, shape_);
    }
    /// Row i of K in double from given states; otherwise of the stored K.
    std::vector<double> row(weft::Stream& stream, const weft::Buffer<float>& k, std::uint64_t i) const {
        if (!states_) {
            std::vector<float> values(shape_.samples);
            stream.download<float>(k.view(i * shape_.samples, shape_.samples), values);
            return {values.begin(), values.end()};
        }
        const std::uint64_t amplitudes = std::uint64_t{1} << shape_.qubits;
        std::vector<double> values;
        for (std::uint64_t j = 0; j < shape_.samples; ++j) {
            double re = 0, im = 0;
            for (std::uint64_t a = 0; a < amplitudes; ++a) {
                const std::complex<double> p(host_[i * amplitudes + a]), q(host_[j * amplitudes + a]);
                re += p.real() * q.real() + p.imag() * q.imag();
                im += p.imag() * q.real() - p.real() * q.imag();
            }
            values.push_back(re * re + im * im);
        }
        return values;
    }

#if defined(WEFT_BENCH_CUDA)
    CudaStates by_cuda(const std::vector<float>& v) const {
        return {circuit_, features_, host_, v, shape_};
    }
#endif

  private:
    const weft::KernelMatrixShape shape_;
    const std::vector<float> weights_;
    weft::KernelMatrixCircuit circuit_;
    std::vector<std::complex<float>> host_;
    std::vector<float> features_;
    std::optional<weft::Buffer<std::complex<float>>> states_;
    std::optional<weft::Buffer<float>> x_;
};

template <class Work>
double seconds_of(int repeats, const Work& work) {
    std::vector<double> seconds;
    for (int trial = 0; trial <= repeats; ++trial) {
        const auto start = Clock::now();
        work();
        if (trial > 0) seconds.push_back(seconds_since(start));
    }
    return median(seconds);
}

/// Some rows of K, and the V that they are multiplied with.
struct Checks {
    std::vector<std::uint64_t> numbers;
    std::vector<std::vector<double>> rows;
    std::vector<float> v;

    /// The largest error of a product, in units of the bound.
    double worst(const StatesCase& c, const std::vector<float>& got, double error) const {
        double worst = 0;
        for (std::size_t n = 0; n < rows.size(); ++n) {
            const std::uint64_t column = n % c.columns;
            double want = 0, size = 0;
            for (std::uint64_t j = 0; j < c.samples; ++j) {
                want += rows[n][j] * static_cast<double>(v[j * c.columns + column]);
                size += std::abs(static_cast<double>(v[j * c.columns + column]));
            }
            const double off =
                std::abs(want - static_cast<double>(got[numbers[n] * c.columns + column])) / (error * size);
            if (!(off <= worst)) worst = off;
        }
        return worst;
    }
};

Json row_of(const StatesCase& c, const char* api, double stored, double applied, double worst) {
    if (!(worst <= 1))
        throw weft::Error(weft::Errc::driver,
                          "bench_kernel_operator: values of a product of states are wrong by " +
                              std::to_string(worst) + " of the bound");
    const double pairs = static_cast<double>(c.samples) * static_cast<double>(c.samples);
    std::printf(
        "%8llu rows %3u qubits %-7s %3u columns %-6s: stored K %10.3f ms, product %10.3f ms, %8.3f Gpairs/s, "
        "%.2f of the rate of the stored K  error %.1e of bound\n",
        static_cast<unsigned long long>(c.samples), c.qubits, c.given ? "given" : "layers", c.columns, api,
        stored * 1e3, applied * 1e3, pairs / applied * 1e-9, stored / applied, worst);
    std::fflush(stdout);
    return {{"samples", c.samples},
            {"qubits", c.qubits},
            {"given", c.given},
            {"columns", c.columns},
            {"api", api},
            {"stored_ms", stored * 1e3},
            {"ms", applied * 1e3},
            {"of_stored_rate", stored / applied},
            {"error_of_bound", worst}};
}

}  // namespace

std::vector<Json> run_states(weft::Backend& backend, const StatesCase& c) {
    std::vector<Json> rows;
    weft::Stream stream{backend};
    const Inputs inputs(backend, stream, c);
    Checks checks;
    checks.v = scattered(c.samples * c.columns, 5);
    {
        const weft::Buffer<float> in(backend, checks.v.size()), out(backend, checks.v.size()),
            k(backend, c.samples * c.samples);
        stream.upload(checks.v, in);
        const double stored = seconds_of(c.repeats, [&] { inputs.stored(stream, k), stream.wait(); });
        const weft::KernelOperator op = inputs.make(stream);
        const double applied =
            seconds_of(c.repeats, [&] { weft::kernel_apply(stream, op, in, out), stream.wait(); });
        for (std::size_t n = 0; n < c.checked; ++n) {
            checks.numbers.push_back((n * 7919 + c.samples - 1) % c.samples);
            checks.rows.push_back(inputs.row(stream, k, checks.numbers.back()));
        }
        const double worst = checks.worst(c, stream.download(out), op.estimate(c.columns).error);
        rows.push_back(row_of(c, "Vulkan", stored, applied, worst));
    }
#if defined(WEFT_BENCH_CUDA)
    if (!c.cuda) return rows;
    const CudaStates by_cuda = inputs.by_cuda(checks.v);
    const double stored = seconds_of(c.repeats, [&] { by_cuda.store(); });
    const double applied = seconds_of(c.repeats, [&] { by_cuda.apply(); });
    const double worst = checks.worst(c, by_cuda.result(), by_cuda.error(c.columns));
    rows.push_back(row_of(c, "CUDA", stored, applied, worst));
#endif
    return rows;
}

}  // namespace bench
