// SPDX-License-Identifier: Apache-2.0
// Bundles are planned and then executed on plain memory: the outputs must hold the results of the kernel for
// the inputs, on every route.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "plan/work/bundle.hpp"

namespace {

using namespace weft::core;
using weft::Access;
using weft::Binding;
using weft::Job;
using weft::Path;
using Bytes = std::vector<std::byte>;

std::byte as_byte(std::uint64_t value) {
    return static_cast<std::byte>(value & 0xff);
}

/// Memory in place of buffers. The plan never reads a BufferObject, so any address can stand for one.
class Buffers {
  public:
    std::shared_ptr<BufferObject> add(std::byte* data, std::uint64_t bytes) {
        auto tag = std::make_shared<char>();
        auto* name = reinterpret_cast<BufferObject*>(tag.get());
        memory_[name] = {data, bytes};
        return {std::move(tag), name};
    }
    std::byte* at(const BufferObject* buffer, std::uint64_t offset, std::uint64_t bytes) const {
        const auto it = memory_.find(buffer);
        REQUIRE(it != memory_.end());
        REQUIRE(offset <= it->second.bytes);
        REQUIRE(bytes <= it->second.bytes - offset);
        return it->second.data + offset;
    }

  private:
    struct Memory {
        std::byte* data = nullptr;
        std::uint64_t bytes = 0;
    };
    std::map<const BufferObject*, Memory> memory_;
};

/// One binding of a program under test: bytes of an element, or all bytes if it is broadcast.
struct BindingNeeds {
    Access access = Access::read;
    std::uint64_t bytes = 4;
    bool broadcast = false;
};

struct Program {
    std::string what;
    std::vector<BindingNeeds> bindings;
    bool in_place = false;  // output 0 is input 0
};

const Program kPrograms[] = {
    {"one in, one out", {{Access::read, 4}, {Access::write, 4}}},
    {"two in, one out, in place", {{Access::read, 48}, {Access::read, 48}, {Access::write, 48}}, true},
    {"read and written", {{Access::read_write, 12}}},
    {"read and written in place", {{Access::read_write, 12}}, true},
    {"odd sizes", {{Access::read, 3}, {Access::write, 5}, {Access::read, 1}, {Access::write, 7}}},
    {"a table", {{Access::read, 37, true}, {Access::read, 8}, {Access::write, 16}}},
    {"everything",
     {{Access::write, 1}, {Access::read, 64, true}, {Access::read_write, 6}, {Access::read, 20}}},
    {"writes alone", {{Access::write, 4}}},
};

bool reads(const BindingNeeds& b) {
    return b.access != Access::write;
}
bool writes(const BindingNeeds& b) {
    return b.access != Access::read;
}

/// Byte `b` of element `e` of written binding `k`: a sum over the bindings. `input(i, e, b)` is a byte of
/// element e of binding i.
template <class Input>
std::byte kernel_byte(const Program& program, std::size_t k, std::uint64_t e, std::uint64_t b,
                      const Input& input) {
    std::uint64_t sum = k * 17 + b + 1;
    for (std::size_t i = 0; i < program.bindings.size(); ++i) {
        const BindingNeeds& shape = program.bindings[i];
        if (reads(shape)) sum = sum * 3 + std::to_integer<std::uint64_t>(input(i, e, b % shape.bytes));
    }
    return as_byte(sum);
}

enum class Pinned { none, aligned, misaligned, inputs, outputs };

/// A job with separate memory, and its right outputs.
struct TestJob {
    const Program& program;
    std::uint64_t elements;
    std::vector<Bytes> memory;  // of each span, with room to misalign it
    std::vector<std::shared_ptr<BufferObject>> pinned_in, pinned_out;
    std::uint64_t shift = 0;  // of each span in its pinned buffer
    std::vector<Bytes> expected;
    Job job;

