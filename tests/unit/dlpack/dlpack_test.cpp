// SPDX-License-Identifier: Apache-2.0
#include <weft/dlpack.hpp>

#include <dlpack/dlpack.h>
#include <doctest/doctest.h>

#include <limits>
#include <memory>

#include "support/gpu_fixture.hpp"

using namespace weft;
using weft_test::check_error;

namespace {

/// A tensor as another library makes it.
struct Foreign {
    std::vector<double> values{1, 2, 3, 4, 5, 6, 7};
    std::vector<std::int64_t> shape{2, 3}, strides{3, 1};
    int deleted = 0;
    DLManagedTensor tensor{};

    Foreign() {
        tensor.dl_tensor = {values.data(), {kDLCPU, 0},    2, {kDLFloat, 64, 1},
                            shape.data(),  strides.data(), 0};
        tensor.manager_ctx = this;
        tensor.deleter = [](DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
    }
};

}  // namespace

TEST_CASE("dlpack: an exported tensor describes its data, and keeps the memory until it is deleted") {
    std::vector<std::complex<float>> values{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}};
    const void* data = values.data();
    DLManagedTensor* tensor = to_dlpack(std::move(values), {3, 1, 2});
    const DLTensor& t = tensor->dl_tensor;
    CHECK(t.data == data);  // moved, not copied
    CHECK(t.device.device_type == kDLCPU);
    CHECK(t.ndim == 3);
    CHECK(t.dtype.code == kDLComplex);
    CHECK(t.dtype.bits == 64);
    CHECK(t.dtype.lanes == 1);
    CHECK(std::vector(t.shape, t.shape + 3) == std::vector<std::int64_t>{3, 1, 2});
    CHECK(std::vector(t.strides, t.strides + 3) == std::vector<std::int64_t>{2, 2, 1});
    CHECK(t.byte_offset == 0);
    CHECK(static_cast<std::complex<float>*>(t.data)[5] == std::complex<float>(11, 12));
    release_dlpack(tensor);
    release_dlpack(nullptr);
}

TEST_CASE("dlpack: the deleter releases the owner, once") {
    auto owner = std::make_shared<int>(3);
    int memory[4] = {};
    DLManagedTensor* tensor =
        make_dlpack({memory, TensorPlace::cuda, 2, {ElementKind::signed_integer, 32}, {4}}, owner);
    CHECK(owner.use_count() == 2);
    CHECK(tensor->dl_tensor.device.device_type == kDLCUDA);
    CHECK(tensor->dl_tensor.device.device_id == 2);
    tensor->deleter(tensor);
    CHECK(owner.use_count() == 1);
    check_error(Errc::invalid_argument, "negative extent (got -4)", [&] {
        make_dlpack({memory, TensorPlace::host, 0, {}, {-4}}, owner);
    });
    const std::int64_t large = std::numeric_limits<std::int64_t>::max() / 2;
    check_error(Errc::invalid_argument, "too many elements", [&] {
        make_dlpack({memory, TensorPlace::host, 0, {}, {large, large}}, owner);
    });
    check_error(Errc::invalid_argument, "null with elements", [&] {
        make_dlpack({nullptr, TensorPlace::host, 0, {}, {1}}, owner);
    });
    CHECK(owner.use_count() == 1);
}

