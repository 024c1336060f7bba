// SPDX-License-Identifier: Apache-2.0
// Kernels that memory bounds, on resident arrays beyond the card's cache.
#include <algorithm>
#include <cmath>
#include <complex>
#include <string>

#include <weft/cuda_encode.hpp>
#include <weft/cuda_field.hpp>
#include <weft/cuda_kernel_matrix.hpp>
#include <weft/cuda_lattice.hpp>

#include "bench_race.hpp"

namespace bench {
namespace {

// Several in a row, so that the wait counts for little.
constexpr int kRepeats = 8;

template <class T>
void require_same(const std::vector<T>& vulkan, const std::vector<T>& cuda, double bound) {
    if (vulkan.size() != cuda.size()) throw std::runtime_error("sizes differ");
    for (std::size_t i = 0; i < vulkan.size(); ++i) {
        bool good = vulkan[i] == cuda[i];
        if constexpr (!std::is_integral_v<T>) good = good || std::abs(vulkan[i] - cuda[i]) <= bound;
        if (!good)
            throw std::runtime_error("element " + std::to_string(i) + " differs between the back ends");
    }
}

/// One operation on both back ends: `record` puts it on a stream of either.
template <class Out>
struct Both {
    weft::Backend& backend;
    weft::Stream& vulkan;
    const weft::Buffer<Out>& vulkan_out;
    const CudaArray<Out>& cuda_out;

    void race(const Settings& settings, const std::string& row, double bytes, double bound,
              const std::function<void(weft::Stream&)>& on_vulkan, const std::function<void()>& on_cuda,
              const std::function<void(const std::vector<Out>&)>& judge) const {
        const weft::Sequence all = vulkan.record([&](weft::Stream& s) {
            for (int r = 0; r < kRepeats; ++r) on_vulkan(s);
        });
        const auto verify = [&] {
            const std::vector<Out> a = vulkan.download(vulkan_out), b = cuda_out.download();
            judge(a);
            require_same(a, b, bound);
        };
        bench::race(settings, row, kRepeats * bytes, 0,
                    {{"weft Vulkan",
                      [&] {
                          vulkan.replay(all);
                          vulkan.wait();
                      },
                      [] {}},
                     {"weft CUDA",
                      [&] {
                          for (int r = 0; r < kRepeats; ++r) on_cuda();
                          cuda_check(cudaStreamSynchronize(nullptr));
                      },
                      verify}});
    }
};

void race_field(weft::Backend& backend, const Settings& settings, weft::Field field, weft::FieldOp op,
                std::size_t bytes) {
    const weft::FieldInfo& info = weft::field_info(field);
    const std::size_t count = bytes / info.element_bytes, out_count = weft::is_reduction(op) ? 1 : count;
    const std::vector<std::uint64_t> a = field_elements(info, count, 1), b = field_elements(info, count, 2);
    weft::Buffer<std::uint64_t> va(backend, a.size()), vb(backend, b.size()),
        vout(backend, out_count * info.limbs);
    const CudaArray<std::uint64_t> ca(a), cb(b), cout(out_count * info.limbs);
    weft::Stream stream(backend);
    stream.upload(a, va);
    stream.upload(b, vb);
    const Both<std::uint64_t> both{backend, stream, vout, cout};
    const bool two = weft::takes_b(op);
    weft::cuda::FieldInput cuda_b;
    if (two) cuda_b = cb.span();
    both.race(
        settings, std::string(info.name) + " " + to_string(op),
        static_cast<double>(count * info.element_bytes * (two ? 2 : 1) + out_count * info.element_bytes), 0,
        [&](weft::Stream& s) {
            weft::field_apply(s, field, op, va, two ? weft::FieldInput(vb) : weft::FieldInput(), vout);
        },
        [&] { weft::cuda::field_apply(nullptr, field, op, ca.span(), cuda_b, cout.span()); },
        [&](const std::vector<std::uint64_t>& got) {
            if (field != weft::Field::bls12_381_fp || op != weft::FieldOp::add) return;
            std::vector<std::uint64_t> want(got.size());
            add_on_cpu(a.data(), b.data(), want.data(), count);
            if (got != want) throw std::runtime_error("sums differ from the CPU's");
        });
}

void race_encode(weft::Backend& backend, const Settings& settings, weft::EncodeMethod method,
                 std::uint32_t qubits, std::size_t bytes) {
    const weft::StateShape shape{std::max<std::size_t>(bytes >> (qubits + 3), 1), qubits};
    const std::uint64_t features = weft::encode_features(method, qubits);
    std::vector<float> values(shape.samples * features);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = method == weft::EncodeMethod::basis
                        ? static_cast<float>(i * 977 % shape.state_size())
                        : 0.1f + 0.37f * static_cast<float>((i + i / features) % 17);
    weft::Buffer<float> vin(backend, values.size());
    weft::Buffer<weft::c32> vout(backend, shape.amplitudes());
    const CudaArray<float> cin(values);
    const CudaArray<weft::c32> cout(shape.amplitudes());
    weft::Stream stream(backend);
    stream.upload(values, vin);
    const Both<weft::c32> both{backend, stream, vout, cout};
    // iqp above shared memory reads and writes its states once more for every pass; these are its passes.
    const double passes = method == weft::EncodeMethod::iqp && qubits > 12 ? 3 : 1;
    both.race(
        settings, std::string("encode ") + to_string(method) + " " + std::to_string(qubits) + " qubits",
        static_cast<double>(values.size() * 4) + passes * static_cast<double>(shape.amplitudes() * 8), 4e-6,
        [&](weft::Stream& s) { weft::encode(s, method, vin, vout, shape); },
        [&] { weft::cuda::encode(nullptr, method, cin.span(), cout.span(), shape); },
        [&](const std::vector<weft::c32>& got) {
            for (const std::size_t first : {std::size_t{0}, got.size() - shape.state_size()}) {
                double norm = 0;
                for (std::size_t i = 0; i < shape.state_size(); ++i)
                    norm += std::norm(std::complex<double>(got[first + i]));
                if (std::abs(norm - 1) > 1e-4) throw std::runtime_error("a state whose norm is not 1");
            }
        });
}

void race_lattice(weft::Backend& backend, const Settings& settings, weft::Lattice lattice,
                  std::size_t bytes) {
    const weft::LatticeCode code{.lattice = lattice, .q = 4, .levels = 2, .beta = 0.4f, .packed = true};
    const std::size_t values = bytes / sizeof(float), vectors = values / dimension(lattice);
    std::vector<float> x(values);
    for (std::size_t i = 0; i < values; ++i) x[i] = std::sin(static_cast<float>(i % 100003)) * 1.5f;
    const std::size_t words = weft::code_words(code, vectors), statuses = weft::status_words(vectors);
    weft::Buffer<float> vx(backend, values), vy(backend, values);
    weft::Buffer<std::uint32_t> vcodes(backend, words), vstatus(backend, statuses);
    const CudaArray<float> cx(x), cy(values);
    const CudaArray<std::uint32_t> ccodes(words), cstatus(statuses);
    weft::Stream stream(backend);
    stream.upload(x, vx);
    const double moved = static_cast<double>(bytes + 4 * words);
    const std::string name = std::string("lattice ") + to_string(lattice);
    Both<std::uint32_t>{backend, stream, vcodes, ccodes}.race(
        settings, name + " encode", moved + static_cast<double>(4 * statuses), 0,
        [&](weft::Stream& s) { weft::lattice_encode(s, code, vx, vcodes, vstatus); },
        [&] { weft::cuda::lattice_encode(nullptr, code, cx.span(), ccodes.span(), cstatus.span()); },
        [](const std::vector<std::uint32_t>&) {});
    Both<float>{backend, stream, vy, cy}.race(
        settings, name + " decode", moved, 0,
        [&](weft::Stream& s) { weft::lattice_decode(s, code, vcodes.view(), std::nullopt, vy); },
        [&] { weft::cuda::lattice_decode(nullptr, code, ccodes.span(), std::nullopt, cy.span()); },
        [&](const std::vector<float>& got) {
            for (std::size_t i = 0; i < values; ++i)
                if (std::abs(got[i] - x[i]) > 0.4f * 1.01f)
                    throw std::runtime_error("a value is decoded too far off");
        });
    Both<float>{backend, stream, vy, cy}.race(
        settings, name + " quantize", static_cast<double>(2 * bytes + 4 * statuses), 0,
        [&](weft::Stream& s) { weft::lattice_quantize(s, code, vx, vy, vstatus); },
        [&] { weft::cuda::lattice_quantize(nullptr, code, cx.span(), cy.span(), cstatus.span()); },
        [](const std::vector<float>&) {});
}

void race_product(weft::Backend& backend, const Settings& settings, std::uint64_t rows,
                  std::uint32_t qubits) {
    const weft::KernelShape shape{rows, 0, qubits};
    std::vector<float> x(rows * qubits);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i % 10007));
    weft::Buffer<float> vx(backend, x.size()), vk(backend, shape.values());
    const CudaArray<float> cx(x), ck(shape.values());
    weft::Stream stream(backend);
    stream.upload(x, vx);
    Both<float>{backend, stream, vk, ck}.race(
        settings, "kernel product " + std::to_string(rows) + " x " + std::to_string(qubits),
        static_cast<double>(4 * shape.values()), 4e-6,
        [&](weft::Stream& s) { weft::kernel_matrix(s, vx, vk, shape); },
        [&] { weft::cuda::kernel_matrix(nullptr, cx.span(), ck.span(), shape); },
        [&](const std::vector<float>& got) {
            for (std::size_t i = 0; i < rows; ++i)
                if (std::abs(got[i * (rows + 1)] - 1) > 1e-6f)
                    throw std::runtime_error("a diagonal that is not 1");
        });
}

}  // namespace

