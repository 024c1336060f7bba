// SPDX-License-Identifier: Apache-2.0
// From host memory and back: field add by weft on either back end beside plain CUDA and beside a loop on the
// CPU, and encoders by both back ends.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include <weft/cuda/field.hpp>
#include <weft/cuda/host.hpp>

#include "bench_race_both.hpp"
#include "cpu/cpu_field.hpp"

namespace bench {
namespace {

using Limbs = std::vector<std::uint64_t>;

constexpr weft::Field kField = weft::Field::bls12_381_fp;
constexpr std::uint32_t kQubits = 16;

/// What one would write with CUDA alone: streams in turns, each copying in, computing and copying out a
/// chunk.
class CudaStreams {
  public:
    static constexpr std::size_t kStreams = 4;
    explicit CudaStreams(std::size_t chunk_limbs) : chunk_(chunk_limbs) {
        for (Slot& slot : slots_) {
            cuda_check(cudaStreamCreateWithFlags(&slot.stream, cudaStreamNonBlocking));
            for (auto* array : {&slot.a, &slot.b, &slot.out})
                *array = std::make_unique<CudaArray<std::uint64_t>>(chunk_limbs);
        }
    }
    CudaStreams(CudaStreams&&) = delete;
    ~CudaStreams() {
        for (Slot& slot : slots_) static_cast<void>(cudaStreamDestroy(slot.stream));
    }

    void add(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* out, std::size_t limbs) const {
        for (std::size_t first = 0, next = 0; first < limbs; first += chunk_, next = (next + 1) % kStreams) {
            const Slot& slot = slots_[next];
            const std::size_t count = std::min(chunk_, limbs - first), bytes = count * 8;
            const auto da = slot.a->span().subspan(0, count), db = slot.b->span().subspan(0, count),
                       dout = slot.out->span().subspan(0, count);
            cuda_check(cudaMemcpyAsync(da.data(), a + first, bytes, cudaMemcpyHostToDevice, slot.stream));
            cuda_check(cudaMemcpyAsync(db.data(), b + first, bytes, cudaMemcpyHostToDevice, slot.stream));
            weft::cuda::field_add(slot.stream, kField, da, db, dout);
            cuda_check(cudaMemcpyAsync(out + first, dout.data(), bytes, cudaMemcpyDeviceToHost, slot.stream));
        }
        for (const Slot& slot : slots_) cuda_check(cudaStreamSynchronize(slot.stream));
    }

