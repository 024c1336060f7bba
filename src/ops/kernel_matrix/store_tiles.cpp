// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_matrix/store_tiles.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include <weft/error.hpp>

#include "base/bytes.hpp"

namespace weft::kernels {
namespace {

constexpr std::uint64_t kStep = 64;  // rows of packed states, and of a tile of a closed form

std::uint64_t rows_of_states(const KernelMatrixPlan& plan, std::uint64_t tile_bytes) {
    const std::uint64_t images = plan.shape.square() ? 2 : 1;
    const double values = static_cast<double>(tile_bytes / images / plan.value_bytes());
    const std::uint64_t side = static_cast<std::uint64_t>(std::sqrt(values)) / kStep * kStep;
    return std::min(plan.states.block, std::max(kStep, side));
}

std::uint64_t rows_of_product(const KernelMatrixPlan& plan, std::uint64_t tile_bytes) {
    const std::uint64_t row_bytes = plan.shape.columns() * plan.value_bytes();
    return std::max(kStep, tile_bytes / row_bytes / kStep * kStep);
}

std::string products_text(const GramPlan& gram) {
    return std::string(to_string(gram.method)) + (gram.matrix() ? gram.khr ? " khr " : " nv " : " ") +
           to_string(gram.tile);
}

std::uint64_t number_of(const StoreFacts& facts, const char* name) {
    const std::string* const text = find_fact(facts, name);
    std::uint64_t value = 0;
    if (text != nullptr) {
        const char* const end = text->data() + text->size();
        const auto [stop, error] = std::from_chars(text->data(), end, value);
        if (error == std::errc{} && stop == end) return value;
    }
    throw Error(Errc::io, std::string("kernel_matrix: the tile store lacks a number (need ") + name + ")");
}

}  // namespace

std::string exact(double value) {
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof text, value);
    return error == std::errc{} ? std::string(text, end) : std::string("?");
}

std::string contents(const ConstHostArray& array) {
    ContentSum sum;
    sum.add({static_cast<const std::byte*>(array.data), array.size * array.type.bytes()});
    return to_string(array.type) + " " + sum_text(sum);
}

std::string sum_text(const ContentSum& sum) {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum.value()));
    return text;
}

const char* choice_text(Choice choice) noexcept {
    return choice == Choice::on ? "on" : choice == Choice::off ? "off" : "automatic";
}

StorePin pin_of(const KernelMatrixPlan& plan, std::uint64_t tile_bytes) {
    if (plan.method == KernelMatrixMethod::product) return {.rows = rows_of_product(plan, tile_bytes)};
    return {.rows = rows_of_states(plan, tile_bytes),
            .tile = plan.states.tile,
            .bulk = plan.states.bulk,
            .products = products_text(plan.states.gram),
            .split = plan.states.gram.split};
}

KernelMatrixOptions pinned(KernelMatrixOptions options, const StorePin& pin) {
    if (pin.tile == 0) return options;
    options.bulk_states = pin.bulk ? Choice::on : Choice::off;
    if (!pin.bulk) options.state_tile = static_cast<std::int64_t>(pin.tile);
    options.autotune = Choice::off;
    return options;
}

std::string apply_pin(KernelMatrixPlan& plan, const StorePin& pin, const GramDevice& device) {
    if (plan.method == KernelMatrixMethod::product) return {};
    GramPlan& gram = plan.states.gram;
    GramOptions options{.split = pin.split};
    for (const GramTile& tile : gram_tiles(device, gram.method)) {
        GramPlan with = gram;
        with.tile = tile;
        if (products_text(with) == pin.products) options.tile = tile;
    }
    const std::string planned = products_text(gram);
    if (!options.tile)
        return "products (the store has " + pin.products + ", this device makes " + planned + ")";
    gram = plan_gram(gram.problem, device, options);
    // A plan for several devices has smaller blocks than its products allow.
    const std::uint64_t most = gram.problem.leading;
    if (gram.split != pin.split || plan.states.tile != pin.tile || most < pin.rows)
        return "sizes of tiles (the store has " + std::to_string(pin.tile) + " states and " +
               std::to_string(pin.rows) + " rows, this device takes " + std::to_string(plan.states.tile) +
               " and at most " + std::to_string(most) + ")";
    plan.states.block = pin.rows;
    return {};
}

