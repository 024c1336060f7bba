// SPDX-License-Identifier: Apache-2.0
#include "ops/ntt/ntt_plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include <weft/error.hpp>

#include "ops/field/field_plan.hpp"

namespace weft::kernels {
namespace {

std::uint32_t log_ceil(std::uint64_t n) {
    return n <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(n - 1));
}

/// Bytes that neighbouring invocations should access together.
constexpr std::uint32_t kSegmentBytes = 64, kSectorBytes = 32;
/// Twiddle factors of a pass with at most 2^kDirectBits rows and columns are in one table, which takes one
/// product each. Those of a larger one would not stay in the cache, and where a tile makes the factors of its
/// rows, reading less pays sooner.
constexpr std::uint32_t kDirectBits = 18, kDirectTileBits = 16;
/// Factors of rows are in one table of at most 2^kRowBits entries, or in two.
constexpr std::uint32_t kRowBits = 18;

class Planner {
  public:
    Planner(const DeviceInfo& device, const NttRequest& request, std::uint64_t tile_bytes)
        : device_(device),
          r_(request),
          f_(field_constants(request.field)),
          shader_(plan_field(device, field_info(request.field), FieldOp::mul, 0, {.shader = request.shader})
                      .shader),
          compact_(f_.words > 2 || (f_.words == 2 && shader_ == FieldShader::limbs32) ||
                   (device.type == DeviceType::cpu && request.shader == FieldShader::automatic)),
          radix_(ntt_radix_bits(f_.words, compact_)),
          tile_(tile_bits(tile_bytes)),
          segment_(log_ceil((kSegmentBytes + 4 * f_.words - 1) / (4 * f_.words))) {}

    NttPlan make() {
        plan_.words = f_.words;
        plan_.shader = shader_;
        plan_.compact = compact_;
        const std::vector<std::uint32_t> bits = pass_bits();
        // The pass that reorders does not work in place, nor does one whose output is shorter.
        plan_.scratch = bits.size() > 1 && (r_.order == NttOrder::nn || r_.outputs >> r_.log_size == 0);
        std::uint32_t low = r_.log_size;
        for (std::size_t i = 0; i < bits.size(); ++i) {
            low -= bits[i];
            plan_.passes.push_back(pass(i, bits, low));
            plan_.method += (i == 0 ? "" : "+") + std::to_string(bits[i]);
        }
        add_tables();
        add_scales();
        return std::move(plan_);
    }

  private:
    std::uint32_t most_tile_bits() const {
        const std::uint32_t threads =
            std::min(device_.limits.max_workgroup_size[0], device_.limits.max_workgroup_invocations);
        std::uint32_t bits = radix_;
        // Shared memory has a gap after every 16 elements, and holds factors of up to a quarter of the tile.
        while (bits + 1 <= radix_ + static_cast<std::uint32_t>(std::bit_width(std::max(threads, 1u))) - 1 &&
               (std::uint64_t{21} << (bits + 1)) / 16 * 4 * f_.words <=
                   device_.limits.max_shared_memory_bytes)
            ++bits;
        return bits;
    }

    std::uint32_t tile_bits(std::uint64_t tile_bytes) const {
        const std::uint32_t most = most_tile_bits();
        if (r_.tile_bits != 0) {
            if (r_.tile_bits < radix_ + 1 || r_.tile_bits > most)
                throw Error(Errc::invalid_argument,
                            "ntt: no such tile (got tile_bits " + std::to_string(r_.tile_bits) + ", need " +
                                std::to_string(radix_ + 1) + " to " + std::to_string(most) + ")");
            return r_.tile_bits;
        }
        if (const std::uint64_t elements = tile_bytes / (4 * f_.words); elements != 0)
            return std::clamp(static_cast<std::uint32_t>(std::bit_width(elements)) - 1,
                              std::min(radix_ + 1, most), most);
        return std::min(most, f_.words > 2 ? 9u : compact_ ? 10u : f_.words == 2 ? 11u : 12u);
    }

    /// Whether transforms, and not positions, are the columns of a pass of several.
    bool batch_columns() const { return r_.layout == NttLayout::columns && log_ceil(r_.batch) >= segment_; }