  private:
    struct Slot {
        cudaStream_t stream = nullptr;
        std::unique_ptr<CudaArray<std::uint64_t>> a, b, out;
    };
    std::size_t chunk_;
    std::array<Slot, kStreams> slots_;
};

template <class Act>
std::function<double()> by_wall(const Act& act) {
    return [act] {
        act();
        return 0.0;
    };
}

void require_right(const std::uint64_t* got, const Limbs& want) {
    if (std::memcmp(got, want.data(), want.size() * 8) != 0) throw std::runtime_error("sums are wrong");
}

void race_locked(weft::Backend& backend, const Settings& settings, const Limbs& a, const Limbs& b,
                 const Limbs& want) {
    weft::HostBuffer<std::uint64_t> va(backend, a.size()), vb(backend, a.size()), vout(backend, a.size());
    const Locked<std::uint64_t> ca(a.size()), cb(a.size()), cout(a.size());
    std::copy(a.begin(), a.end(), va.span().begin());
    std::copy(b.begin(), b.end(), vb.span().begin());
    std::copy(a.begin(), a.end(), ca.data);
    std::copy(b.begin(), b.end(), cb.data);
    const CudaStreams streams((std::size_t{8} << 20) / 48 * 6);
    const auto clear = [&] { std::fill_n(cout.data, cout.size, 0); };
    const weft::FieldJob job{.a = ca.span(), .b = cb.span(), .out = cout.span()};
    race(settings, "streamed add, page-locked", 3.0 * static_cast<double>(a.size()) * 8, 0,
         {{"weft Vulkan",
           by_wall([&] { weft::field_add(backend, kField, va.span(), vb.span(), vout.span()); }),
           [&] { require_right(vout.data(), want); }},
          {"weft CUDA",
           by_wall([&] { weft::cuda::field_batch(kField, weft::FieldOp::add, std::span(&job, 1)); }),
           [&] {
               require_right(cout.data, want);
               clear();
               streams.add(ca.data, cb.data, cout.data, a.size());
           }},
          {"CUDA streams", by_wall([&] { streams.add(ca.data, cb.data, cout.data, a.size()); }),
           [&] { require_right(cout.data, want); }}});
}

void race_pageable(weft::Backend& backend, const Settings& settings, const Limbs& a, const Limbs& b,
                   const Limbs& want) {
    Limbs vout(a.size()), cout(a.size()), pout(a.size()), hout(a.size());
    const CudaArray<std::uint64_t> da(a.size()), db(a.size()), dout(a.size());
    const weft::FieldJob job{.a = a, .b = b, .out = cout};
    race(settings, "streamed add, ordinary memory", 3.0 * static_cast<double>(a.size()) * 8, 0,
         {{"weft Vulkan", by_wall([&] { weft::field_add(backend, kField, a, b, vout); }),
           [&] { require_right(vout.data(), want); }},
          {"weft CUDA",
           by_wall([&] { weft::cuda::field_batch(kField, weft::FieldOp::add, std::span(&job, 1)); }),
           [&] { require_right(cout.data(), want); }},
          {"CUDA, pageable", by_wall([&] {
               cuda_check(cudaMemcpy(da.span().data(), a.data(), a.size() * 8, cudaMemcpyHostToDevice));
               cuda_check(cudaMemcpy(db.span().data(), b.data(), a.size() * 8, cudaMemcpyHostToDevice));
               weft::cuda::field_add(nullptr, kField, da.span(), db.span(), dout.span());
               cuda_check(cudaMemcpy(pout.data(), dout.span().data(), a.size() * 8, cudaMemcpyDeviceToHost));
           }),
           [&] { require_right(pout.data(), want); }},
          {"CPU loop", by_wall([&] {
               weft::tool::cpu_field<std::uint64_t>(weft::field_info(kField), weft::FieldOp::add,
                                                    {.a = a, .b = b, .out = hout}, 1);
           }),
           [&] { require_right(hout.data(), want); }}});
}

/// Both back ends' encode() of `in` to `out`, arrays in host memory of either.
void race_encode(weft::Backend& backend, const Settings& settings, weft::EncodeMethod method,
                 const char* memory, std::span<const float> vulkan_in, std::span<weft::c32> vulkan_out,
                 std::span<const float> cuda_in, std::span<weft::c32> cuda_out) {
    const weft::StateShape shape{cuda_out.size() >> kQubits, kQubits};
    race(settings, std::string("streamed ") + to_string(method) + ", " + memory,
         static_cast<double>(cuda_in.size_bytes() + cuda_out.size_bytes()), 0,
         {{"weft Vulkan", by_wall([&] { weft::encode(backend, method, vulkan_in, vulkan_out, shape); }),
           [] {}},
          {"weft CUDA", by_wall([&] { weft::cuda::encode(method, cuda_in, cuda_out, shape); }), [&] {
               in_parallel(cuda_out.size(), [&](std::size_t first, std::size_t last) {
                   for (std::size_t i = first; i < last; ++i)
                       if (!(distance(vulkan_out[i], cuda_out[i]) <= 4e-6))
                           throw std::runtime_error("states differ between the back ends");
               });
           }}});
}

void race_encoders_streamed(weft::Backend& backend, const Settings& settings) {
    const std::size_t states = settings.quick ? 4 : 1024;
    for (const weft::EncodeMethod method : {weft::EncodeMethod::amplitude, weft::EncodeMethod::angle}) {
        std::vector<float> in(states * weft::encode_features(method, kQubits));
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = 0.1f + 0.37f * static_cast<float>(i % 17);
        std::vector<weft::c32> vulkan_out(states << kQubits), cuda_out(states << kQubits);
        race_encode(backend, settings, method, "ordinary memory", in, vulkan_out, in, cuda_out);
        const weft::HostBuffer<float> vulkan_in(backend, in.size());
        const weft::HostBuffer<weft::c32> vulkan_locked(backend, vulkan_out.size());
        const Locked<float> cuda_in(in.size());
        const Locked<weft::c32> cuda_locked(cuda_out.size());
        std::copy(in.begin(), in.end(), vulkan_in.begin());
        std::copy(in.begin(), in.end(), cuda_in.data);
        race_encode(backend, settings, method, "page-locked", vulkan_in.span(), vulkan_locked.span(),
                    cuda_in.span(), cuda_locked.span());
    }
}

}  // namespace

void race_streamed(weft::Backend& backend, const Settings& settings) {
    const std::size_t count = settings.quick ? 50'000 : std::size_t{8} << 20;
    const weft::FieldInfo& info = weft::field_info(kField);
    Limbs a(count * info.limbs), b(a.size());
    weft::tool::fill_field<std::uint64_t>(info, 3, a);
    weft::tool::fill_field<std::uint64_t>(info, 4, b);
    const Limbs want = add_on_cpu(a, b);
    race_locked(backend, settings, a, b, want);
    race_pageable(backend, settings, a, b, want);
    race_encoders_streamed(backend, settings);
}

}  // namespace bench
