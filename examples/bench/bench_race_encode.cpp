// SPDX-License-Identifier: Apache-2.0
// Encoders on resident arrays that are much larger than the card's cache.
#include <weft/cuda/encode.hpp>

#include "bench_race_both.hpp"

namespace bench {
namespace {

using weft::EncodeMethod;

std::vector<float> values_of(EncodeMethod method, const weft::StateShape& shape) {
    const std::uint64_t features = weft::encode_features(method, shape.qubits);
    const std::size_t size = shape.samples * features;
    std::vector<float> block(std::min<std::size_t>(size, 17 * features * 1024));
    for (std::size_t i = 0; i < block.size(); ++i)
        block[i] = method == EncodeMethod::basis ? static_cast<float>(i * 977 % shape.state_size())
                                                 : 0.1f + 0.37f * static_cast<float>((i + i / features) % 17);
    return repeated(block, size);
}

// Checks the norms of a few states; all states have been compared between the back ends.
void judge_norms(const weft::StateShape& shape, std::span<const weft::c32> got) {
    const std::size_t size = shape.state_size();
    for (const std::size_t row : {std::size_t{0}, shape.samples / 3, shape.samples - 1}) {
        double norm = 0;
        for (const weft::c32 amplitude : got.subspan(row * size, size))
            norm += std::norm(std::complex<double>(amplitude));
        if (!(std::abs(norm - 1) < 1e-4)) throw std::runtime_error("a state whose norm is not 1");
    }
}

void race_encode(weft::Backend& backend, const Settings& settings, const Results<weft::c32>& results,
                 EncodeMethod method, std::uint32_t qubits) {
    const weft::StateShape shape{std::max<std::size_t>(results.vulkan.size() >> qubits, 1), qubits};
    weft::Stream stream(backend);
    const Twin<float> in(backend, stream, values_of(method, shape));
    const Twin<weft::c32> out(backend, shape.amplitudes());
    // iqp above shared memory reads and writes its states once more; these are its passes.
    const double passes = method == EncodeMethod::iqp && qubits > 12 ? 3 : 1;
    race_twins(
        backend, settings, stream, out, results,
        Operation<weft::c32>{
            .row = std::string("encode ") + to_string(method) + " " + std::to_string(qubits) + " qubits",
            .bytes =
                static_cast<double>(in.vulkan.bytes()) + passes * static_cast<double>(out.vulkan.bytes()),
            .on_vulkan = [&](weft::Stream& s) { weft::encode(s, method, in.vulkan, out.vulkan, shape); },
            .on_cuda = [&] { weft::cuda::encode(nullptr, method, in.cuda.span(), out.cuda.span(), shape); },
            .bound = 4e-6,
            .judge = [&](std::span<const weft::c32> got) { judge_norms(shape, got); }});
}

}  // namespace

void race_encoders(weft::Backend& backend, const Settings& settings) {
    const Results<weft::c32> results(backend, (std::size_t{settings.quick ? 6u : 1024u} << 20) / 8);
    for (const EncodeMethod method : {EncodeMethod::amplitude, EncodeMethod::angle, EncodeMethod::basis,
                                      EncodeMethod::phase, EncodeMethod::iqp, EncodeMethod::iqp_z})
        for (const std::uint32_t qubits : {8u, 16u}) race_encode(backend, settings, results, method, qubits);
    race_encode(backend, settings, results, EncodeMethod::iqp, 12);
    race_encode(backend, settings, results, EncodeMethod::amplitude, settings.quick ? 18 : 20);
}

}  // namespace bench
