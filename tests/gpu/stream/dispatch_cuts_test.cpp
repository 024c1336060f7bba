// SPDX-License-Identifier: Apache-2.0
// Dispatches that are longer than WEFT_DISPATCH_MS: how many parts the trace shows, and that the results are
// the same bits as those of whole dispatches.
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Buffer;
using weft::Field;
using weft::Program;
using weft::Stream;

namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kStrided[] = {
#include "shaders/strided.spv.inc"
};
constexpr std::uint32_t kFolded[] = {
#include "shaders/folded.spv.inc"
};

constexpr std::uint32_t kNeverCut = 0xffffffffu;

weft::Config with_budget(std::uint32_t ms) {
    weft::Config config = weft::Config::from_env();
    config.dispatch_ms = ms;
    return config;
}

/// Whether work of these sizes takes longer than a millisecond. A GPU cuts nothing, because it is faster.
bool is_slow(const weft::Backend& backend) {
    return backend.device().type == weft::DeviceType::cpu;
}

/// What a run gave, the kernels' dispatches in its trace, and the submissions.
struct Ran {
    Words result;
    std::uint64_t dispatches = 0, submissions = 0;
    bool slow = false;
};

/// Makes work on a stream and returns its result.
using Work = std::function<Words(weft::Backend&, Stream&)>;

Ran run(const Work& work, std::uint32_t ms) {
    Ran ran;
    on_device(
        [&](weft::Backend& backend) {
            ran.slow = is_slow(backend);
            const std::uint64_t before = backend.counters().submissions;
            const weft::Profile profile(backend);
            Stream stream(backend);
            ran.result = work(backend, stream);
            for (const weft::KernelReport& kernel : profile.report().kernels)
                if (kernel.program.front() != '(') ran.dispatches += kernel.times.count;
            ran.submissions = backend.counters().submissions - before;
        },
        with_budget(ms));
    return ran;
}

/// With a budget of a millisecond the work takes at least `more` further dispatches, and gives the same bits.
void check_cut(const Work& work, std::uint64_t more = 2) {
    const Ran whole = run(work, kNeverCut), cut = run(work, 1);
    if (whole.dispatches == 0) return;  // no device
    CAPTURE(whole.dispatches);
    if (cut.slow) CHECK(cut.dispatches >= whole.dispatches + more);
    CHECK(cut.result == whole.result);
}

Words bits_of(const auto& values) {
    Words bits(values.size() * sizeof values[0] / 4);
    std::memcpy(bits.data(), values.data(), bits.size() * 4);
    return bits;
}

std::vector<float> angles(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 977) * 0.0131f - 4;
    return values;
}

/// Elements of a field with 8 words, all below the modulus.
std::vector<std::uint64_t> elements(std::size_t count) {
    std::vector<std::uint64_t> limbs(4 * count);
    for (std::size_t i = 0; i < count; ++i) {
        limbs[4 * i] = i * 0x9e3779b97f4a7c15u + 1;
        limbs[4 * i + 3] = i & 0xffff;
    }
    return limbs;
}

}  // namespace

TEST_CASE("cuts: a shader that strides by the number of workgroups") {
    check_cut([](weft::Backend& backend, Stream& stream) {
        constexpr std::size_t kCount = 1u << 20;
        const Program program(backend, kStrided,
                              {.constants = {{0u, 64u}, {1u, 5u}}, .max_workgroups = 4096});
        const Words in = words(kCount);
        Buffer<std::uint32_t> x(backend, kCount), y(backend, kCount);
        stream.upload(std::span(in), x);
        stream.dispatch(program, {x, y}, kCount);
        Words want(in);
        for (std::uint32_t& v : want) v *= 5;
        const Words got = stream.download(y);
        CHECK(got == want);
        return got;
    });
}

TEST_CASE("cuts: a shader that takes its index from two axes, with every element once") {
    check_cut([](weft::Backend& backend, Stream& stream) {
        constexpr std::size_t kCount = 300000;
        const Program program(backend, kFolded, {.local_size = {1, 1, 0}});
        const Words in = words(kCount);
        Buffer<std::uint32_t> x(backend, kCount), y(backend, kCount);
        stream.upload(std::span(in), x);
        stream.fill(y.view(), 7);
        stream.dispatch(program, {x, y}, kCount);
        Words want(in);
        for (std::uint32_t& v : want) v = 7 + 3 * v + 1;
        const Words got = stream.download(y);
        CHECK(got == want);
        return got;
    });
}

TEST_CASE("cuts: inverses and sums of field elements") {
    constexpr std::size_t kCount = 30000;
    check_cut([](weft::Backend& backend, Stream& stream) {
        Buffer<std::uint64_t> a(backend, 4 * kCount), out(backend, 4 * kCount);
        stream.upload(elements(kCount), a);
        weft::field_inverse(stream, Field::bn254_fr, a, out);
        return bits_of(stream.download(out));
    });
    check_cut([](weft::Backend& backend, Stream& stream) {
        Buffer<std::uint64_t> a(backend, 4 * kCount), b(backend, 4 * kCount), out(backend, 4);
        stream.upload(elements(kCount), a);
        stream.upload(elements(kCount), b);
        weft::field_inner_product(stream, Field::bn254_fr, a, b, out);
        return bits_of(stream.download(out));
    });
}

