// SPDX-License-Identifier: Apache-2.0
// Copies and fills within device memory, compared with those of CUDA.
#include "bench_race_both.hpp"

namespace bench {
namespace {

using Word = std::uint32_t;

void race_copy(weft::Backend& backend, const Settings& settings, std::size_t mebibytes) {
    const std::size_t size = (mebibytes << 20) / sizeof(Word);
    std::vector<Word> words(size);
    for (std::size_t i = 0; i < size; ++i) words[i] = static_cast<Word>(i * 2654435761u);
    weft::Stream stream(backend);
    const Twin<Word> from(backend, stream, words), to(backend, size);
    const Results<Word> results(backend, size);
    const auto bytes = static_cast<double>(to.vulkan.bytes());
    const std::string row = std::to_string(mebibytes) + " MiB";
    race_twins(backend, settings, stream, to, results,
               Operation<Word>{
                   .row = "copy " + row,
                   .bytes = 2 * bytes,
                   .on_vulkan = [&](weft::Stream& s) { s.copy<Word>(from.vulkan.view(), to.vulkan.view()); },
                   .on_cuda =
                       [&] {
                           cuda_check(cudaMemcpyAsync(to.cuda.span().data(), from.cuda.span().data(),
                                                      to.vulkan.bytes(), cudaMemcpyDeviceToDevice));
                       },
                   .judge =
                       [&](std::span<const Word> got) {
                           if (!std::equal(got.begin(), got.end(), words.begin()))
                               throw std::runtime_error("a copy has wrong contents");
                       }});
    race_twins(
        backend, settings, stream, to, results,
        Operation<Word>{
            .row = "fill " + row,
            .bytes = bytes,
            .on_vulkan = [&](weft::Stream& s) { s.fill(to.vulkan.view(), 0x07070707u); },
            .on_cuda = [&] { cuda_check(cudaMemsetAsync(to.cuda.span().data(), 7, to.vulkan.bytes())); },
            .judge =
                [&](std::span<const Word> got) {
                    if (std::any_of(got.begin(), got.end(), [](Word w) { return w != 0x07070707u; }))
                        throw std::runtime_error("a fill has wrong contents");
                }});
}

}  // namespace

void race_copies(weft::Backend& backend, const Settings& settings) {
    for (const std::size_t mebibytes : {1, 16, 512})
        if (!settings.quick || mebibytes <= 16) race_copy(backend, settings, mebibytes);
}

}  // namespace bench