    TestJob(const Program& p, std::uint64_t n, std::uint64_t seed, Pinned pinned, Buffers& buffers)
        : program(p), elements(n), shift(pinned == Pinned::misaligned ? 4 : 0) {
        job.elements = n;
        job.parameters = seed;
        memory.reserve(2 * p.bindings.size());
        for (const BindingNeeds& shape : p.bindings) {
            const std::uint64_t bytes = shape.broadcast ? shape.bytes : shape.bytes * n;
            if (reads(shape)) {
                std::byte* data = add_memory(bytes, seed++);
                job.inputs.push_back({data, bytes, shape.broadcast});
                pinned_in.push_back(
                    pin(data, bytes, pinned != Pinned::none && pinned != Pinned::outputs, buffers));
            }
            if (writes(shape)) {
                const bool shared = p.in_place && job.outputs.size() == 0;
                std::byte* data = shared ? memory.front().data() + shift : add_memory(bytes, seed++);
                job.outputs.push_back({data, bytes});
                const bool wanted = pinned != Pinned::none && pinned != Pinned::inputs;
                pinned_out.push_back(shared && wanted && pinned_in.front()
                                         ? pinned_in.front()
                                         : pin(data, bytes, wanted, buffers));
            }
        }
        compute_expected();
    }

    ChunkSpans spans_of(const Chunk& chunk) const {
        ChunkSpans spans;
        spans.job = &job;
        for (std::size_t i = 0; i < pinned_in.size(); ++i)
            if (pinned_in[i])
                spans.inputs[i] = {
                    pinned_in[i],
                    shift + slice(job.inputs[i].bytes, job.inputs[i].broadcast, elements, chunk).offset};
        for (std::size_t i = 0; i < pinned_out.size(); ++i)
            if (pinned_out[i])
                spans.outputs[i] = {pinned_out[i],
                                    shift + slice(job.outputs[i].bytes, false, elements, chunk).offset};
        return spans;
    }

    bool outputs_are_right() const {
        bool right = true;
        for (std::size_t i = 0; i < expected.size(); ++i)
            right = right && std::memcmp(job.outputs[i].data, expected[i].data(), expected[i].size()) == 0;
        return right;
    }

  private:
    std::byte* add_memory(std::uint64_t bytes, std::uint64_t seed) {
        Bytes& span = memory.emplace_back(bytes + shift);
        for (std::size_t i = 0; i < span.size(); ++i) span[i] = as_byte((i + 1) * (2 * seed + 1) >> 2);
        return span.data() + shift;
    }
    std::shared_ptr<BufferObject> pin(std::byte* data, std::uint64_t bytes, bool wanted,
                                      Buffers& buffers) const {
        return wanted ? buffers.add(data - shift, bytes + shift) : nullptr;
    }
    void compute_expected() {
        const auto input = [&](std::size_t binding, std::uint64_t e, std::uint64_t b) {
            std::size_t in = 0;
            for (std::size_t i = 0; i < binding; ++i) in += reads(program.bindings[i]) ? 1u : 0u;
            const BindingNeeds& shape = program.bindings[binding];
            return static_cast<const std::byte*>(
                job.inputs[in].data)[(shape.broadcast ? 0 : e * shape.bytes) + b];
        };
        for (std::size_t k = 0; k < program.bindings.size(); ++k) {
            const BindingNeeds& shape = program.bindings[k];
            if (!writes(shape)) continue;
            Bytes& out = expected.emplace_back();
            for (std::uint64_t e = 0; e < elements; ++e)
                for (std::uint64_t b = 0; b < shape.bytes; ++b)
                    out.push_back(kernel_byte(program, k, e, b, input));
        }
    }
};

/// A slot of exactly the requested size, and a device that runs a bundle on it.
class FakeSlot {
  public:
    FakeSlot(const AreaNeeds& needs, Buffers& buffers) : buffers_(buffers) {
        for (std::size_t i = 0; i < kAreas; ++i) {
            if (needs[i] == 0) continue;
            memory_[i].assign(needs[i], std::byte{0xee});
            owners_[i] = buffers.add(memory_[i].data(), needs[i]);
            const bool host_reaches = i != static_cast<std::size_t>(Area::device_in) &&
                                      i != static_cast<std::size_t>(Area::device_out);
            areas_[i] = {owners_[i].get(), host_reaches ? memory_[i].data() : nullptr};
        }
    }
    const Areas& areas() const { return areas_; }

    void run(const Program& program, const Bundle& work, std::uint64_t alignment) {
        for (const HostCopy& copy : work.copies_in) host_copy(copy);
        for (const CopyRegion& region : work.uploads) device_copy(region);
        for (const ChunkDispatch& chunk : work.chunks) run_kernel(program, chunk, alignment);
        for (const CopyRegion& region : work.downloads) device_copy(region);
        for (const HostCopy& copy : work.copies_out) host_copy(copy);
    }