    std::vector<std::uint32_t> pass_bits() const {
        const std::uint32_t k = r_.log_size;
        const std::uint32_t longest_pass = compact_ ? tile_ : std::min(tile_, ntt_most_pass_bits(f_.words));
        if (r_.pass_bits != 0 && (r_.pass_bits < radix_ || r_.pass_bits > longest_pass))
            throw Error(Errc::invalid_argument,
                        "ntt: no such pass (got pass_bits " + std::to_string(r_.pass_bits) + ", need " +
                            std::to_string(radix_) + " to " + std::to_string(longest_pass) + ")");
        const std::uint32_t most = r_.pass_bits != 0 ? r_.pass_bits : longest_pass;
        const std::uint32_t apart =
            r_.layout == NttLayout::columns ? std::min(segment_, log_ceil(r_.batch)) : 0;
        if (k <= radix_ || k <= std::min(most, tile_ - apart)) return {k};
        // Of passes whose rows are apart in memory. The pass whose rows are contiguous may have more bits,
        // unless it also reorders.
        const std::uint32_t strided = std::min(most, std::max(tile_ - segment_, radix_));
        const bool contiguous = r_.order != NttOrder::nn && r_.layout == NttLayout::rows;
        const std::uint32_t longest = contiguous ? most : strided;
        const std::uint32_t count = k <= longest ? 2 : 1 + (k - longest + strided - 1) / strided;
        std::vector<std::uint32_t> bits(count);
        for (std::uint32_t i = 0; i < count; ++i) bits[i] = k / count + (i < k % count ? 1 : 0);
        const std::size_t last = r_.order == NttOrder::rn ? 0 : count - 1;
        for (std::uint32_t i = 0; i < count; ++i)
            if (i != last && bits[i] > strided) {
                bits[last] += bits[i] - strided;
                bits[i] = strided;
            }
        return bits;
    }

    NttPass pass(std::size_t index, const std::vector<std::uint32_t>& bits, std::uint32_t low) const {
        const bool first = index == 0, last = index + 1 == bits.size();
        NttPass pass;
        shared::NttParameters& p = pass.parameters;
        p.pass_bits = bits[index];
        p.log_size = r_.log_size;
        p.low = low;
        p.batch = static_cast<std::uint32_t>(r_.batch);
        if (r_.order == NttOrder::rn)
            pass.parameters.flags |= shared::kNttLoadReversed | shared::kNttStoreReversed;
        if (r_.order == NttOrder::nn && last) pass.parameters.flags |= shared::kNttStoreReversed;
        pass.from = first ? NttMemory::in : plan_.scratch ? NttMemory::scratch : NttMemory::out;
        pass.to = plan_.scratch && !last ? NttMemory::scratch : NttMemory::out;
        if (has(pass, shared::kNttStoreReversed)) p.flags |= shared::kNttTilesReversed;
        place_columns(pass, bits.size() == 1);
        place_memory(pass, first, last);
        stage(pass);
        if (r_.direction == NttDirection::forward && first && r_.scalars.has_coset)
            pass.parameters.flags |= shared::kNttScaleFirst;
        if (r_.direction == NttDirection::inverse && last) {
            if (r_.scalars.has_coset)
                pass.parameters.flags |= shared::kNttScaleLast;
            else if (first)
                pass.parameters.flags |= shared::kNttScaleOne;
        }
        return pass;
    }

    bool has(const NttPass& pass, std::uint32_t flag) const { return (pass.parameters.flags & flag) != 0; }

    void place_columns(NttPass& pass, bool single) const {
        const std::uint32_t k = r_.log_size, low = pass.parameters.low;
        std::uint32_t columns = tile_ - std::min(tile_, pass.parameters.pass_bits), at = k;
        if (single || batch_columns()) {
            // The compact shader has one program for each size of tile, so all of its tiles have one size.
            if (!compact_)
                columns = std::max(std::min(columns, log_ceil(r_.batch)),
                                   radix_ - std::min(radix_, pass.parameters.pass_bits));
            pass.parameters.flags |= shared::kNttBatchLimited;
            if (r_.layout == NttLayout::columns)
                pass.parameters.flags |= shared::kNttLoadColumns | shared::kNttStoreColumns;
        } else {
            const bool reversed = has(pass, shared::kNttStoreReversed);
            const bool load_contiguous = rows_contiguous(pass, has(pass, shared::kNttLoadReversed));
            const bool store_contiguous = rows_contiguous(pass, reversed);
            // The end of the position that is contiguous in the memory of the output, or next to the rows.
            const std::uint32_t above = k - low - pass.parameters.pass_bits;
            if (!store_contiguous) {
                columns = std::min(columns, reversed ? above : low);
                at = reversed ? k - columns : 0;
                pass.parameters.flags |=
                    shared::kNttStoreColumns | (load_contiguous ? 0 : shared::kNttLoadColumns);
            } else {
                columns = std::min(columns, low == 0 ? above : low);
                at = low == 0 ? pass.parameters.pass_bits : 0;
            }
        }
        pass.tile_bits = pass.parameters.pass_bits + columns;
        pass.parameters.column_low = at;
    }

    bool rows_contiguous(const NttPass& pass, bool reversed) const {
        return reversed ? pass.parameters.low + pass.parameters.pass_bits == r_.log_size
                        : pass.parameters.low == 0;
    }

