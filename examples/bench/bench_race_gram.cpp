// SPDX-License-Identifier: Apache-2.0
// Kernel matrices of given states and of circuits: weft's Gram product compared with cuBLAS' CHERK and |.|^2.
#include <dlfcn.h>

#include <cmath>
#include <complex>
#include <memory>
#include <string>

#include <weft/cuda/kernel_matrix.hpp>

#include "bench_race_both.hpp"

namespace bench {
namespace {

/// cublasCherk through the library's C interface. The library is opened at run time, so the bench builds
/// without it.
class Cublas {
  public:
    Cublas() {
        for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
            if (library_ == nullptr) library_ = dlopen(name, RTLD_NOW);
        if (library_ == nullptr) return;
        const auto create = reinterpret_cast<int (*)(void**)>(dlsym(library_, "cublasCreate_v2"));
        cherk_ = reinterpret_cast<Cherk*>(dlsym(library_, "cublasCherk_v2"));
        if (create == nullptr || cherk_ == nullptr || create(&handle_) != 0) handle_ = nullptr;
    }
    bool there() const { return handle_ != nullptr; }
    // Rows of states are columns in cuBLAS: element (j, i) of C = A^H A, above the diagonal, is <x_j|x_i>.
    void cherk(int rows, int amplitudes, const void* states, void* products) const {
        constexpr int kUpper = 1, kConjugate = 2;
        const float one = 1, zero = 0;
        if (cherk_(handle_, kUpper, kConjugate, rows, amplitudes, &one, states, amplitudes, &zero, products,
                   rows) != 0)
            throw std::runtime_error("cublasCherk failed");
    }

  private:
    using Cherk = int(void*, int, int, int, int, const float*, const void*, int, const float*, void*, int);
    void *library_ = nullptr, *handle_ = nullptr;  // never closed, because CUDA crashes then
    Cherk* cherk_ = nullptr;
};

std::vector<weft::c32> unit_states(std::uint64_t rows, std::uint64_t amplitudes) {
    std::vector<weft::c32> states(rows * amplitudes), turns(6283);
    const float modulus = 1 / std::sqrt(static_cast<float>(amplitudes));
    for (std::size_t i = 0; i < turns.size(); ++i)
        turns[i] = std::polar(modulus, 0.001f * static_cast<float>(i));
    for (std::uint64_t r = 0; r < rows; ++r)
        for (std::uint64_t k = 0; k < amplitudes; ++k)
            states[r * amplitudes + k] = turns[(r * 7919 + k * k % 6151 + r * k % 4093) % 6283];
    return states;
}

void verify(const std::vector<weft::c32>& states, std::uint64_t rows, std::uint64_t amplitudes,
            const std::vector<float>& k, bool upper_alone) {
    for (const std::uint64_t i : {std::uint64_t{0}, rows / 3, rows - 1})
        for (const std::uint64_t j : {std::uint64_t{0}, rows / 2, rows - 1}) {
            if (upper_alone && j > i) continue;
            std::complex<double> sum = 0;
            for (std::uint64_t a = 0; a < amplitudes; ++a)
                sum += std::complex<double>(states[i * amplitudes + a]) *
                       std::conj(std::complex<double>(states[j * amplitudes + a]));
            if (!(std::abs(static_cast<double>(k[i * rows + j]) - std::norm(sum)) < 5e-6))
                throw std::runtime_error("a kernel value is wrong");
        }
}

void race_states(weft::Backend& backend, const Settings& settings, std::uint64_t rows, std::uint32_t qubits) {
    const std::uint64_t amplitudes = std::uint64_t{1} << qubits;
    const std::vector<weft::c32> states = unit_states(rows, amplitudes);
    const weft::StateShape shape{rows, qubits};
    weft::Buffer<weft::c32> vx(backend, states.size());
    weft::Buffer<float> vk(backend, rows * rows);
    const CudaArray<weft::c32> cx(states), products(rows * rows);
    const CudaArray<float> ck(rows * rows), squares(rows * rows);
    weft::Stream stream(backend);
    stream.upload(states, vx);
    const weft::Sequence once =
        stream.record([&](weft::Stream& s) { weft::kernel_matrix(s, vx, vk, shape); });
    static const Cublas cublas;
    VulkanClock vulkan_clock(backend);
    CudaClock cuda_clock;
    std::vector<Runner> runners{
        {"weft Vulkan", [&] { return vulkan_clock.time_replay(stream, once); },
         [&] { verify(states, rows, amplitudes, stream.download(vk), false); }},
        {"weft CUDA",
         [&] {
             return cuda_clock.time([&] { weft::cuda::kernel_matrix(nullptr, cx.span(), ck.span(), shape); });
         },
         [&] { verify(states, rows, amplitudes, ck.download(), false); }}};
    if (cublas.there())
        runners.push_back({"cuBLAS CHERK + |.|^2",
                           [&] {
                               return cuda_clock.time([&] {
                                   cublas.cherk(static_cast<int>(rows), static_cast<int>(amplitudes),
                                                cx.span().data(), products.span().data());
                                   launch_square_moduli(nullptr, products.span().data(),
                                                        squares.span().data(), rows * rows);
                               });
                           },
                           [&] { verify(states, rows, amplitudes, squares.download(), true); }});
    const double flops =
        4.0 * static_cast<double>(rows) * static_cast<double>(rows) * static_cast<double>(amplitudes);
    race(settings, "Gram " + std::to_string(rows) + " x 2^" + std::to_string(qubits), 0, flops, runners);
}

void race_circuit(weft::Backend& backend, const Settings& settings, std::uint64_t rows,
                  std::uint32_t qubits) {
    const weft::KernelMatrixShape shape{rows, 0, qubits};
    std::vector<float> x(rows * qubits);
    std::vector<double> weights(3 * qubits);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i % 10007));
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.1 * static_cast<double>(i);
    const weft::KernelMatrixCircuit circuit{.weights = weft::ConstHostArray(weights), .reupload = true};
    weft::Buffer<float> vx(backend, x.size()), vk(backend, shape.values());
    const CudaArray<float> cx(x), ck(shape.values());
    weft::Stream stream(backend);
    stream.upload(x, vx);
    const weft::Sequence once =
        stream.record([&](weft::Stream& s) { weft::kernel_matrix(s, circuit, vx, vk, shape); });
    VulkanClock vulkan_clock(backend);
    CudaClock cuda_clock;
    const double flops =
        4.0 * static_cast<double>(rows) * static_cast<double>(rows) * std::exp2(static_cast<double>(qubits));
    race(settings, "circuit " + std::to_string(rows) + ", " + std::to_string(qubits) + " qubits, 3 layers", 0,
         flops,
         {{"weft Vulkan", [&] { return vulkan_clock.time_replay(stream, once); }, [] {}},
          {"weft CUDA",
           [&] {
               return cuda_clock.time(
                   [&] { weft::cuda::kernel_matrix(nullptr, circuit, cx.span(), ck.span(), shape); });
           },
           [&] {
               const std::vector<float> a = stream.download(vk), b = ck.download();
               for (std::size_t i = 0; i < a.size(); ++i)
                   if (!(std::abs(a[i] - b[i]) < 4e-6f)) throw std::runtime_error("kernel values differ");
           }}});
}

}  // namespace

void race_gram(weft::Backend& backend, const Settings& settings) {
    if (settings.quick) return race_states(backend, settings, 96, 6);
    race_states(backend, settings, 1024, 12);
    race_states(backend, settings, 4096, 12);
    race_states(backend, settings, 2048, 14);
    race_circuit(backend, settings, 4096, 10);
}

}  // namespace bench
