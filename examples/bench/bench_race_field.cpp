// SPDX-License-Identifier: Apache-2.0
// Field kernels on resident arrays far beyond the card's cache.
#include <weft/cuda/field.hpp>

#include "bench_race_both.hpp"
#include "cpu/cpu_field.hpp"

namespace bench {
namespace {

using Limbs = std::vector<std::uint64_t>;

struct FieldArrays {
    weft::Field field;
    Limbs a, b;
    const Results<std::uint64_t>& results;
};

void judge_sums(const FieldArrays& arrays, std::span<const std::uint64_t> got) {
    if (!std::ranges::equal(add_on_cpu(arrays.a, arrays.b), got))
        throw std::runtime_error("sums differ from the CPU's");
}

void race_field(weft::Backend& backend, const Settings& settings, const FieldArrays& arrays,
                std::initializer_list<weft::FieldOp> ops) {
    const weft::FieldInfo& info = weft::field_info(arrays.field);
    weft::Stream stream(backend);
    const Twin<std::uint64_t> a(backend, stream, arrays.a), b(backend, stream, arrays.b),
        full(backend, arrays.a.size()), one(backend, info.limbs);
    for (const weft::FieldOp op : ops) {
        const bool two = weft::takes_b(op);
        const Twin<std::uint64_t>& out = weft::is_reduction(op) ? one : full;
        weft::cuda::ConstDeviceArray cuda_b;
        if (two) cuda_b = b.cuda.span();
        Operation<std::uint64_t> operation{
            .row = std::string(info.name) + " " + to_string(op),
            .bytes = static_cast<double>(a.vulkan.bytes() * (two ? 2 : 1) + out.vulkan.bytes()),
            .on_vulkan =
                [&](weft::Stream& s) {
                    weft::field_apply(s, arrays.field, op, a.vulkan,
                                      two ? weft::ConstDeviceArray(b.vulkan) : weft::ConstDeviceArray(), {},
                                      out.vulkan);
                },
            .on_cuda =
                [&] {
                    weft::cuda::field_apply(nullptr, arrays.field, op, a.cuda.span(), cuda_b, {},
                                            out.cuda.span());
                }};
        if (arrays.field == weft::Field::bls12_381_fp && op == weft::FieldOp::add)
            operation.judge = [&](std::span<const std::uint64_t> got) { judge_sums(arrays, got); };
        race_twins(backend, settings, stream, out, arrays.results, operation);
    }
}

}  // namespace

void race_fields(weft::Backend& backend, const Settings& settings) {
    const std::size_t bytes = std::size_t{settings.quick ? 3u : 512u} << 20;
    const Results<std::uint64_t> results(backend, bytes / 8);
    const auto arrays = [&](weft::Field field) {
        const weft::FieldInfo& info = weft::field_info(field);
        FieldArrays all{field, Limbs(bytes / info.element_bytes * info.limbs), {}, results};
        all.b.resize(all.a.size());
        weft::tool::fill_field<std::uint64_t>(info, 1, all.a);
        weft::tool::fill_field<std::uint64_t>(info, 2, all.b);
        return all;
    };
    using weft::FieldOp;
    race_field(backend, settings, arrays(weft::Field::bls12_381_fp),
               {FieldOp::add, FieldOp::neg, FieldOp::sum, FieldOp::mul});
    race_field(backend, settings, arrays(weft::Field::bn254_fr),
               {FieldOp::add, FieldOp::mul, FieldOp::inner_product});
    race_field(backend, settings, arrays(weft::Field::goldilocks),
               {FieldOp::add, FieldOp::mul, FieldOp::inverse});
}

}  // namespace bench