    void place_memory(NttPass& pass, bool first, bool last) const {
        shared::NttParameters& p = pass.parameters;
        const bool rows = r_.layout == NttLayout::rows;
        const std::uint64_t n = std::uint64_t{1} << r_.log_size;
        const std::uint64_t in = first ? r_.inputs : n, out = last ? r_.outputs : n;
        const auto narrow = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
        p.in_elements = narrow(in);
        p.out_elements = narrow(out);
        p.in_stride = rows ? 1 : narrow(r_.batch);
        p.out_stride = p.in_stride;
        p.in_next = rows ? narrow(in) : 1;
        p.out_next = rows ? narrow(out) : 1;
        if (in != n) pass.parameters.flags |= shared::kNttInLimited;
        if (out != n) pass.parameters.flags |= shared::kNttOutLimited;
        const std::uint32_t step = std::min(radix_, pass.parameters.pass_bits);
        if (first)
            while (pass.parameters.zero_bits < step && in <= n >> (pass.parameters.zero_bits + 1))
                ++pass.parameters.zero_bits;
    }

    /// Neighbouring elements of rows that one invocation holds are accessed by neighbouring invocations,
    /// through shared memory, unless an element alone fills a sector.
    void stage(NttPass& pass) const {
        if (batch_columns() || (r_.layout == NttLayout::columns && has(pass, shared::kNttLoadColumns)))
            return;
        const std::uint32_t element = 4 * f_.words, first = std::min(radix_, pass.parameters.pass_bits);
        const std::uint32_t last = (pass.parameters.pass_bits - 1) % radix_ + 1;
        const auto narrow = [&](bool in_registers, std::uint32_t step) {
            return (in_registers ? element : element << (pass.parameters.pass_bits - step)) < kSectorBytes;
        };
        const bool load = has(pass, shared::kNttLoadReversed), store = has(pass, shared::kNttStoreReversed);
        if (rows_contiguous(pass, load) && narrow(load, first))
            pass.parameters.flags |= shared::kNttLoadStaged;
        if (rows_contiguous(pass, store) && !has(pass, shared::kNttStoreColumns) && narrow(!store, last))
            pass.parameters.flags |= shared::kNttStoreStaged;
    }

    std::uint32_t add(std::vector<NttTable>& tables, NttTable table) const {
        table.first = static_cast<std::uint32_t>(ntt_entries(tables));
        tables.push_back(table);
        return table.first;
    }

    void add_tables() {
        const std::uint32_t k = r_.log_size;
        // The inverse of a root of order 2^k is its power of 2^k - 1.
        const FieldWords w = r_.direction == NttDirection::forward
                                 ? r_.scalars.root
                                 : ntt_power(r_.field, r_.scalars.root, (std::uint64_t{1} << k) - 1);
        const auto power = [&](std::uint32_t log) { return ntt_power(r_.field, w, std::uint64_t{1} << log); };
        plan_.root16 = ntt_root16(r_.field, w, k);
        std::uint32_t root_bits = 0;
        for (const NttPass& pass : plan_.passes) root_bits = std::max(root_bits, pass.parameters.pass_bits);
        add(plan_.tables, {0, 1u << root_bits, 0, 0, power(k - root_bits), f_.r});
        if (!compact_ && f_.words == 1) add_quick_roots(power);
        FieldWords scale = r_.direction == NttDirection::inverse && !r_.scalars.has_coset
                               ? ntt_inverse_size(r_.field, k)
                               : f_.r;
        for (NttPass& pass : plan_.passes) {
            shared::NttParameters& p = pass.parameters;
            p.root_bits = root_bits;
            if (has(pass, shared::kNttScaleOne)) p.scale_high = add(plan_.tables, {0, 1, 0, 0, f_.r, scale});
            if (p.low == 0) continue;
            add_factors(pass, power, scale);
            scale = f_.r;  // in the first pass alone
        }
    }

    /// What passes multiply by between their steps.
    template <class Power>
    void add_quick_roots(const Power& power) {
        for (NttPass& pass : plan_.passes) {
            const std::uint32_t bits = pass.parameters.pass_bits;
            const auto same =
                std::find_if(plan_.passes.begin(), plan_.passes.end(),
                             [&](const NttPass& other) { return other.parameters.pass_bits == bits; });
            if (&*same != &pass) {
                pass.parameters.quick_roots = same->parameters.quick_roots;
                continue;
            }
            pass.parameters.quick_roots = static_cast<std::uint32_t>(ntt_entries(plan_.quick));
            for (std::uint32_t rest = bits; rest > radix_; rest -= radix_)
                add(plan_.quick, {0, 1u << rest, radix_, rest - radix_, power(r_.log_size - rest), f_.r});
        }
        // A binding needs memory.
        if (plan_.quick.empty()) add(plan_.quick, {0, 1, 0, 0, f_.r, f_.r});
    }