TEST_CASE("cuts: encoding, with tasks that workgroups share among them") {
    for (const std::uint32_t qubits : {12u, 14u}) {
        CAPTURE(qubits);
        check_cut([&](weft::Backend& backend, Stream& stream) {
            const weft::StateShape shape{.samples = 16, .qubits = qubits};
            const std::size_t features = qubits + qubits * (qubits - 1) / 2;
            Buffer<float> x(backend, shape.samples * features);
            Buffer<weft::c32> states(backend, shape.amplitudes());
            stream.upload(angles(x.size()), x);
            weft::encode_iqp(stream, x, states, shape);
            return bits_of(stream.download(states));
        });
    }
}

TEST_CASE("cuts: the building of states and their Gram product") {
    check_cut([](weft::Backend& backend, Stream& stream) {
        const weft::KernelMatrixShape shape{.samples = 300, .qubits = 9};
        Buffer<float> x(backend, shape.samples * shape.qubits), k(backend, shape.samples * shape.samples);
        stream.upload(angles(x.size()), x);
        const std::vector<double> weights(2 * shape.qubits, 0.37);
        weft::kernel_matrix(stream, {.weights = std::span(weights), .reupload = true}, x, k, shape);
        return bits_of(stream.download(k));
    });
}

TEST_CASE("cuts: vectors of a lattice") {
    check_cut([](weft::Backend& backend, Stream& stream) {
        constexpr std::size_t kCount = 1u << 20;
        const weft::LatticeCode code{.lattice = weft::Lattice::e8, .q = 4, .levels = 2, .beta = 0.4f};
        Buffer<float> x(backend, kCount), y(backend, kCount);
        Buffer<std::uint32_t> status(backend, kCount / 8 / 4);
        stream.upload(angles(kCount), x);
        weft::lattice_quantize(stream, code, x, y, status);
        Words all = bits_of(stream.download(y));
        const Words statuses = stream.download(status);
        all.insert(all.end(), statuses.begin(), statuses.end());
        return all;
    });
}

TEST_CASE("cuts: a recorded sequence keeps the parts that it was recorded with") {
    check_cut([](weft::Backend& backend, Stream& stream) {
        constexpr std::size_t kCount = 1u << 18;
        const Program program(backend, kInPlace);
        const Words in = words(kCount);
        Buffer<std::uint32_t> x(backend, kCount);
        stream.upload(std::span(in), x);
        const weft::Sequence sequence = stream.record([&](Stream& s) { s.dispatch(program, {x}, kCount); });
        for (int i = 0; i < 3; ++i) stream.replay(sequence);
        Words want(in);
        for (std::size_t i = 0; i < kCount; ++i) want[i] += 3 * (1000 + static_cast<std::uint32_t>(i));
        const Words got = stream.download(x);
        CHECK(got == want);
        stream.dispatch(program, {x}, kCount);  // for the trace, where a replay is one kernel
        return stream.download(x);
    });
}

TEST_CASE("cuts: dispatches far below the budget take no more submissions than without one") {
    const Work work = [](weft::Backend& backend, Stream& stream) {
        const Program program(backend, kInPlace);
        Buffer<std::uint32_t> x(backend, 100000);
        stream.fill(x.view(), 3);
        for (int i = 0; i < 50; ++i) stream.dispatch(program, {x}, x.size());
        return stream.download(x);
    };
    const Ran without = run(work, kNeverCut), with = run(work, 250);
    CHECK(with.dispatches == without.dispatches);
    CHECK(with.submissions == without.submissions);
    CHECK(with.result == without.result);
}

TEST_CASE("cuts: a long list of short dispatches is submitted in between") {
    on_device(
        [](weft::Backend& backend) {
            constexpr std::size_t kCount = 1u << 18;
            const Program program(backend, kInPlace);
            Buffer<std::uint32_t> x(backend, kCount);
            Stream stream(backend);
            stream.fill(x.view(), 3);
            stream.dispatch(program, {x}, kCount);  // measures its pace
            stream.wait();
            const std::uint64_t before = backend.counters().submissions;
            for (int i = 0; i < 50; ++i) stream.dispatch(program, {x.view(0, 1024)}, 1024);
            for (int i = 0; i < 100; ++i) stream.dispatch(program, {x}, kCount);
            stream.wait();
            if (is_slow(backend)) CHECK(backend.counters().submissions - before > 1);
        },
        with_budget(1));
}

TEST_CASE("cuts: batches whose chunks take too long get smaller chunks, and asked-for sizes get parts") {
    on_device(
        [](weft::Backend& backend) {
            constexpr std::size_t kCount = 1u << 18;
            const Program program(backend, kSlow);
            const Words in = words(kCount);
            Words out(kCount), whole;
            constexpr std::uint32_t kRounds = 400;
            weft::Job job;
            job.inputs = {in};
            job.outputs = {std::span(out)};
            job.elements = kCount;
            job.parameters = kRounds;
            const weft::BatchReport first = weft::run_batch(backend, program, {&job, 1});
            whole = out;
            std::fill(out.begin(), out.end(), 0u);
            const weft::BatchReport later = weft::run_batch(backend, program, {&job, 1});
            if (is_slow(backend)) CHECK(later.chunks > first.chunks);
            CHECK(out == whole);
            std::fill(out.begin(), out.end(), 0u);
            const weft::Profile profile(backend);
            const weft::BatchReport exact =
                weft::run_batch(backend, program, {&job, 1}, {.chunk_elements = kCount / 2});
            CHECK(exact.chunks == 2);
            CHECK(out == whole);
            REQUIRE(profile.report().kernels.size() == 1);
            if (is_slow(backend)) CHECK(profile.report().kernels[0].times.count > 2);
        },
        with_budget(1));
}
