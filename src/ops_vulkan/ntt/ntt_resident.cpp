// SPDX-License-Identifier: Apache-2.0
#include "ops_vulkan/ntt/ntt_resident.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "ops/field/field_plan.hpp"
#include "ops_vulkan/ntt/ntt_programs.hpp"

namespace weft::kernels {
namespace {

/// Scratch memory of one call. A batch that needs more is transformed in several groups.
constexpr std::uint64_t kScratchBytes = std::uint64_t{4} << 30;

Words part(const Words& all, std::uint64_t first, std::uint64_t count) {
    return detail::Access::make<Words>(detail::Access::object(all),
                                       static_cast<std::size_t>(all.first() + first),
                                       static_cast<std::size_t>(count));
}

/// Transforms of one request, some at a time.
class Transforms {
  public:
    Transforms(Stream& stream, const NttRequest& request)
        : stream_(stream),
          request_(request),
          plan_(plan_ntt(stream.device(), request, ntt_tile_bytes(detail::plan_report(stream)))),
          tables_(ntt_table_words(stream, request.field, plan_, plan_.tables)),
          scales_(plan_.scales.empty() ? tables_
                                       : ntt_table_words(stream, request.field, plan_, plan_.scales)),
          quick_(plan_.quick.empty() ? tables_ : ntt_quick_words(stream, request.field, plan_)) {}

    std::uint64_t group() const { return ntt_group(stream_.device(), request_, plan_, kScratchBytes); }
    std::uint64_t input_words() const { return plan_.words * request_.inputs; }
    std::uint64_t output_words() const { return plan_.words * request_.outputs; }

    void record(const Words& in, const Words& out, std::uint64_t count) {
        if (plan_.scratch && !scratch_)
            scratch_.emplace(stream_, (plan_.words * count) << request_.log_size, "ntt scratch");
        for (const NttPass& pass : plan_.passes) {
            shared::NttParameters parameters = pass.parameters;
            parameters.batch = static_cast<std::uint32_t>(count);
            const Words from = memory(pass.from, in, out), to = memory(pass.to, in, out);
            std::vector<Stream::Argument> arguments{BufferView<const std::uint32_t>(from), tables_, scales_,
                                                    to};
            if (!plan_.quick.empty()) arguments.push_back(quick_);
            stream_.dispatch(ntt_program(stream_, request_.field, plan_, pass), arguments,
                             ntt_tiles(pass, count), parameters);
        }
    }

  private:
    Words memory(NttMemory which, const Words& in, const Words& out) const {
        return which == NttMemory::in ? in : which == NttMemory::out ? out : scratch_->view();
    }

    Stream& stream_;
    const NttRequest& request_;
    NttPlan plan_;
    BufferView<const std::uint32_t> tables_, scales_, quick_;
    std::optional<Buffer<std::uint32_t>> scratch_;
};

}  // namespace

std::uint64_t ntt_tile_bytes(const PlanReport& plan) {
    return plan.tuning.values.ntt_tile_bytes.value_or(0);
}

Words ntt_words(const ConstDeviceArray& array) {
    const std::uint64_t bytes = array.type().bytes();
    return detail::Access::make<Words>(detail::Access::object(array),
                                       static_cast<std::size_t>(array.first() * bytes / 4),
                                       static_cast<std::size_t>(array.bytes() / 4));
}

void record_ntt(Stream& stream, const NttRequest& request, const Words& in, const Words& out) {
    if (request.batch == 0) return;
    Transforms transforms(stream, request);
    const std::uint64_t group = transforms.group();
    for (std::uint64_t first = 0; first < request.batch; first += group) {
        const std::uint64_t count = std::min(group, request.batch - first);
        transforms.record(part(in, first * transforms.input_words(), count * transforms.input_words()),
                          part(out, first * transforms.output_words(), count * transforms.output_words()),
                          count);
    }
}

void record_ntt_extend(Stream& stream, const NttExtension& extension, const Words& in, const Words& out) {
    const std::uint64_t batch = extension.forward.batch;
    if (batch == 0) return;
    Transforms inverse(stream, extension.inverse), forward(stream, extension.forward);
    const std::uint64_t group = std::min(inverse.group(), forward.group());
    const Buffer<std::uint32_t> coefficients(stream, group * inverse.output_words(), "ntt coefficients");
    for (std::uint64_t first = 0; first < batch; first += group) {
        const std::uint64_t count = std::min(group, batch - first);
        const Words held = coefficients.view(0, count * inverse.output_words());
        inverse.record(part(in, first * inverse.input_words(), count * inverse.input_words()), held, count);
        forward.record(held, part(out, first * forward.output_words(), count * forward.output_words()),
                       count);
    }
}

void record_ntt_product(Stream& stream, const NttProduct& product, FieldForm form, const Words& a,
                        const Words& b, const Words& out) {
    const FieldInfo& field = field_info(product.a.field);
    const std::uint64_t words = field.element_bytes / 4 << product.a.log_size;
    const Buffer<std::uint32_t> values_a(stream, words, "ntt values"), values_b(stream, words, "ntt values");
    record_ntt(stream, product.a, a, values_a);
    record_ntt(stream, product.b, b, values_b);
    const auto limbs = [&](const Buffer<std::uint32_t>& values) -> DeviceArray {
        if (field.limb_bytes == 4) return values.view();
        const Words view = values.view();
        return detail::Access::make<BufferView<std::uint64_t>>(detail::Access::object(view), std::size_t{0},
                                                               values.size() / 2);
    };
    field_apply(stream, field.field, FieldOp::mul, limbs(values_a), limbs(values_b), {}, limbs(values_a),
                {.form = form, .shader = product.a.shader});
    record_ntt(stream, product.out, values_a, out);
}

}  // namespace weft::kernels
