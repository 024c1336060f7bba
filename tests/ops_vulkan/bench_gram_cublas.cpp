// SPDX-License-Identifier: Apache-2.0
// cublasCherk through the libraries' C interface, opened at run time: the bench builds and runs without CUDA.
#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "bench_gram.hpp"

namespace bench {
namespace {

class Library {
  public:
    explicit Library(std::initializer_list<const char*> names) {
        for (const char* name : names)
            if (handle_ == nullptr) handle_ = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
        if (handle_ == nullptr) throw std::runtime_error(std::string("no ") + *names.begin());
    }
    template <class Function>
    Function* get(const char* name) const {
        void* symbol = dlsym(handle_, name);
        if (symbol == nullptr) throw std::runtime_error(std::string("no ") + name);
        return reinterpret_cast<Function*>(symbol);
    }

  private:
    void* handle_ = nullptr;  // never closed, because CUDA crashes then
};

void require(int status, const char* what) {
    if (status != 0) throw std::runtime_error(std::string(what) + " failed with " + std::to_string(status));
}

struct Cuda {
    Library runtime{"libcudart.so", "libcudart.so.13", "libcudart.so.12"};
    Library blas{"libcublas.so", "libcublas.so.13", "libcublas.so.12"};
    int (*allocate)(void**, std::size_t) = runtime.get<int(void**, std::size_t)>("cudaMalloc");
    int (*release)(void*) = runtime.get<int(void*)>("cudaFree");
    int (*copy)(void*, const void*, std::size_t,
                int) = runtime.get<int(void*, const void*, std::size_t, int)>("cudaMemcpy");
    int (*make_event)(void**) = runtime.get<int(void**)>("cudaEventCreate");
    int (*record)(void*, void*) = runtime.get<int(void*, void*)>("cudaEventRecord");
    int (*wait)(void*) = runtime.get<int(void*)>("cudaEventSynchronize");
    int (*elapsed)(float*, void*, void*) = runtime.get<int(float*, void*, void*)>("cudaEventElapsedTime");
    int (*create)(void**) = blas.get<int(void**)>("cublasCreate_v2");
    int (*cherk)(void*, int, int, int, int, const float*, const void*, int, const float*, void*, int) =
        blas.get<int(void*, int, int, int, int, const float*, const void*, int, const float*, void*, int)>(
            "cublasCherk_v2");
};

constexpr int kToDevice = 1, kToHost = 2, kOnDevice = 3;  // cudaMemcpyKind
constexpr int kUpper = 1, kConjugate = 2;                 // cublasFillMode_t, cublasOperation_t

Herk run(Cuda& cuda, std::span<const std::complex<float>> states, std::uint64_t rows,
         std::uint64_t amplitudes, const std::vector<std::uint64_t>& checked, int repeats) {
    const auto memory = [&](std::uint64_t bytes) {
        void* pointer = nullptr;
        require(cuda.allocate(&pointer, bytes), "cudaMalloc");
        return std::unique_ptr<void, int (*)(void*)>(pointer, cuda.release);
    };
    const std::uint64_t bytes = rows * amplitudes * 8;
    const auto a = memory(bytes), c = memory(rows * rows * 8);
    for (std::uint64_t at = 0; at < bytes; at += states.size_bytes())
        require(cuda.copy(static_cast<char*>(a.get()) + at,
                          at == 0 ? static_cast<const void*>(states.data()) : a.get(),
                          std::min<std::uint64_t>(states.size_bytes(), bytes - at),
                          at == 0 ? kToDevice : kOnDevice),
                "cudaMemcpy");
    void *handle = nullptr, *begin = nullptr, *end = nullptr;
    require(cuda.create(&handle), "cublasCreate");
    require(cuda.make_event(&begin), "cudaEventCreate");
    require(cuda.make_event(&end), "cudaEventCreate");
    std::vector<float> times;
    for (int i = 0; i <= repeats; ++i) {
        const float one = 1, zero = 0;
        const int n = static_cast<int>(rows), k = static_cast<int>(amplitudes);
        require(cuda.record(begin, nullptr), "cudaEventRecord");
        // Rows of states are columns in cuBLAS: element (j, i) of C = A^H A, above the diagonal, is
        // <x_j|x_i>.
        require(cuda.cherk(handle, kUpper, kConjugate, n, k, &one, a.get(), k, &zero, c.get(), n),
                "cublasCherk");
        require(cuda.record(end, nullptr), "cudaEventRecord");
        require(cuda.wait(end), "cudaEventSynchronize");
        float ms = 0;
        require(cuda.elapsed(&ms, begin, end), "cudaEventElapsedTime");
        if (i > 0) times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    Herk result{times[times.size() / 2], {}, {}};
    for (const std::uint64_t i : checked)
        for (const std::uint64_t j : checked) {
            if (j > i) continue;
            std::complex<float> value;
            require(cuda.copy(&value, static_cast<char*>(c.get()) + (i * rows + j) * 8, 8, kToHost),
                    "cudaMemcpy");
            result.products.push_back(value);
        }
    return result;
}

}  // namespace

Herk run_cherk(std::span<const std::complex<float>> states, std::uint64_t rows, std::uint64_t amplitudes,
               const std::vector<std::uint64_t>& checked, int repeats) try {
    static Cuda cuda;
    return run(cuda, states, rows, amplitudes, checked, repeats);
} catch (const std::runtime_error& error) {
    return {0, {}, error.what()};
}

}  // namespace bench
