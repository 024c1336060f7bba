// SPDX-License-Identifier: Apache-2.0
// Without an NVIDIA driver, every entry point checks its arguments and then reports the missing driver by
// name.
#include <weft/cuda/encode.hpp>
#include <weft/cuda/field.hpp>
#include <weft/cuda/host.hpp>
#include <weft/cuda/kernel_matrix.hpp>
#include <weft/cuda/kernel_operator.hpp>
#include <weft/cuda/lattice.hpp>

#include <dlfcn.h>

#include <array>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "support/gpu_fixture.hpp"

namespace {

template <class T>
struct Memory {  // never read, because there is no device
    alignas(16) std::array<T, 512> values{};
    weft::cuda::DeviceSpan<T> span(std::size_t count) { return {values.data(), count}; }
};

template <class Call>
void check_missing(const char* function, const Call& call) {
    CAPTURE(function);
    weft_test::check_error(weft::Errc::no_device,
                           std::string(function) + ": no NVIDIA driver (libcuda.so.1 cannot be opened)",
                           call);
}

}  // namespace

TEST_CASE("without a driver every kernel names what is missing") {
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr) return;  // device_test reports the devices
    Memory<std::uint64_t> a, b, out;
    Memory<float> x, y;
    Memory<std::uint32_t> codes, status;
    Memory<weft::c32> states;
    using namespace weft::cuda;
    check_missing("field_add",
                  [&] { field_add(nullptr, weft::Field::bn254_fr, a.span(8), b.span(8), out.span(8)); });
    check_missing("field_sum", [&] { field_sum(nullptr, weft::Field::bn254_fr, a.span(8), out.span(4)); });
    check_missing("lattice_encode",
                  [&] { lattice_encode(nullptr, {}, x.span(64), codes.span(32), status.span(4)); });
    check_missing("lattice_decode",
                  [&] { lattice_decode(nullptr, {}, codes.span(32), status.span(4), x.span(64)); });
    check_missing("lattice_quantize",
                  [&] { lattice_quantize(nullptr, {}, x.span(64), y.span(64), status.span(4)); });
    const weft::LatticeTable table(weft::Lattice::z2, 3);
    check_missing("lattice_inner", [&] {
        const weft::LatticeCode code{.lattice = weft::Lattice::z2, .q = 3};
        lattice_inner(nullptr, table, code, codes.span(8), status.span(8), x.span(8));
    });
    check_missing("kernel_matrix", [&] {
        kernel_matrix(nullptr, weft::KernelMatrixCircuit{}, x.span(6), y.span(9),
                      weft::KernelMatrixShape{3, 0, 2});
    });
    check_missing("kernel_matrix", [&] {
        kernel_matrix(nullptr, states.span(16), y.span(16), weft::StateShape{4, 2});
    });
    check_missing("KernelOperator", [&] {
        KernelOperator(nullptr, {}, x.span(6), weft::KernelMatrixShape{3, 0, 2});
    });
    check_missing("encode", [&] {
        encode(nullptr, weft::EncodeMethod::angle, x.span(8), states.span(32), {2, 4});
    });
}

TEST_CASE("without a driver every op on host memory names what is missing, and outputs do not change") {
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr) return;
    const std::vector<std::uint64_t> a(8, 1), b(8, 2);
    std::vector<std::uint64_t> out(8, 7), total(4, 7);
    const std::vector<float> x(64, 1);
    std::vector<float> y(64, 7), k(9, 7);
    std::vector<std::uint8_t> codes(128, 7), status(16, 0);
    std::vector<weft::c32> states(32, 7);
    using namespace weft::cuda;
    const weft::FieldJob add{.a = a, .b = b, .out = out}, sum{.a = a, .out = total};
    const weft::Field field = weft::Field::bn254_fr;
    check_missing("field_batch", [&] { field_batch(field, weft::FieldOp::add, std::span(&add, 1)); });
    check_missing("field_batch", [&] { field_batch(field, weft::FieldOp::sum, std::span(&sum, 1)); });
    check_missing("encode", [&] {
        encode(weft::EncodeMethod::angle, std::vector<float>(8, 1), states, {2, 4});
    });
    check_missing("lattice_encode", [&] { lattice_encode({}, x, codes); });
    check_missing("lattice_decode", [&] { lattice_decode({}, std::vector<std::uint8_t>(128, 1), {}, y); });
    check_missing("lattice_quantize", [&] { lattice_quantize({}, x, y, status); });
    check_missing("lattice_quantize", [&] { lattice_search_beta({}, x); });
    check_missing("kernel_matrix", [&] {
        kernel_matrix(weft::KernelMatrixCircuit{}, std::vector<float>(6, 1), k,
                      weft::KernelMatrixShape{3, 0, 2});
    });
    check_missing("kernel_matrix", [&] {
        kernel_matrix(std::vector<weft::c32>(12), k, weft::KernelMatrixShape{3, 0, 2});
    });
    check_missing("KernelOperator", [&] {
        KernelOperator({}, std::vector<float>(6, 1), weft::KernelMatrixShape{3, 0, 2});
    });
    check_missing("estimate_kernel_operator", [&] {
        estimate_kernel_operator(weft::KernelMatrixCircuit{}, weft::KernelMatrixShape{3, 0, 2});
    });
    weft_test::check_error(weft::Errc::invalid_argument, "KernelOperator: x does not fit the shape", [&] {
        KernelOperator({}, std::vector<float>(5, 1), weft::KernelMatrixShape{3, 0, 2});
    });
    CHECK(out == std::vector<std::uint64_t>(8, 7));
    CHECK(total == std::vector<std::uint64_t>(4, 7));
    CHECK(y == std::vector<float>(64, 7));
    CHECK(k == std::vector<float>(9, 7));
}
