// SPDX-License-Identifier: Apache-2.0
// A device of the application can share memory with CUDA if it was made with the extensions for it.
#include "cuda/fixture.hpp"
#include "support/native_app.hpp"

using namespace weft_test;
using weft::Errc;
using Word = std::uint32_t;

TEST_CASE("adopted: shares with CUDA if the application enabled the extensions") {
    App app({.extensions = {"VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd"}});
    {
        weft::Backend backend = weft::native::adopt(app.described());
        const weft::cuda::Device device(backend);
        need(cudaSetDevice(device.ordinal()));
        const CudaStream cuda;
        weft::Stream stream(backend);
        const weft::cuda::SharedBuffer<Word> x(device, 1000);
        stream.fill(x.view(), 4);
        device.wait_for(cuda, stream.submit());
        cuda_affine(x.span(), x.span(), 10, 2, cuda);
        stream.wait_for(device.event(cuda));
        CHECK(stream.download(x.buffer()) == std::vector<Word>(1000, 42));
    }
}

TEST_CASE("adopted: without one of them the error names it") {
    for (const auto& [enabled, missing] :
         {std::pair{"VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd"},
          {"VK_KHR_external_semaphore_fd", "VK_KHR_external_memory_fd"}}) {
        App app({.extensions = {enabled}});
        weft::Backend backend = weft::native::adopt(app.described());
        check_error(Errc::unsupported, missing, [&] { const weft::cuda::Device device(backend); });
    }
}
