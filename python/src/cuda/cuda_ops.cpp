// SPDX-License-Identifier: Apache-2.0
// The ops on CUDA arrays: kernels of weft::cuda on the arrays where they lie.
#include <cuda_runtime_api.h>

#include <weft/cuda/encode.hpp>
#include <weft/cuda/field.hpp>
#include <weft/cuda/kernel_matrix.hpp>
#include <weft/cuda/lattice.hpp>

#include "calls.hpp"
#include "cuda/cuda.hpp"
#include "cuda/cuda_device.hpp"
#include "errors.hpp"

namespace weft::python {

namespace {

using cuda::DeviceSpan;
using cuda::StreamHandle;
using Word = std::uint32_t;

cuda::DeviceArray device_array(const Array& array) {
    return {array.data, array.size, array.type};
}

template <class T>
DeviceSpan<T> span_of(const Array& array) {
    return {static_cast<T*>(array.data), static_cast<std::size_t>(array.size)};
}

/// `work(stream)` with the device of the place current and without the interpreter's lock.
template <class Work>
void on_stream(const Place& place, std::initializer_list<const Array*> arrays, Work&& work) {
    {
        const WithoutLock unlocked;
        const CurrentDevice current(place.ordinal);
        const StreamHandle stream = stream_handle(place.stream);
        work(stream);
        if (place.wait) check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }
    for (const Array* array : arrays)
        if (array != nullptr && array->data != nullptr) note_use(*array, place);
}

/// Bytes as the whole words that kernels of lattices use: the array itself if it ends with a word, otherwise
/// memory for the time of the call. Without an array, memory alone.
class Words {
  public:
    Words(const Array* array, std::size_t bytes, StreamHandle stream)
        : array_(array), stream_(stream), bytes_(bytes) {
        if (array_ != nullptr && bytes % sizeof(Word) == 0) {
            words_ = static_cast<Word*>(array_->data);
            return;
        }
        check_cuda(cudaMallocAsync(reinterpret_cast<void**>(&words_), size() * sizeof(Word), stream_),
                   "cudaMallocAsync");
        own_ = true;
    }
    ~Words() {
        if (own_) (void)cudaFreeAsync(words_, stream_);
    }
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;

    std::size_t size() const { return (bytes_ + sizeof(Word) - 1) / sizeof(Word); }
    DeviceSpan<Word> span() const { return {words_, size()}; }
    /// Before and after the kernel.
    const Words& read() const {
        if (own_) {
            check_cuda(cudaMemsetAsync(words_, 0, size() * sizeof(Word), stream_), "cudaMemsetAsync");
            copy(words_, array_->data);
        }
        return *this;
    }
    void write() const {
        if (own_ && array_ != nullptr) copy(array_->data, words_);
    }

  private:
    void copy(void* to, const void* from) const {
        check_cuda(cudaMemcpyAsync(to, from, bytes_, cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
    }

    const Array* array_;
    StreamHandle stream_;
    std::size_t bytes_;
    Word* words_ = nullptr;
    bool own_ = false;
};

std::size_t vectors_of(const LatticeCode& code, const Array& x) {
    const std::size_t width = x.shape.back();
    return static_cast<std::size_t>(x.size) / width * lattice_tiles(code.lattice, width);
}

}  // namespace

void field_on_cuda(const Place& place, Field field, FieldOp op, const Array& a, const Array& b,
                   const Array& scalar, const Array& out, const FieldOptions& options) {
    on_stream(place, {&a, &b, &out}, [&](StreamHandle stream) {
        const cuda::ConstDeviceArray second = takes_b(op) ? device_array(b) : cuda::ConstDeviceArray();
        const ConstHostArray factor = op == FieldOp::axpy ? ConstHostArray(scalar) : ConstHostArray();
        cuda::field_apply(stream, field, op, device_array(a), second, factor, device_array(out), options);
    });
}

void encode_on_cuda(const Place& place, EncodeMethod method, const Array& values, const Array& states,
                    const StateShape& shape, const EncodeOptions& options) {
    on_stream(place, {&values, &states}, [&](StreamHandle stream) {
        cuda::encode(stream, method, device_array(values), device_array(states), shape, options)
            .require_all(stream);
    });
}

void kernel_matrix_on_cuda(const Place& place, const KernelMatrixCircuit* circuit, const Array& x,
                           const Array* y, const Array& k, const KernelMatrixShape& shape,
                           const KernelMatrixOptions& options) {
    on_stream(place, {&x, y, &k}, [&](StreamHandle stream) {
        const cuda::ConstDeviceArray rows = device_array(x);
        const cuda::ConstDeviceArray others = y != nullptr ? device_array(*y) : cuda::ConstDeviceArray();
        const cuda::DeviceArray out = device_array(k);
        if (circuit != nullptr && y != nullptr)
            return cuda::kernel_matrix(stream, *circuit, rows, others, out, shape, options);
        if (circuit != nullptr) return cuda::kernel_matrix(stream, *circuit, rows, out, shape, options);
        if (y == nullptr) return cuda::kernel_matrix(stream, rows, out, shape, options);
        cuda::kernel_matrix(stream, detail::GivenStates<cuda::ConstDeviceArray>(rows), others, out, shape,
                            options);
    });
}

void lattice_encode_on_cuda(const Place& place, const LatticeCode& code, const Array& x, const Array& codes,
                            const Array& status, const LatticeOptions& options) {
    on_stream(place, {&x, &codes, &status}, [&](StreamHandle stream) {
        const Words digits(&codes, codes.bytes(), stream), retries(&status, status.bytes(), stream);
        cuda::lattice_encode(stream, code, span_of<const float>(x), digits.span(), retries.span(), options);
        digits.write();
        retries.write();
    });
}

void lattice_decode_on_cuda(const Place& place, const LatticeCode& code, const Array& codes,
                            const Array* status, const Array& x, const LatticeDecodeOptions& options) {
    on_stream(place, {&codes, status, &x}, [&](StreamHandle stream) {
        const Words digits(&codes, codes.bytes(), stream);
        std::optional<Words> retries;
        std::optional<DeviceSpan<const Word>> given;
        if (status != nullptr) given = retries.emplace(status, status->bytes(), stream).read().span();
        cuda::lattice_decode(stream, code, digits.read().span(), given, span_of<float>(x), options);
    });
}

void lattice_quantize_on_cuda(const Place& place, const LatticeCode& code, const Array& x, const Array& y,
                              const Array* status, const LatticeOptions& options) {
    on_stream(place, {&x, &y, status}, [&](StreamHandle stream) {
        const Words retries(status, vectors_of(code, x), stream);
        cuda::lattice_quantize(stream, code, span_of<const float>(x), span_of<float>(y), retries.span(),
                               options);
        retries.write();
    });
}

void lattice_inner_on_cuda(const Place& place, const LatticeTable& table, const LatticeCode& code,
                           const Array& x, const Array& y, const Array& out, const LatticeOptions& options) {
    on_stream(place, {&x, &y, &out}, [&](StreamHandle stream) {
        const Words left(&x, x.bytes(), stream), right(&y, y.bytes(), stream);
        cuda::lattice_inner(stream, table, code, left.read().span(), right.read().span(), span_of<float>(out),
                            options);
    });
}

}  // namespace weft::python
