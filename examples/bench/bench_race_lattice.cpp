// SPDX-License-Identifier: Apache-2.0
// Lattice codes on resident arrays that are much larger than the card's cache.
#include <cmath>

#include <weft/cuda/lattice.hpp>

#include "bench_race_both.hpp"

namespace bench {
namespace {

struct LatticeRow {
    weft::Lattice lattice;
    weft::LatticeCode code;
    const std::vector<float>& x;
    const Results<float>& floats;
    const Results<std::uint32_t>& words;
};

void judge_decoded(const std::vector<float>& x, std::span<const float> got) {
    in_parallel(got.size(), [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
            if (!(std::abs(got[i] - x[i]) <= 0.4f * 1.01f))
                throw std::runtime_error("the error of a decoded value is too large");
    });
}

void race_lattice(weft::Backend& backend, const Settings& settings, const LatticeRow& row) {
    const weft::LatticeCode& code = row.code;
    const std::size_t vectors = row.x.size() / dimension(row.lattice);
    weft::Stream stream(backend);
    const Twin<float> x(backend, stream, row.x), y(backend, row.x.size());
    const Twin<std::uint32_t> codes(backend, weft::code_words(code, vectors)),
        status(backend, weft::status_words(vectors));
    const auto values = static_cast<double>(x.vulkan.bytes()),
               coded = static_cast<double>(codes.vulkan.bytes()),
               told = static_cast<double>(status.vulkan.bytes());
    const std::string name = std::string("lattice ") + to_string(row.lattice);
    race_twins(
        backend, settings, stream, codes, row.words,
        Operation<std::uint32_t>{
            name + " encode", values + coded + told,
            [&](weft::Stream& s) { weft::lattice_encode(s, code, x.vulkan, codes.vulkan, status.vulkan); },
            [&] {
                weft::cuda::lattice_encode(nullptr, code, x.cuda.span(), codes.cuda.span(),
                                           status.cuda.span());
            }});
    race_twins(backend, settings, stream, y, row.floats,
               Operation<float>{name + " decode", values + coded,
                                [&](weft::Stream& s) {
                                    weft::lattice_decode(s, code, codes.vulkan.view(), std::nullopt,
                                                         y.vulkan);
                                },
                                [&] {
                                    weft::cuda::lattice_decode(nullptr, code, codes.cuda.span(), std::nullopt,
                                                               y.cuda.span());
                                },
                                0, [&](std::span<const float> got) { judge_decoded(row.x, got); }});
    race_twins(
        backend, settings, stream, y, row.floats,
        Operation<float>{
            name + " quantize", 2 * values + told,
            [&](weft::Stream& s) { weft::lattice_quantize(s, code, x.vulkan, y.vulkan, status.vulkan); },
            [&] {
                weft::cuda::lattice_quantize(nullptr, code, x.cuda.span(), y.cuda.span(), status.cuda.span());
            }});
}

}  // namespace

void race_lattices(weft::Backend& backend, const Settings& settings) {
    const std::size_t size = (std::size_t{settings.quick ? 3u : 512u} << 20) / sizeof(float);
    std::vector<float> block(std::min<std::size_t>(size, 1000003));
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = std::sin(static_cast<float>(i)) * 1.5f;
    const std::vector<float> x = repeated(block, size);
    const Results<float> floats(backend, size);
    const Results<std::uint32_t> words(backend, size);
    for (const weft::Lattice lattice : {weft::Lattice::d4, weft::Lattice::e8})
        race_lattice(backend, settings,
                     {lattice,
                      {.lattice = lattice, .q = 4, .levels = 2, .beta = 0.4f, .packed = true},
                      x,
                      floats,
                      words});
}

}  // namespace bench