  private:
    /// If one end of a host copy is in an area, all of it must be. Areas are separate allocations, so a
    /// sanitizer detects other accesses.
    static void host_copy(const HostCopy& copy) {
        REQUIRE(copy.target != nullptr);
        REQUIRE(copy.source != nullptr);
        std::memcpy(copy.target, copy.source, copy.bytes);
    }
    void device_copy(const CopyRegion& region) {
        std::memcpy(buffers_.at(region.target, region.target_offset, region.bytes),
                    buffers_.at(region.source, region.source_offset, region.bytes), region.bytes);
    }
    void run_kernel(const Program& program, const ChunkDispatch& chunk, std::uint64_t alignment) {
        REQUIRE(chunk.bound_count == program.bindings.size());
        std::uint32_t count = 0;
        std::memcpy(&count, chunk.push.data(), 4);
        REQUIRE(count == chunk.chunk.count);
        std::vector<std::byte*> bound;
        for (std::size_t i = 0; i < chunk.bound_count; ++i) {
            const BoundRange& range = chunk.bound[i];
            const BindingNeeds& shape = program.bindings[i];
            CHECK(range.binding == 10 + i);
            CHECK(range.offset % alignment == 0);
            REQUIRE(range.bytes == (shape.broadcast ? shape.bytes : shape.bytes * count));
            bound.push_back(buffers_.at(range.buffer, range.offset, range.bytes));
        }
        const auto input = [&](std::size_t i, std::uint64_t e, std::uint64_t b) {
            const BindingNeeds& shape = program.bindings[i];
            return bound[i][(shape.broadcast ? 0 : e * shape.bytes) + b];
        };
        std::vector<Bytes> results(
            program.bindings.size());  // so that in place no result is the input of another
        for (std::size_t k = 0; k < program.bindings.size(); ++k) {
            if (!writes(program.bindings[k])) continue;
            for (std::uint64_t e = 0; e < count; ++e)
                for (std::uint64_t b = 0; b < program.bindings[k].bytes; ++b)
                    results[k].push_back(kernel_byte(program, k, e, b, input));
        }
        for (std::size_t k = 0; k < results.size(); ++k)
            std::copy(results[k].begin(), results[k].end(), bound[k]);
    }

    Buffers& buffers_;
    std::array<Bytes, kAreas> memory_;
    std::array<std::shared_ptr<BufferObject>, kAreas> owners_;
    Areas areas_{};
};

std::vector<Binding> bindings_of(const Program& program) {
    std::vector<Binding> out;
    for (std::size_t i = 0; i < program.bindings.size(); ++i)
        out.push_back({static_cast<std::uint32_t>(10 + i), program.bindings[i].access, ""});
    return out;
}

/// Lays out the given chunks of `jobs` as one bundle.
struct PlacedBundle {
    std::vector<Binding> bindings;
    AreaNeeds needs{};
    Bundle work;
    std::unique_ptr<FakeSlot> slot;

    PlacedBundle(const Program& program, const std::vector<std::unique_ptr<TestJob>>& jobs,
                 const std::vector<Chunk>& chunks, const Route& route, std::uint64_t alignment,
                 Buffers& buffers)
        : bindings(bindings_of(program)) {
        BundleLayout layout({bindings, 16, 1, 0, "test"}, alignment);
        for (const Chunk& chunk : chunks)
            layout.measure(chunk, jobs[chunk.job]->spans_of(chunk), route, needs);
        slot = std::make_unique<FakeSlot>(needs, buffers);
        layout.restart();
        for (const Chunk& chunk : chunks)
            layout.write(chunk, jobs[chunk.job]->spans_of(chunk), route, slot->areas(), work);
    }
};

const Route kRoutes[] = {
    {Path::staged, true, false, false},   {Path::imported, true, false, true},
    {Path::direct, false, false, false},  {Path::direct, false, true, false},
    {Path::imported, false, false, true}, {Path::host, false, false, false},
};
constexpr Pinned kAllPinned[] = {Pinned::none, Pinned::aligned, Pinned::misaligned, Pinned::inputs,
                                 Pinned::outputs};

TEST_CASE("every route brings the right bytes to the kernel and back") {
    for (const Program& program : kPrograms) {
        for (const Route& route : kRoutes) {
            for (const Pinned pinned : kAllPinned) {
                for (const std::uint64_t alignment : {64u, 256u}) {
                    CAPTURE(program.what);
                    CAPTURE(static_cast<int>(route.path));
                    CAPTURE(route.copies);
                    CAPTURE(route.mapped_device);
                    CAPTURE(static_cast<int>(pinned));
                    Buffers buffers;
                    std::vector<std::unique_ptr<TestJob>> jobs;
                    for (const std::uint64_t n : {100u, 1u, 65u})
                        jobs.push_back(std::make_unique<TestJob>(program, n, n, pinned, buffers));
                    // There are two bundles; the first job ends within one, next to other jobs.
                    PlacedBundle first(program, jobs, {{0, 0, 33}, {0, 33, 3}}, route, alignment, buffers);
                    first.slot->run(program, first.work, alignment);
                    PlacedBundle second(program, jobs, {{0, 36, 64}, {1, 0, 1}, {2, 0, 65}}, route, alignment,
                                        buffers);
                    second.slot->run(program, second.work, alignment);
                    for (const auto& job : jobs) CHECK(job->outputs_are_right());
                    std::uint64_t bytes = 0;
                    for (const BindingNeeds& shape : program.bindings)
                        bytes += (shape.broadcast ? 2 * shape.bytes : 36 * shape.bytes) *
                                 (shape.access == Access::read_write ? 2 : 1);
                    CHECK(first.work.bytes == bytes);
                }
            }
        }
    }
}

/// One job of 64 elements in one chunk.
struct Single {
    Buffers buffers;
    std::vector<std::unique_ptr<TestJob>> jobs;
    std::unique_ptr<PlacedBundle> bundle;