TEST_CASE("dlpack: fields that cannot be exported are refused, and the owner is not taken") {
    auto owner = std::make_shared<int>(3);
    alignas(16) int memory[4] = {};
    const auto refused = [&](const char* part, auto&& spoil) {
        TensorInfo tensor{memory, TensorPlace::host, 0, {}, {1}};
        spoil(tensor);
        check_error(Errc::invalid_argument, part, [&] { make_dlpack(tensor, owner); });
        CHECK(owner.use_count() == 1);
    };
    using T = TensorInfo&;
    refused("make_dlpack: element type (got float300, need 8, 16", [](T t) { t.type.bits = 300; });
    refused("got float0", [](T t) { t.type.bits = 0; });
    refused("got float4", [](T t) { t.type.bits = 4; });
    refused("got float33", [](T t) { t.type.bits = 33; });
    refused("got float24", [](T t) { t.type.bits = 24; });
    refused("got float256", [](T t) { t.type.bits = 256; });
    refused("got float4294967288", [](T t) { t.type.bits = 4294967288u; });
    refused("got complex8", [](T t) { t.type = {ElementKind::complex, 8}; });
    refused("got unknown32", [](T t) { t.type.kind = static_cast<ElementKind>(4); });
    refused("got unknown32", [](T t) { t.type.kind = static_cast<ElementKind>(-1); });
    refused("place of the memory (got one that is neither host nor cuda",
            [](T t) { t.place = TensorPlace::other; });
    refused("place of the memory (got one that is neither host nor cuda",
            [](T t) { t.place = static_cast<TensorPlace>(7); });
    refused("got 1, need 0 for host memory", [](T t) { t.ordinal = 1; });
    refused("got -1, need 0 or more", [](T t) {
        t.place = TensorPlace::cuda;
        t.ordinal = -1;
    });
    refused("too many axes (got 65, need at most 64)", [](T t) { t.shape.assign(65, 1); });
    refused("negative extent (got -9223372036854775808)", [](T t) {
        t.shape = {0, std::numeric_limits<std::int64_t>::min()};
    });
    // An extent of 0 does not make the strides of the other axes smaller.
    refused("too many elements", [](T t) { t.shape = {0, std::int64_t{1} << 32, std::int64_t{1} << 32}; });
    refused("too many elements", [](T t) { t.shape = {std::int64_t{1} << 62}; });
    refused("memory beyond the last address", [](T t) {
        t.data = reinterpret_cast<void*>(~std::uintptr_t{15});
        t.shape = {4};
    });
}

TEST_CASE("dlpack: the size of a tensor does not overflow") {
    TensorInfo info{
        nullptr, TensorPlace::host, 0, {ElementKind::floating, 64}, {(std::int64_t{1} << 60) - 1}};
    CHECK(info.bytes() == ((std::size_t{1} << 60) - 1) * 8);
    info.shape = {std::int64_t{1} << 60};
    check_error(Errc::invalid_argument, "too many elements", [&] { static_cast<void>(info.bytes()); });
}

TEST_CASE("dlpack: element types by their names") {
    CHECK(to_string(element_type<std::uint8_t>()) == "uint8");
    CHECK(to_string(element_type<std::int64_t>()) == "int64");
    CHECK(to_string(element_type<float>()) == "float32");
    CHECK(to_string(element_type<double>()) == "float64");
    CHECK(to_string(element_type<std::complex<double>>()) == "complex128");
}

TEST_CASE("dlpack: a tensor of another library is read in place and deleted once") {
    Foreign foreign;
    {
        HostTensor<double> tensor(&foreign.tensor);
        CHECK(tensor.span().data() == foreign.values.data());
        CHECK(tensor.shape() == std::vector<std::int64_t>{2, 3});
        const HostTensor<double> moved = std::move(tensor);
        CHECK(tensor.span().empty());  // NOLINT(bugprone-use-after-move)
        CHECK(moved.span().size() == 6);
        CHECK(foreign.deleted == 0);
    }
    CHECK(foreign.deleted == 1);
    foreign.tensor.dl_tensor.byte_offset = 8;
    CHECK(HostTensor<double>(&foreign.tensor).span()[0] == 2);
    foreign.tensor.dl_tensor.strides = nullptr;
    CHECK(read_dlpack(&foreign.tensor).elements() == 6);
    foreign.tensor.dl_tensor.ndim = 0;
    CHECK(read_dlpack(&foreign.tensor).elements() == 1);
    foreign.tensor.deleter = nullptr;
    CHECK(HostTensor<double>(&foreign.tensor).span().size() == 1);
    CHECK(foreign.deleted == 2);
}

TEST_CASE("dlpack: axes of one element and empty tensors may have any strides") {
    Foreign foreign;
    foreign.shape = {1, 3};
    foreign.strides = {77, 1};
    CHECK(read_dlpack(&foreign.tensor).elements() == 3);
    foreign.shape = {0, 3};
    foreign.strides = {5, 5};
    CHECK(read_dlpack(&foreign.tensor).elements() == 0);
}

