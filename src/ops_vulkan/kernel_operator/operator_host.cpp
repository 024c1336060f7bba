// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/kernel_operator/operator_host.hpp"

#include <deque>
#include <span>
#include <utility>

namespace weft::kernels {
namespace {

DeviceArray array_of(const Buffer<std::uint32_t>& words, ElementType type, std::uint64_t count) {
    const auto object = detail::Access::object(words.view());
    if (type == kFloat32) return detail::Access::make<BufferView<float>>(object, std::size_t{0}, count);
    return detail::Access::make<BufferView<double>>(object, std::size_t{0}, count);
}

std::span<const std::uint32_t> words_in(const ConstHostArray& array) {
    return {static_cast<const std::uint32_t*>(array.data), array.bytes() / 4};
}

}  // namespace

DeviceSamples samples_on(Backend& backend, const HostSamples& samples, bool shared) {
    Stream stream(backend, {.name = "kernel operator"});
    DeviceSamples made =
        make_samples(stream, operator_plan_on(backend, samples.facts, samples.shape, samples.options, shared),
                     samples.circuit, samples.x, samples.y);
    stream.wait();
    return made;
}

HostResult::HostResult(Stream& stream, const HostArray& out)
    : stream_(stream), out_(out), words_(stream, out.bytes() / 4, "operator result") {}
DeviceArray HostResult::array() const {
    return array_of(words_, out_.type, out_.size);
}
void HostResult::upload() const {
    stream_.upload(words_in(out_), words_.view());
}
void HostResult::download() const {
    stream_.download<std::uint32_t>(words_.view(),
                                    std::span(static_cast<std::uint32_t*>(out_.data), out_.bytes() / 4));
}

HostApply::HostApply(Backend& backend, const ApplyCall& call, const ConstHostArray& v)
    : call_(call),
      stream_(backend, {.name = "kernel apply"}),
      memory_(stream_),
      type_(v.type),
      count_(v.size),
      v_(stream_, v.bytes() / 4, "operator v") {
    stream_.upload(words_in(v), v_.view());
}

void run_bands(Stream& stream, const std::function<void(const PairsDone& done)>& record,
               const std::function<void()>& last, const PairsDone& done) {
    std::deque<std::pair<Event, std::uint64_t>> under_way;
    const auto finish = [&] {
        under_way.front().first.wait();
        const std::uint64_t pairs = under_way.front().second;
        under_way.pop_front();
        done(pairs);
    };
    record([&](std::uint64_t pairs) {
        under_way.emplace_back(stream.submit(), pairs);
        if (under_way.size() > 2) finish();
    });
    last();
    while (!under_way.empty()) finish();
}

void HostApply::run(const Record& record, const std::function<void()>& last, const PairsDone& done) {
    run_bands(
        stream_, [&](const PairsDone& band_done) { record(array_of(v_, type_, count_), band_done); }, last,
        done);
}

void HostApply::make(const ApplyRows& rows, const HostArray& out, bool read_out, const PairsDone& done) {
    memory_.restart();
    const HostResult result(stream_, out);
    if (read_out) result.upload();
    run(
        [&](const ConstDeviceArray& v, const ApplyCall::BandDone& band_done) {
            call_.record(stream_, memory_, v, result.array(), rows, band_done);
        },
        [&] { result.download(); }, done);
}

HostTotals::HostTotals(Backend& backend, const ApplyCall& call, const ConstHostArray& v,
                       const std::vector<std::int32_t>& units)
    : HostApply(backend, call, v),
      totals_(stream_, v.size * 2 + 1, "operator totals"),
      units_(stream_, units.size(), "operator units"),
      received_(totals_.size()) {
    const std::vector<std::uint32_t> words(units.begin(), units.end());
    stream_.upload(std::span(words), units_.view());
    stream_.fill(totals_.view(), 0u);
}

void HostTotals::add(const PairShare& share, std::vector<std::uint32_t>& totals, const PairsDone& done) {
    memory_.restart();
    run(
        [&](const ConstDeviceArray& v, const ApplyCall::BandDone& band_done) {
            call_.record(stream_, memory_, v, {totals_.view(), units_.view()}, share, band_done);
        },
        [&] { stream_.download<std::uint32_t>(totals_.view(), received_); }, done);
    totals.resize(received_.size());
    totals.swap(received_);
}

}  // namespace weft::kernels
