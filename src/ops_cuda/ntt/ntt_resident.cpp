// SPDX-License-Identifier: Apache-2.0
#include "ops_cuda/ntt/ntt_resident.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <weft/cuda/field.hpp>

#include "cuda/check.hpp"
#include "cuda/plan_device.hpp"
#include "cuda/scratch.hpp"
#include "ops/field/field_plan.hpp"
#include "ops_cuda/ntt/ntt_launch.hpp"
#include "ops_cuda/ntt/ntt_tables.hpp"

namespace weft::cuda {
namespace {

/// Scratch memory of one call. A batch that needs more is transformed in several groups.
constexpr std::uint64_t kScratchBytes = std::uint64_t{4} << 30;

int launch(const NttLaunch& l) {
    switch (l.field->words) {
        case 1:
            return launch_ntt_pass_1(l);
        case 2:
            return launch_ntt_pass_2(l);
        case 8:
            return launch_ntt_pass_8(l);
        default:
            return launch_ntt_pass_12(l);
    }
}

/// Transforms of one request, some at a time.
class Transforms {
  public:
    Transforms(StreamHandle stream, const kernels::NttRequest& request, const char* function)
        : stream_(stream),
          request_(request),
          function_(function),
          plan_(kernels::plan_ntt(plan_device(), request)),
          tables_(ntt_tables(request.field, plan_.tables, function)),
          scales_(plan_.scales.empty() ? tables_ : ntt_tables(request.field, plan_.scales, function)) {}

    std::uint64_t group() const { return kernels::ntt_group(plan_device(), request_, plan_, kScratchBytes); }
    std::uint64_t element_bytes() const { return std::uint64_t{4} * plan_.words; }
    std::uint64_t input_bytes() const { return element_bytes() * request_.inputs; }
    std::uint64_t output_bytes() const { return element_bytes() * request_.outputs; }

    void run(const std::byte* in, std::byte* out, std::uint64_t count) {
        if (plan_.scratch && !scratch_)
            scratch_.emplace(stream_, (element_bytes() * count) << request_.log_size, function_,
                             "scratch memory");
        for (const kernels::NttPass& pass : plan_.passes) {
            NttLaunch l;
            l.stream = stream_;
            l.field = &kernels::field_constants(request_.field);
            l.pass = &pass;
            l.parameters = pass.parameters;
            l.parameters.batch = static_cast<std::uint32_t>(count);
            l.tiles = kernels::ntt_tiles(pass, count);
            l.in = pass.from == kernels::NttMemory::in ? in : memory(pass.from, out);
            l.tables = tables_.get();
            l.scales = scales_.get();
            l.out = memory(pass.to, out);
            check_launch(launch(l), function_);
        }
    }

  private:
    std::byte* memory(kernels::NttMemory which, std::byte* out) const {
        return which == kernels::NttMemory::out ? out : scratch_->as<std::byte>();
    }

    StreamHandle stream_;
    const kernels::NttRequest& request_;
    const char* function_;
    kernels::NttPlan plan_;
    std::shared_ptr<const void> tables_, scales_;
    std::optional<Scratch> scratch_;
};

}  // namespace

void run_ntt(StreamHandle stream, const kernels::NttRequest& request, const std::byte* in, std::byte* out,
             const char* function) {
    if (request.batch == 0) return;
    Transforms transforms(stream, request, function);
    const std::uint64_t group = transforms.group();
    for (std::uint64_t first = 0; first < request.batch; first += group)
        transforms.run(in + first * transforms.input_bytes(), out + first * transforms.output_bytes(),
                       std::min(group, request.batch - first));
}

void run_ntt_extend(StreamHandle stream, const kernels::NttExtension& extension, const std::byte* in,
                    std::byte* out) {
    constexpr const char* function = "ntt_extend";
    const std::uint64_t batch = extension.forward.batch;
    if (batch == 0) return;
    Transforms inverse(stream, extension.inverse, function), forward(stream, extension.forward, function);
    const std::uint64_t group = std::min(inverse.group(), forward.group());
    const Scratch coefficients(stream, std::min(group, batch) * inverse.output_bytes(), function,
                               "coefficients");
    auto* const held = coefficients.as<std::byte>();
    for (std::uint64_t first = 0; first < batch; first += group) {
        const std::uint64_t count = std::min(group, batch - first);
        inverse.run(in + first * inverse.input_bytes(), held, count);
        forward.run(held, out + first * forward.output_bytes(), count);
    }
}

void run_ntt_product(StreamHandle stream, const kernels::NttProduct& product, FieldForm form,
                     const std::byte* a, const std::byte* b, std::byte* out) {
    constexpr const char* function = "ntt_product";
    const FieldInfo& field = field_info(product.a.field);
    const std::uint64_t bytes = std::uint64_t{field.element_bytes} << product.a.log_size;
    const Scratch values_a(stream, bytes, function, "values"), values_b(stream, bytes, function, "values");
    run_ntt(stream, product.a, a, values_a.as<std::byte>(), function);
    run_ntt(stream, product.b, b, values_b.as<std::byte>(), function);
    const DeviceArray x(values_a.data(), bytes / field.limb_bytes, kernels::limb_type(field));
    const DeviceArray y(values_b.data(), bytes / field.limb_bytes, kernels::limb_type(field));
    field_apply(stream, field.field, FieldOp::mul, x, y, {}, x, {.form = form});
    run_ntt(stream, product.out, values_a.as<std::byte>(), out, function);
}

}  // namespace weft::cuda
