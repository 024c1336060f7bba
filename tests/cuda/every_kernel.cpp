// SPDX-License-Identifier: Apache-2.0
// Runs every CUDA kernel at least once, on small inputs of awkward sizes, without Vulkan, for
// compute-sanitizer (tools/sanitize-cuda.sh). The name of a part runs this part alone; "device" runs none and
// reports whether there is a device. The conformance tests check the results of the kernels.
#include <weft/cuda/device.hpp>
#include <weft/cuda/devices.hpp>
#include <weft/cuda/encode.hpp>
#include <weft/cuda/field.hpp>
#include <weft/cuda/host.hpp>
#include <weft/cuda/kernel_matrix.hpp>
#include <weft/cuda/kernel_operator.hpp>
#include <weft/cuda/lattice.hpp>
#include <weft/cuda/ntt.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/cuda_array.hpp"

namespace {

using weft_test::CudaArray;
using weft_test::CudaStream;

constexpr std::size_t kCount = 1025;

template <class Limb>
void run_field(const CudaStream& stream, const weft::FieldInfo& field) {
    const std::vector<Limb> ones(kCount * field.limbs, 1);
    const CudaArray<Limb> a(ones), b(ones), out(ones.size());
    const std::vector<Limb> scalar(field.limbs, 1);
    for (int op = 0; op <= static_cast<int>(weft::FieldOp::inner_product); ++op) {
        const auto which = static_cast<weft::FieldOp>(op);
        weft::cuda::ConstDeviceArray second;
        weft::ConstHostArray factor;
        if (which == weft::FieldOp::axpy) factor = scalar;
        if (weft::takes_b(which)) second = b.span();
        weft::cuda::field_apply(stream, field.field, which, a.span(), second, factor,
                                out.span(0, weft::is_reduction(which) ? field.limbs : ones.size()));
    }
}

// Tiles of every size, in registers and compact ones, with tables and cosets.
template <class Limb>
void run_transforms(const CudaStream& stream, const weft::FieldInfo& field) {
    std::vector<Limb> coset(field.limbs);
    coset[0] = 5;
    for (const std::uint32_t log_size : {1u, 3u, 5u, 8u, 10u, 13u, 19u})
        for (const weft::NttOrder order : {weft::NttOrder::nn, weft::NttOrder::nr, weft::NttOrder::rn}) {
            const weft::NttShape shape{.log_size = log_size, .batch = log_size < 13 ? 3u : 1u};
            const CudaArray<Limb> x(std::vector<Limb>(shape.elements() * field.limbs, 1)),
                y(2 * shape.elements() * field.limbs);
            const auto same = y.span(0, shape.elements() * field.limbs);
            weft::cuda::ntt(stream, field.field, weft::NttDirection::forward, x.span(), same, shape,
                            {.order = order});
            weft::cuda::ntt(stream, field.field, weft::NttDirection::inverse, x.span(), same, shape,
                            {.order = order, .coset = coset});
            weft::cuda::ntt_extend(stream, field.field, x.span(), y.span(), shape, 2,
                                   {.order = order, .coset = coset});
            stream.wait();
        }
    const CudaArray<Limb> a(std::vector<Limb>(100 * field.limbs, 1)), out(199 * field.limbs);
    weft::cuda::ntt_product(stream, field.field, a.span(), a.span(), out.span());
    stream.wait();
}

void run_lattices(const CudaStream& stream) {
    for (const weft::Lattice lattice : {weft::Lattice::z2, weft::Lattice::d4, weft::Lattice::e8})
        for (const std::uint32_t q : {4u, 5u})
            for (const bool packed : {false, true})
                for (const std::size_t width : {std::size_t{0}, std::size_t{13}}) {
                    weft::LatticeCode code{.lattice = lattice, .q = q, .max_retries = 2, .packed = packed};
                    code.dither_seed = 3;
                    const std::size_t values = 13 * 8 * 33, row = width == 0 ? dimension(lattice) : width;
                    const std::size_t vectors = values / row * weft::lattice_tiles(lattice, row);
                    const CudaArray<float> x(std::vector<float>(values, 1.25f)), y(values);
                    const CudaArray<std::uint32_t> codes(weft::code_words(code, vectors)),
                        status(weft::status_words(vectors));
                    weft::cuda::lattice_encode(stream, code, x.span(), codes.span(), status.span(),
                                               {.width = width});
                    weft::cuda::lattice_decode(stream, code, codes.span(), status.span(), y.span(),
                                               {.width = width});
                    weft::cuda::lattice_quantize(stream, code, x.span(), y.span(), status.span(),
                                                 {.width = width});
                    stream.wait();
                }
    const weft::LatticeTable table(weft::Lattice::d4, 4);
    const CudaArray<std::uint32_t> codes(std::vector<std::uint32_t>(2 * kCount, 0x01020300));
    const CudaArray<float> out(kCount);
    weft::cuda::lattice_inner(stream, table, {}, codes.span(), codes.span(), out.span());
    stream.wait();
}

template <class Amplitude, class Value>
void run_encoders(const CudaStream& stream) {
    using weft::EncodeMethod;
    for (const EncodeMethod method : {EncodeMethod::amplitude, EncodeMethod::angle, EncodeMethod::basis,
                                      EncodeMethod::phase, EncodeMethod::iqp, EncodeMethod::iqp_z})
        for (const std::uint32_t qubits : {1u, 3u, 6u, 7u, 8u, 9u, 11u, 12u, 13u, 15u}) {
            const weft::StateShape shape{3, qubits};
            std::vector<Value> numbers(shape.samples * weft::encode_features(method, qubits), Value(1));
            // A row whose norm needs the careful way, between rows whose norms do not.
            if (method == EncodeMethod::amplitude)
                for (std::size_t i = numbers.size() / 3; i < numbers.size() / 3 * 2; ++i)
                    numbers[i] = Value(1e-30);
            const CudaArray<Value> values(numbers);
            const CudaArray<Amplitude> states(shape.amplitudes());
            weft::cuda::encode(stream, method, values.span(), states.span(), shape, {.check_values = true})
                .require_all(stream);
        }
    // Rows that are too long for workgroups that share a row.
    const CudaArray<Value> values(std::vector<Value>((std::size_t{1} << 21) - 5, Value(1)));
    const CudaArray<Amplitude> states(std::size_t{1} << 21);
    weft::cuda::encode(stream, weft::EncodeMethod::amplitude, values.span(), states.span(), {1, 21})
        .require_all(stream);
}

template <class Amplitude, class Real>
void run_kernel_matrices(const CudaStream& stream) {
    for (const std::uint64_t rows : {33u, 130u})
        for (const std::uint32_t qubits : {1u, 4u, 9u, 40u}) {
            const weft::KernelMatrixShape square{rows, 0, qubits}, cross{rows, 70, qubits};
            const CudaArray<Real> x(std::vector<Real>(rows * qubits, Real(0.3))),
                y(std::vector<Real>(70 * qubits, Real(0.4))), k(rows * rows), other(rows * 70);
            weft::cuda::kernel_matrix(stream, weft::KernelMatrixCircuit{}, x.span(), k.span(), square);
            weft::cuda::kernel_matrix(stream, {.map = weft::FeatureMap::ry}, x.span(), y.span(), other.span(),
                                      cross);
            stream.wait();
            if (qubits > 9) continue;
            const std::vector<double> weights(3 * qubits, 0.2);
            weft::cuda::kernel_matrix(stream, {.weights = weft::ConstHostArray(weights), .reupload = true},
                                      x.span(), k.span(), square, {.normalize = true});
            const CudaArray<Amplitude> states(std::vector<Amplitude>(rows << qubits, Amplitude(0.1f, 0.1f)));
            weft::cuda::kernel_matrix(stream, states.span(), k.span(), weft::StateShape{rows, qubits});
            stream.wait();
        }
}

template <class Real>
void run_operators(const CudaStream& stream) {
    using weft::Choice;
    constexpr std::size_t kRows = 600, kMostColumns = 16;
    const CudaArray<Real> v(std::vector<Real>(kRows * kMostColumns, Real(0.5))), out(kRows * kMostColumns);
    for (const weft::FeatureMap map : {weft::FeatureMap::ry, weft::FeatureMap::ryrz})
        for (const std::uint32_t qubits : {3u, 8u, 11u, 16u, 19u}) {
            const CudaArray<Real> x(std::vector<Real>(kRows * qubits, Real(0.3)));
            for (const Choice low_rank : {Choice::off, Choice::on})
                for (const Choice symmetric : {Choice::off, Choice::on}) {
                    if (low_rank == Choice::on && (qubits > 8 || symmetric == Choice::on)) continue;
                    const weft::cuda::KernelOperator k(
                        stream, {.map = map}, x.span(), {kRows, 0, qubits},
                        {.type = weft::element_type<Real>(), .symmetric = symmetric, .low_rank = low_rank});
                    for (const std::size_t columns : {1u, 3u, 16u})
                        weft::cuda::kernel_apply(stream, k, v.span(0, kRows * columns),
                                                 out.span(0, kRows * columns), {.b = 1, .lambda = 1});
                    weft::cuda::kernel_rows(stream, k, {1, 599}, out.span(0, 2 * kRows));
                    weft::cuda::kernel_diagonal(stream, k, out.span(0, kRows));
                    stream.wait();
                }
        }
}

// Blocks of states, and shares of pairs, which add up totals.
template <class Real>
void run_shared_operators(const CudaStream& stream) {
    constexpr std::size_t kRows = 600, kColumns = 23;
    constexpr std::uint32_t kQubits = 4;
    const weft::KernelOperatorOptions options{
        .type = weft::element_type<Real>(), .symmetric = weft::Choice::on, .low_rank = weft::Choice::off};
    const std::vector<Real> x(kRows * kQubits, Real(0.3)), v(kRows * kColumns, Real(0.5));
    const std::vector<float> weights(2 * kQubits, 0.4f);
    const weft::KernelMatrixCircuit built{.weights = weights, .reupload = true};
    const CudaArray<Real> in(v), out(v.size()), of_x(x);
    const weft::cuda::KernelOperator k(stream, built, of_x.span(), {kRows, 0, kQubits}, options);
    weft::cuda::kernel_apply(stream, k, in.span(), out.span(), {.b = 1, .lambda = 1});
    weft::cuda::kernel_rows(stream, k, {1, 599}, out.span(0, 2 * kRows));
    weft::cuda::kernel_diagonal(stream, k, out.span(0, kRows));
    stream.wait();
    weft::cuda::Devices devices("0,0");
    std::vector<Real> result(v.size());
    for (const weft::KernelMatrixCircuit& circuit : {weft::KernelMatrixCircuit{}, built}) {
        const weft::cuda::KernelOperator shared(devices, circuit, x, {kRows, 0, kQubits}, options);
        weft::cuda::kernel_apply(devices, shared, v, result);
    }
}

// From host memory, in more chunks than one.
void run_host_forms() {
    const weft::FieldInfo& field = weft::field_info(weft::Field::bls12_381_fp);
    const std::vector<std::uint64_t> a(std::size_t{600'000} * field.limbs, 1);
    std::vector<std::uint64_t> out(a.size()), total(field.limbs);
    const weft::FieldJob add{.a = a, .b = a, .out = out}, sum{.a = a, .out = total};
    weft::cuda::field_batch(field.field, weft::FieldOp::add, std::span(&add, 1));
    weft::cuda::field_batch(field.field, weft::FieldOp::sum, std::span(&sum, 1));
    if (out[0] != 2 || total[0] != 600'000) throw std::runtime_error("sums are wrong");
}

}  // namespace

int main(int argc, char** argv) try {
    const std::string part = argc > 1 ? argv[1] : "";
    // Reports what is missing; the error of the runtime would be "insufficient driver".
    const std::vector<weft::cuda::DeviceInfo> devices = weft::cuda::list_devices();
    if (part == "device") {
        std::printf("%s\n", devices.front().name.c_str());
        return 0;
    }
    const auto wanted = [&](const char* name) { return part.empty() || part == name; };
    const CudaStream stream;
    bool any = false;
    const auto run = [&](const char* name, const auto& kernels) {
        if (!wanted(name)) return;
        any = true;
        kernels();
        stream.wait();
    };
    run("field", [&] {
        for (const weft::FieldInfo& field : weft::fields())
            field.limb_bytes == 4 ? run_field<std::uint32_t>(stream, field)
                                  : run_field<std::uint64_t>(stream, field);
    });
    run("ntt", [&] {
        for (const weft::FieldInfo& field : weft::fields()) {
            if (weft::ntt_info(field.field).two_adicity == 0) continue;
            field.limb_bytes == 4 ? run_transforms<std::uint32_t>(stream, field)
                                  : run_transforms<std::uint64_t>(stream, field);
        }
    });
    run("lattice", [&] { run_lattices(stream); });
    run("encode", [&] {
        run_encoders<weft::c32, float>(stream);
        run_encoders<weft::c32, double>(stream);
        run_encoders<weft::c64, float>(stream);
        run_encoders<weft::c64, double>(stream);
    });
    run("matrix", [&] {
        run_kernel_matrices<weft::c32, float>(stream);
        run_kernel_matrices<weft::c64, double>(stream);
    });
    run("operator", [&] {
        run_operators<float>(stream);
        run_operators<double>(stream);
        run_shared_operators<float>(stream);
        run_shared_operators<double>(stream);
    });
    run("host", [] { run_host_forms(); });
    if (!any)
        throw std::runtime_error("no such part (got " + part +
                                 ", need field, ntt, lattice, encode, matrix, operator, host or device)");
    std::puts("every kernel ran");
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "every_kernel: %s\n", error.what());
    return 1;
}
