// SPDX-License-Identifier: Apache-2.0
#include <weft/dlpack.hpp>

#include <dlpack/dlpack.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>

namespace weft {
namespace {

// NumPy, PyTorch and JAX make no more.
constexpr std::size_t kMostAxes = 64;

/// A tensor of weft with its shape, its strides and the owner of its memory.
struct Held {
    DLManagedTensor tensor{};
    std::vector<std::int64_t> shape, strides;
    std::shared_ptr<void> owner;
};

[[noreturn]] void refuse(Errc code, const std::string& function, const std::string& what) {
    throw Error(code, function + ": " + what);
}

// DLPack's codes, in the order of ElementKind.
constexpr std::array<std::uint8_t, 4> kCodes{kDLInt, kDLUInt, kDLFloat, kDLComplex};

std::optional<ElementKind> kind_of(std::uint8_t code) {
    const auto found = std::find(kCodes.begin(), kCodes.end(), code);
    if (found == kCodes.end()) return std::nullopt;
    return static_cast<ElementKind>(found - kCodes.begin());
}

TensorPlace place_of(DLDeviceType type) {
    if (type == kDLCPU || type == kDLCUDAHost) return TensorPlace::host;
    return type == kDLCUDA ? TensorPlace::cuda : TensorPlace::other;
}

/// Whether consumers know elements of so many bits. A complex element counts both parts.
bool known_bits(ElementKind kind, std::uint32_t bits) {
    return std::has_single_bit(bits) && bits >= (kind == ElementKind::complex ? 16u : 8u) && bits <= 128;
}

bool known_kind(ElementKind kind) {
    return kind >= ElementKind::signed_integer && kind <= ElementKind::complex;
}

/// Checks everything but shape and memory of a tensor that an application describes. Errors:
/// invalid_argument.
void check_fields(const char* function, const TensorInfo& tensor) {
    if (!known_kind(tensor.type.kind) || !known_bits(tensor.type.kind, tensor.type.bits))
        refuse(Errc::invalid_argument, function,
               "element type (got " + to_string(tensor.type) +
                   ", need 8, 16, 32, 64 or 128 bits, complex at least 16)");
    if (tensor.place != TensorPlace::host && tensor.place != TensorPlace::cuda)
        refuse(Errc::invalid_argument, function,
               "place of the memory (got one that is neither host nor cuda, need one of them)");
    if (tensor.place == TensorPlace::host ? tensor.ordinal != 0 : tensor.ordinal < 0)
        refuse(Errc::invalid_argument, function,
               "number of the device (got " + std::to_string(tensor.ordinal) + ", need 0" +
                   (tensor.place == TensorPlace::host ? " for host memory)" : " or more)"));
    if (tensor.shape.size() > kMostAxes)
        refuse(Errc::invalid_argument, function,
               "too many axes (got " + std::to_string(tensor.shape.size()) + ", need at most " +
                   std::to_string(kMostAxes) + ")");
}

/// Errors: invalid_argument - negative, or too large.
std::size_t count_elements(const char* function, const std::vector<std::int64_t>& shape, std::uint32_t bits) {
    const std::uint64_t element_bytes = std::max<std::uint64_t>((std::uint64_t{bits} + 7) / 8, 1);
    const std::uint64_t most = std::numeric_limits<std::int64_t>::max() / element_bytes;
    std::uint64_t count = 1;
    bool empty = false;
    for (const std::int64_t extent : shape) {
        if (extent < 0)
            refuse(Errc::invalid_argument, function, "negative extent (got " + std::to_string(extent) + ")");
        if (extent == 0)
            empty = true;
        else if (count > most / static_cast<std::uint64_t>(extent))
            refuse(Errc::invalid_argument, function, "too many elements for an address");
        else
            count *= static_cast<std::uint64_t>(extent);
    }
    return empty ? 0 : static_cast<std::size_t>(count);
}

/// Checks that `count` elements can be at `data`. Errors: invalid_argument.
void check_memory(const char* function, const void* data, std::size_t count, std::uint32_t bits) {
    if (data == nullptr && count != 0)
        refuse(Errc::invalid_argument, function, "null with elements (got " + std::to_string(count) + ")");
    const std::size_t bytes = count * (bits / 8);
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    if (bytes > std::numeric_limits<std::uintptr_t>::max() - address)
        refuse(Errc::invalid_argument, function,
               "memory beyond the last address (got " + std::to_string(bytes) + " bytes from " +
                   std::to_string(address) + " on)");
}

/// Errors: invalid_argument - beyond the last address.
void* data_of(const char* function, const DLTensor& t) {
    if (t.data == nullptr) return nullptr;
    const auto address = reinterpret_cast<std::uintptr_t>(t.data);
    if (t.byte_offset > std::numeric_limits<std::uintptr_t>::max() - address)
        refuse(Errc::invalid_argument, function,
               "offset beyond the last address (got " + std::to_string(t.byte_offset) + " bytes from " +
                   std::to_string(address) + " on)");
    // An integer sum, because a pointer beyond its object is undefined and check_memory() runs later.
    return reinterpret_cast<void*>(address + t.byte_offset);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::string text = "[";
    for (const std::int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
    return text + "]";
}

/// Whether the tensor is in C order without gaps. The stride of an axis with one element does not matter.
bool compact(const DLTensor& t, const std::vector<std::int64_t>& shape) {
    if (t.strides == nullptr || std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
    std::int64_t expected = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        if (shape[i] != 1 && t.strides[i] != expected) return false;
        expected *= shape[i];
    }
    return true;
}

}  // namespace

std::size_t TensorInfo::elements() const {
    return count_elements("TensorInfo", shape, type.bits);
}

std::size_t TensorInfo::bytes() const {
    return elements() * ((std::size_t{type.bits} + 7) / 8);
}

DLManagedTensor* make_dlpack(const TensorInfo& tensor, std::shared_ptr<void> owner) {
    constexpr const char* kFunction = "make_dlpack";
    check_fields(kFunction, tensor);
    const std::size_t count = count_elements(kFunction, tensor.shape, tensor.type.bits);
    check_memory(kFunction, tensor.data, count, tensor.type.bits);
    auto held = std::make_unique<Held>();
    held->shape = tensor.shape;
    held->strides.resize(tensor.shape.size());
    std::int64_t stride = 1;
    for (std::size_t i = tensor.shape.size(); i-- > 0;) {
        held->strides[i] = stride;
        stride *= std::max<std::int64_t>(tensor.shape[i], 1);
    }
    held->owner = std::move(owner);
    DLTensor& t = held->tensor.dl_tensor;
    t.data = tensor.data;
    t.device = {tensor.place == TensorPlace::cuda ? kDLCUDA : kDLCPU, tensor.ordinal};
    t.ndim = static_cast<int>(tensor.shape.size());
    t.dtype = {kCodes[static_cast<std::size_t>(tensor.type.kind)],
               static_cast<std::uint8_t>(tensor.type.bits), 1};
    t.shape = held->shape.data();
    t.strides = held->strides.data();
    held->tensor.manager_ctx = held.get();
    held->tensor.deleter = [](DLManagedTensor* self) { delete static_cast<Held*>(self->manager_ctx); };
    return &held.release()->tensor;
}

TensorInfo read_dlpack(const DLManagedTensor* tensor) {
    constexpr const char* kFunction = "read_dlpack";
    if (tensor == nullptr) refuse(Errc::invalid_argument, kFunction, "no tensor (got null)");
    const DLTensor& t = tensor->dl_tensor;
    if (t.ndim < 0 || static_cast<std::size_t>(t.ndim) > kMostAxes || (t.ndim > 0 && t.shape == nullptr))
        refuse(Errc::invalid_argument, kFunction,
               "damaged shape (got " + std::to_string(t.ndim) + " axes" +
                   (t.shape == nullptr ? ", null" : "") + ", need at most " + std::to_string(kMostAxes) +
                   ")");
    const std::optional<ElementKind> kind = kind_of(t.dtype.code);
    if (!kind || t.dtype.lanes != 1 || !known_bits(*kind, t.dtype.bits))
        refuse(Errc::unsupported, kFunction,
               "element type (got code " + std::to_string(t.dtype.code) + ", " +
                   std::to_string(t.dtype.bits) + " bits, " + std::to_string(t.dtype.lanes) +
                   " lanes, need 8, 16, 32, 64 or 128 bits, complex at least 16, one lane)");
    TensorInfo info;
    info.place = place_of(t.device.device_type);
    if (info.place == TensorPlace::host && t.device.device_id != 0)
        refuse(
            Errc::invalid_argument, kFunction,
            "number of the device (got " + std::to_string(t.device.device_id) + ", need 0 for host memory)");
    info.ordinal = info.place == TensorPlace::cuda ? t.device.device_id : 0;
    info.type = {*kind, t.dtype.bits};
    if (t.ndim > 0) info.shape.assign(t.shape, t.shape + t.ndim);
    const std::size_t count = count_elements(kFunction, info.shape, info.type.bits);
    if (!compact(t, info.shape))
        refuse(Errc::unsupported, kFunction, "not in C order without gaps (make it contiguous first)");
    info.data = data_of(kFunction, t);
    check_memory(kFunction, info.data, count, info.type.bits);
    return info;
}

void release_dlpack(DLManagedTensor* tensor) noexcept {
    if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
}

namespace detail {

void check_shape(const char* function, const TensorInfo& tensor, std::size_t elements) {
    if (count_elements(function, tensor.shape, tensor.type.bits) == elements) return;
    refuse(Errc::invalid_argument, function,
           "shape of another size (got " + shape_text(tensor.shape) + ", need " + std::to_string(elements) +
               " elements)");
}

void check_tensor(const char* function, const TensorInfo& tensor, TensorPlace place, ElementType type) {
    const auto name = [](TensorPlace p) {
        return p == TensorPlace::host   ? "host memory"
               : p == TensorPlace::cuda ? "a CUDA device"
                                        : "elsewhere";
    };
    if (tensor.place != place)
        refuse(Errc::invalid_argument, function,
               std::string("tensor in the wrong place (got ") + name(tensor.place) + ", need " + name(place) +
                   ")");
    if (tensor.type != type)
        refuse(Errc::invalid_argument, function,
               "elements of another type (got " + to_string(tensor.type) + ", need " + to_string(type) + ")");
    if (tensor.data != nullptr &&
        reinterpret_cast<std::uintptr_t>(tensor.data) % std::min(type.bits / 8, 8u) != 0)
        refuse(Errc::invalid_argument, function, "elements not aligned to their size");
}

}  // namespace detail
}  // namespace weft