void race_memory_bound(weft::Backend& backend, const Settings& settings) {
    const std::size_t bytes = std::size_t{settings.quick ? 3u : 96u} << 20;
    for (const weft::FieldOp op :
         {weft::FieldOp::add, weft::FieldOp::neg, weft::FieldOp::sum, weft::FieldOp::mul})
        race_field(backend, settings, weft::Field::bls12_381_fp, op, bytes);
    for (const weft::FieldOp op : {weft::FieldOp::add, weft::FieldOp::mul, weft::FieldOp::inner_product})
        race_field(backend, settings, weft::Field::bn254_fr, op, bytes);
    for (const weft::FieldOp op : {weft::FieldOp::add, weft::FieldOp::mul, weft::FieldOp::inverse})
        race_field(backend, settings, weft::Field::goldilocks, op, bytes);
    using weft::EncodeMethod;
    for (const EncodeMethod method : {EncodeMethod::amplitude, EncodeMethod::angle, EncodeMethod::basis,
                                      EncodeMethod::phase, EncodeMethod::iqp, EncodeMethod::iqp_z})
        for (const std::uint32_t qubits : {8u, 16u})
            race_encode(backend, settings, method, qubits, 2 * bytes);
    race_encode(backend, settings, EncodeMethod::iqp, 12, 2 * bytes);
    race_encode(backend, settings, EncodeMethod::amplitude, 20, 2 * bytes);
    for (const weft::Lattice lattice : {weft::Lattice::d4, weft::Lattice::e8})
        race_lattice(backend, settings, lattice, bytes);
    race_product(backend, settings, settings.quick ? 256 : 8192, 8);
}

}  // namespace bench