    /// Factors times `scale`. All columns of a tile have the same part of the index above `split` in the
    /// shader that is not compact, which makes the factors of that part once.
    template <class Power>
    void add_factors(NttPass& pass, const Power& power, const FieldWords& scale) {
        shared::NttParameters& p = pass.parameters;
        const std::uint32_t rows = p.pass_bits, order = p.log_size - p.low - rows;
        const std::uint32_t columns = pass.tile_bits - rows;
        if (p.low + rows <= (compact_ ? kDirectBits : kDirectTileBits))
            p.split = p.low;
        else if (compact_)
            p.split = std::min(p.low, std::max((p.low + 1) / 2, columns));
        else
            p.split = p.column_low == 0 ? columns : 0;
        if (p.split != 0) {
            p.flags |= shared::kNttFactors;
            p.factors = add(plan_.tables, {0, 1u << (rows + p.split), rows, p.split, power(order), scale});
        }
        const std::uint32_t upper = p.low - p.split;
        if (upper == 0) return;
        p.flags |= shared::kNttFactorsHigh;
        // Up to a quarter of the tile. A pass of one step has no barrier at which they could be complete.
        if (!compact_ && rows > radix_ && rows + (f_.words == 1 ? 3 : 2) <= tile_)
            p.flags |= shared::kNttRowFactors;
        p.split_top = compact_ || rows + upper <= kRowBits ? upper : (upper + 1) / 2;
        p.factors_high = add(plan_.tables, {0, 1u << (rows + p.split_top), rows, 0, power(order + p.split),
                                            p.split != 0 ? f_.r : scale});
        if (p.split_top == upper) return;
        p.flags |= shared::kNttFactorsTop;
        p.factors_top = add(plan_.tables, {0, 1u << (rows + upper - p.split_top), rows, 0,
                                           power(order + p.split + p.split_top), f_.r});
    }

    void add_scales() {
        if (!r_.scalars.has_coset) return;
        const std::uint32_t k = r_.log_size, split = (k + 1) / 2;
        const bool forward = r_.direction == NttDirection::forward;
        const FieldWords g = forward ? r_.scalars.coset : ntt_inverse(r_.field, r_.scalars.coset);
        add(plan_.scales, {0, 1u << split, 0, 0, g, f_.r});
        const std::uint32_t high =
            add(plan_.scales, {0, 1u << (k - split), 0, 0, ntt_power(r_.field, g, std::uint64_t{1} << split),
                               forward ? f_.r : ntt_inverse_size(r_.field, k)});
        for (NttPass& pass : plan_.passes) {
            pass.parameters.scale_high = high;
            pass.parameters.scale_split = split;
        }
    }

    const DeviceInfo& device_;
    const NttRequest& r_;
    const shared::FieldConstants& f_;
    const FieldShader shader_;
    const bool compact_;
    const std::uint32_t radix_, tile_, segment_;
    NttPlan plan_;
};

}  // namespace

NttPlan plan_ntt(const DeviceInfo& device, const NttRequest& request, std::uint64_t tile_bytes) {
    return Planner(device, request, tile_bytes).make();
}

std::uint64_t ntt_tiles(const NttPass& pass, std::uint64_t batch) {
    const shared::NttParameters& p = pass.parameters;
    const std::uint32_t columns = pass.tile_bits - pass.parameters.pass_bits;
    if (p.column_low < p.log_size) return batch << (p.log_size - pass.tile_bits);
    const std::uint64_t transforms = (batch + (std::uint64_t{1} << columns) - 1) >> columns;
    return transforms << (p.log_size - pass.parameters.pass_bits);
}

std::uint64_t ntt_entries(const std::vector<NttTable>& tables) {
    return tables.empty() ? 0 : std::uint64_t{tables.back().first} + tables.back().count;
}

std::uint64_t ntt_group(const DeviceInfo& device, const NttRequest& request, const NttPlan& plan,
                        std::uint64_t scratch_bytes) {
    if (request.layout == NttLayout::columns) return request.batch;
    const std::uint64_t element = 4 * plan.words, row = element << request.log_size;
    constexpr std::uint64_t kIndices = std::uint64_t{1} << 31;
    std::uint64_t most = std::min(device.limits.max_storage_buffer_range / row, kIndices >> request.log_size);
    if (plan.scratch) most = std::min(most, scratch_bytes / row);
    most = std::max<std::uint64_t>(most, 1);
    if (most >= request.batch) return request.batch;
    // Each group begins at an offset that the device can bind, in the input and in the output.
    const std::uint64_t alignment = std::max<std::uint64_t>(device.limits.storage_buffer_offset_alignment, 1);
    const std::uint64_t step =
        alignment / std::gcd(alignment, std::gcd(element * request.inputs, element * request.outputs));
    return std::max(most / step * step, step);
}

}  // namespace weft::kernels