void add_pin(StoreFacts& facts, const StorePin& pin) {
    facts.push_back({"rows of a tile", std::to_string(pin.rows)});
    facts.push_back({"states of a tile", std::to_string(pin.tile)});
    facts.push_back({"bulk", pin.bulk ? "1" : "0"});
    facts.push_back({"products", pin.products});
    facts.push_back({"parts of a sum", std::to_string(pin.split)});
}

StorePin read_pin(const StoreFacts& facts) {
    StorePin pin{.rows = number_of(facts, "rows of a tile"),
                 .tile = number_of(facts, "states of a tile"),
                 .bulk = number_of(facts, "bulk") != 0,
                 .split = static_cast<std::uint32_t>(number_of(facts, "parts of a sum"))};
    if (const std::string* const text = find_fact(facts, "products")) pin.products = *text;
    if (pin.rows == 0 || pin.tile > std::uint64_t{1} << 62)
        throw Error(Errc::io, "kernel_matrix: the tile store has tiles of no size");
    return pin;
}

std::vector<StoreTile> store_tiles(const KernelMatrixPlan& plan, const StorePin& pin) {
    std::vector<StoreTile> tiles;
    if (plan.method == KernelMatrixMethod::product) {
        for (std::uint64_t row = 0; row < plan.shape.samples; row += pin.rows)
            tiles.push_back(
                {{row, std::min(pin.rows, plan.shape.samples - row), 0, plan.shape.columns()}, false});
        return tiles;
    }
    for (const HostBlock& host : host_blocks(plan))
        tiles.push_back({host.block, plan.shape.square() && host.block.row != host.block.column});
    return tiles;
}

StoreFacts call_facts(const KernelMatrixCircuit* circuit, const ConstHostArray& x, const ConstHostArray* y,
                      const KernelMatrixShape& shape, const KernelMatrixOptions& options) {
    StoreFacts facts{{"qubits", std::to_string(shape.qubits)}};
    const auto add = [&](const char* name, std::string value) { facts.push_back({name, std::move(value)}); };
    if (circuit != nullptr) {
        add("map", to_string(circuit->map));
        add("scale", exact(circuit->scale));
        add("reupload", circuit->reupload ? "on" : "off");
        add("weights", circuit->weights.size != 0 ? contents(circuit->weights) : "none");
    } else {
        add("map", "none, states");
    }
    add("normalize", options.normalize ? "on" : "off");
    add("jitter", exact(options.jitter));
    add("state_tile", std::to_string(options.state_tile));
    add("bulk_states", choice_text(options.bulk_states));
    add("X", contents(x));
    add("Y", y != nullptr ? contents(*y) : "none");
    return facts;
}

StoreFacts file_facts(const KernelMatrixShape& shape, ElementType type) {
    return {{"samples", std::to_string(shape.samples)},
            {"others", std::to_string(shape.others)},
            {"type", to_string(type)}};
}

std::string facts_differ(const StoreFacts& store, std::span<const StoreFact> call, const char* first,
                         const char* second) {
    for (const StoreFact& fact : call) {
        const std::string* const kept = find_fact(store, fact.name);
        if (kept == nullptr || *kept != fact.value)
            return fact.name + " (" + first + " has " + (kept != nullptr ? *kept : "none") + ", " + second +
                   " has " + fact.value + ")";
    }
    return {};
}

std::string matrix_npy_header(const KernelMatrixShape& shape, ElementType type) {
    constexpr std::size_t kPreamble = 10, kAlignment = 64;
    std::string text = "{'descr': '<f" + std::to_string(type.bytes()) +
                       "', 'fortran_order': False, 'shape': (" + std::to_string(shape.samples) + ", " +
                       std::to_string(shape.columns()) + "), }";
    while ((kPreamble + text.size() + 1) % kAlignment != 0) text += ' ';
    text += '\n';
    std::string header = "\x93NUMPY";
    header += {'\1', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
    return header + text;
}

}  // namespace weft::kernels