TEST_CASE("dlpack: a tensor that cannot be read is refused by name and stays with the caller") {
    const auto refused = [](Errc code, const char* part, auto&& spoil) {
        Foreign foreign;
        spoil(foreign);
        check_error(code, part, [&] { HostTensor<double> tensor(&foreign.tensor); });
        CHECK(foreign.deleted == 0);
    };
    using F = Foreign&;
    const auto type = [](F f) -> DLDataType& { return f.tensor.dl_tensor.dtype; };
    check_error(Errc::invalid_argument, "no tensor (got null)", [] { read_dlpack(nullptr); });
    refused(Errc::invalid_argument, "got -1 axes", [](F f) { f.tensor.dl_tensor.ndim = -1; });
    refused(Errc::invalid_argument, "got 2 axes, null", [](F f) { f.tensor.dl_tensor.shape = nullptr; });
    refused(Errc::invalid_argument, "negative extent", [](F f) { f.shape[0] = -2; });
    refused(Errc::invalid_argument, "null with elements", [](F f) { f.tensor.dl_tensor.data = nullptr; });
    refused(Errc::unsupported, "not in C order", [](F f) { f.strides = {1, 2}; });
    refused(Errc::unsupported, "not in C order", [](F f) { f.strides = {6, 1}; });
    refused(Errc::unsupported, "element type (got code 4", [&](F f) { type(f).code = kDLBfloat; });
    refused(Errc::unsupported, "4 lanes", [&](F f) { type(f).lanes = 4; });
    refused(Errc::unsupported, "4 bits", [&](F f) { type(f).bits = 4; });
    refused(Errc::unsupported, "0 bits", [&](F f) { type(f).bits = 0; });
    refused(Errc::unsupported, "24 bits", [&](F f) { type(f).bits = 24; });
    refused(Errc::unsupported, "0 lanes", [&](F f) { type(f).lanes = 0; });
    refused(Errc::unsupported, "code 3", [&](F f) { type(f).code = kDLOpaqueHandle; });
    refused(Errc::unsupported, "code 6", [&](F f) { type(f).code = 6; });  // bool, of later versions
    refused(Errc::unsupported, "code 255", [&](F f) { type(f).code = 255; });
    refused(Errc::unsupported, "complex at least 16", [&](F f) { type(f) = {kDLComplex, 8, 1}; });
    refused(Errc::invalid_argument, "got float32, need float64", [&](F f) { type(f).bits = 32; });
    refused(Errc::invalid_argument, "got int64, need float64", [&](F f) { type(f).code = kDLInt; });
    refused(Errc::invalid_argument, "number of the device (got 5, need 0 for host memory)",
            [](F f) { f.tensor.dl_tensor.device.device_id = 5; });
    refused(Errc::invalid_argument, "number of the device (got 1, need 0 for host memory)", [](F f) {
        f.tensor.dl_tensor.device = {kDLCUDAHost, 1};
    });
    refused(Errc::invalid_argument, "got a CUDA device, need host memory",
            [](F f) { f.tensor.dl_tensor.device.device_type = kDLCUDA; });
    refused(Errc::invalid_argument, "got elsewhere, need host memory",
            [](F f) { f.tensor.dl_tensor.device.device_type = kDLMetal; });
    refused(Errc::invalid_argument, "got elsewhere",
            [](F f) { f.tensor.dl_tensor.device.device_type = static_cast<DLDeviceType>(14); });
    refused(Errc::invalid_argument, "not aligned", [](F f) { f.tensor.dl_tensor.byte_offset = 3; });
    for (const std::uint64_t offset : {~std::uint64_t{3}, ~std::uint64_t{7}, ~std::uint64_t{0}})
        refused(Errc::invalid_argument, "offset beyond the last address",
                [&](F f) { f.tensor.dl_tensor.byte_offset = offset; });
    refused(Errc::invalid_argument, "memory beyond the last address", [](F f) {
        f.tensor.dl_tensor.byte_offset =
            ~std::uint64_t{7} - reinterpret_cast<std::uintptr_t>(f.tensor.dl_tensor.data);
    });
    refused(Errc::invalid_argument, "damaged shape (got 65 axes, need at most 64)",
            [](F f) { f.tensor.dl_tensor.ndim = 65; });
    refused(Errc::invalid_argument, "damaged shape", [](F f) { f.tensor.dl_tensor.ndim = 0x7fffffff; });
    refused(Errc::invalid_argument, "too many elements", [](F f) {
        f.shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
    });
    refused(Errc::invalid_argument, "too many elements", [](F f) { f.shape = {0, std::int64_t{1} << 61}; });
    refused(Errc::unsupported, "not in C order", [](F f) { f.strides = {-3, 1}; });
    refused(Errc::unsupported, "not in C order", [](F f) { f.strides = {0, 0}; });
    refused(Errc::unsupported, "not in C order", [](F f) {
        f.strides = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    });
    check_error(Errc::invalid_argument, "got [2, 2], need 5 elements", [] {
        to_dlpack(std::vector<float>(5), {2, 2});
    });
}