    Single(const Program& program, const Route& route, Pinned pinned) {
        jobs.push_back(std::make_unique<TestJob>(program, 64, 1, pinned, buffers));
        bundle =
            std::make_unique<PlacedBundle>(program, jobs, std::vector<Chunk>{{0, 0, 64}}, route, 64, buffers);
    }
    const Bundle& work() const { return bundle->work; }
    std::uint64_t need(Area area) const { return bundle->needs[static_cast<std::size_t>(area)]; }
    std::uint64_t need_in_all() const {
        std::uint64_t sum = 0;
        for (const std::uint64_t bytes : bundle->needs) sum += bytes;
        return sum;
    }
};

TEST_CASE("staged: ordinary memory passes through the host areas, page-locked memory does not") {
    const Program& program = kPrograms[0];
    const Single ordinary(program, kRoutes[0], Pinned::none);
    CHECK(ordinary.work().copies_in.size() == 1);
    CHECK(ordinary.work().copies_out.size() == 1);
    CHECK(ordinary.work().uploads.size() == 1);
    CHECK(ordinary.work().downloads.size() == 1);
    CHECK(ordinary.work().keep_alive.empty());
    for (const Area area : {Area::host_in, Area::host_out, Area::device_in, Area::device_out})
        CHECK(ordinary.need(area) == 256);
    CHECK(ordinary.need(Area::mapped_in) == 0);
    const Single pinned(program, kRoutes[0], Pinned::misaligned);  // copies need little alignment
    CHECK(pinned.work().copies_in.empty());
    CHECK(pinned.work().copies_out.empty());
    CHECK(pinned.work().uploads.size() == 1);
    CHECK(pinned.work().downloads.size() == 1);
    CHECK(pinned.work().keep_alive.size() == 2);
    CHECK(pinned.need(Area::host_in) == 0);
    CHECK(pinned.need(Area::host_out) == 0);
}

TEST_CASE("without copies the kernel uses page-locked memory directly, if it can be bound") {
    for (const Program& program : {kPrograms[0], kPrograms[1], kPrograms[3]}) {
        CAPTURE(program.what);
        const Single aligned(program, kRoutes[5], Pinned::aligned);
        CHECK(aligned.need_in_all() == 0);
        CHECK(aligned.work().copies_in.empty());
        CHECK(aligned.work().copies_out.empty());
        CHECK(aligned.work().uploads.empty());
        CHECK(aligned.work().downloads.empty());
        CHECK(aligned.work().keep_alive.size() >= 1);
        const Single misaligned(program, kRoutes[5], Pinned::misaligned);
        CHECK(misaligned.need(Area::host_out) > 0);
        CHECK_FALSE(misaligned.work().copies_in.empty());
        CHECK_FALSE(misaligned.work().copies_out.empty());
        CHECK(misaligned.work().keep_alive.empty());
    }
    // One binding cannot have two places, so an input that is separate from its output is copied into it.
    const Single apart(kPrograms[2], kRoutes[5], Pinned::aligned);
    CHECK(apart.work().copies_in.size() == 1);
    CHECK(apart.work().copies_out.size() == 1);
    // A tail of less than a word is bound only if the padding belongs to weft.
    const Program bytes{"five bytes an element", {{Access::read, 4}, {Access::write, 5}}};
    Buffers buffers;
    std::vector<std::unique_ptr<TestJob>> jobs;
    jobs.push_back(std::make_unique<TestJob>(bytes, 63, 1, Pinned::aligned, buffers));
    const PlacedBundle bundle(bytes, jobs, {{0, 0, 63}}, kRoutes[5], 64, buffers);
    CHECK(bundle.work.copies_in.empty());
    CHECK(bundle.work.copies_out.size() == 1);
}

TEST_CASE("mapped device memory takes inputs, never outputs that the host would read back through the bus") {
    const Single bundle(kPrograms[0], kRoutes[3], Pinned::none);
    CHECK(bundle.need(Area::mapped_in) == 256);
    CHECK(bundle.need(Area::host_in) == 0);
    CHECK(bundle.need(Area::host_out) == 256);
    const Single both(kPrograms[2], kRoutes[3], Pinned::none);
    CHECK(both.need(Area::mapped_in) == 0);
    CHECK(both.need(Area::host_out) == 768);
}

TEST_CASE("slices of a span") {
    const struct {
        std::uint64_t bytes;
        bool broadcast;
        std::uint64_t elements;
        Chunk chunk;
        ByteSlice expected;
    } cases[] = {
        {400, false, 100, {0, 0, 100}, {0, 400}},
        {400, false, 100, {0, 25, 10}, {100, 40}},
        {400, true, 100, {0, 25, 10}, {0, 400}},
        {7, true, 100, {0, 99, 1}, {0, 7}},
        {std::uint64_t{0xffffffffu} * 48,
         false,
         0xffffffffu,
         {0, 0xfffffffeu, 1},
         {std::uint64_t{0xfffffffeu} * 48, 48}},
    };
    for (const auto& c : cases) {
        const ByteSlice s = slice(c.bytes, c.broadcast, c.elements, c.chunk);
        CHECK(s.offset == c.expected.offset);
        CHECK(s.bytes == c.expected.bytes);
    }
}

TEST_CASE("push constants: count, first, then parameters, as far as the block is long") {
    struct Block {
        std::uint32_t count, first, a, b;
    };
    const struct {
        std::uint32_t bytes;
        Block expected;
    } cases[] = {{0, {0, 0, 0, 0}},   {4, {7, 0, 0, 0}},    {8, {7, 9, 0, 0}},
                 {12, {7, 9, 11, 0}}, {16, {7, 9, 11, 13}}, {24, {7, 9, 11, 13}}};
    for (const auto& c : cases) {
        std::array<std::byte, 256> push{};
        fill_push_constants(push, c.bytes, 7, 9, weft::Parameters(std::array<std::uint32_t, 2>{11, 13}));
        Block block{};
        std::memcpy(&block, push.data(), sizeof block);
        CAPTURE(c.bytes);
        CHECK(block.count == c.expected.count);
        CHECK(block.first == c.expected.first);
        CHECK(block.a == c.expected.a);
        CHECK(block.b == c.expected.b);
        CHECK(std::all_of(push.begin() + 16, push.end(), [](std::byte x) { return x == std::byte{0}; }));
    }
}

TEST_CASE("each chunk carries the index of its first element and the job's parameters") {
    Buffers buffers;
    std::vector<std::unique_ptr<TestJob>> jobs;
    jobs.push_back(std::make_unique<TestJob>(kPrograms[0], 100, 77, Pinned::none, buffers));
    const PlacedBundle bundle(kPrograms[0], jobs, {{0, 10, 20}, {0, 30, 5}}, kRoutes[0], 64, buffers);
    REQUIRE(bundle.work.chunks.size() == 2);
    for (const ChunkDispatch& chunk : bundle.work.chunks) {
        std::uint32_t first = 0;
        std::uint64_t parameter = 0;
        std::memcpy(&first, chunk.push.data() + 4, 4);
        std::memcpy(&parameter, chunk.push.data() + 8, 8);
        CHECK(chunk.push_bytes == 16);
        CHECK(first == chunk.chunk.first);
        CHECK(parameter == 77);
    }
}

}  // namespace
