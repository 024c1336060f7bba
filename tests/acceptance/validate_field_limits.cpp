// SPDX-License-Identifier: Apache-2.0
// T19 to T23: values, lengths and overlaps that must be refused, and sizes and aliases that must work.
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "field_items.hpp"
#include "field_reference.hpp"

namespace {

constexpr auto kField = weft::Field::bls12_381_fp;

using reference::Limbs;
using reference::Sample;

constexpr std::array kOps = {weft::FieldOp::add, weft::FieldOp::sub, weft::FieldOp::neg};
constexpr std::uint64_t kUntouched = 0x5eed5eed5eed5eed;
constexpr std::uint64_t kChunk = 1000;

bool untouched(std::span<const std::uint64_t> limbs) {
    return std::all_of(limbs.begin(), limbs.end(), [](std::uint64_t limb) { return limb == kUntouched; });
}

// `call` must throw invalid_argument with all of these texts, and submit nothing to the device.
template <class Call>
void expect_refused(Item& item, weft::Backend& backend, const std::vector<std::string>& texts, Call&& call) {
    const std::uint64_t submissions = backend.counters().submissions;
    try {
        call();
        item.expect(false, "not refused: " + texts.front());
    } catch (const weft::Error& error) {
        const std::string got = error.what();
        item.expect(error.code() == weft::Errc::invalid_argument, "wrong code: " + got);
        for (const std::string& text : texts)
            item.expect(got.find(text) != std::string::npos, "\"" + text + "\" is not in: " + got);
    }
    item.expect(backend.counters().submissions == submissions, "something was submitted");
}

// One value that is not below p, in element 3 of job 1 of 3.
void check_stray(Item& item, weft::Backend& backend, weft::FieldOp op, bool in_b,
                 const reference::Number& v) {
    Limbs stray, good(30, 1), bad(30, 1);
    reference::append(stray, v);
    std::copy(stray.begin(), stray.end(), bad.begin() + 3 * 6);
    const Limbs none, &b = op == weft::FieldOp::neg ? none : good;
    std::array<Limbs, 3> out;
    out.fill(Limbs(30, kUntouched));
    const weft::FieldJob jobs[] = {
        {good, b, {}, out[0]}, {in_b ? good : bad, in_b ? bad : b, {}, out[1]}, {good, b, {}, out[2]}};
    expect_refused(item, backend,
                   {"not canonical", "job 1", std::string("element 3 of ") + (in_b ? "b" : "a")},
                   [&] { weft::field_batch(backend, kField, op, jobs, {.check_values = true}); });
    for (const Limbs& limbs : out) item.expect(untouched(limbs), "an output was written");
}

void check_not_canonical(Item& item, weft::Backend& backend) {
    const reference::Number one = reference::number("1"), p = reference::kP;
    for (const reference::Number& v :
         {p, reference::plus(reference::plus(p, p), one), reference::number(std::string(96, 'f'))})
        for (const weft::FieldOp op : kOps) {
            check_stray(item, backend, op, false, v);
            if (op != weft::FieldOp::neg) check_stray(item, backend, op, true, v);
        }
}

void check_empty(Item& item, weft::Backend& backend) {
    const std::uint64_t submissions = backend.counters().submissions;
    for (const weft::FieldOp op : kOps)
        for (const bool checked : {false, true}) {
            const weft::FieldJob job;
            const weft::FieldHostOptions options{.check_values = checked};
            item.expect(weft::field_batch(backend, kField, op, {}, options).elements == 0, "0 jobs");
            item.expect(weft::field_batch(backend, kField, op, {&job, 1}, options).elements == 0, "n = 0");
        }
    item.expect(backend.counters().submissions == submissions, "something was submitted");
}

void check_lengths(Item& item, weft::Backend& backend) {
    struct Lengths {
        std::size_t a, b, out;
        const char *got, *need;
    };
    for (const Lengths& n : {Lengths{7, 7, 7, "got 7 limbs", "need a multiple of 6"},
                             {5, 5, 5, "got 5 limbs", "need a multiple of 6"},
                             {12 + 5, 12 + 5, 12 + 5, "got 17 limbs", "need a multiple of 6"},
                             {12, 6, 12, "got 6 limbs", "need 12"},
                             {12, 18, 12, "got 18 limbs", "need 12"},
                             {12, 12, 6, "got 6 limbs", "need 12"},
                             {12, 12, 12 + 5, "got 17 limbs", "need 12"}}) {
        const Limbs a(n.a, 1), b(n.b, 1);
        Limbs out(n.out, kUntouched);
        expect_refused(item, backend, {n.got, n.need}, [&] { weft::field_add(backend, kField, a, b, out); });
        expect_refused(item, backend, {n.got, n.need}, [&] { weft::field_sub(backend, kField, a, b, out); });
        item.expect(untouched(out), "the output was written");
    }
    // This length is refused before any memory is read.
    Limbs few(6, 1);
    const std::span<std::uint64_t> many(few.data(), std::size_t{6} << 32);
    expect_refused(item, backend, {"got 25769803776 limbs", "need fewer than 6 * 2^32"},
                   [&] { weft::field_add(backend, kField, many, many, many); });
}

void check_sizes(Item& item, weft::Backend& backend) {
    std::mt19937_64 random(22);
    for (const std::size_t n :
         {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{15}, std::size_t{16}, std::size_t{17},
          std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{255}, std::size_t{256},
          std::size_t{257}, std::size_t{kChunk - 1}, std::size_t{kChunk}, std::size_t{kChunk + 1}})
        for (const weft::FieldOp op : kOps) {
            const Sample sample = reference::random_sample(op, n, random);
            Limbs memory(6 + n * 6 + 6, kUntouched);
            const std::span<std::uint64_t> all(memory), out = all.subspan(6, n * 6);
            const weft::FieldJob job{.a = sample.a, .b = sample.b, .out = out};
            const weft::BatchReport report =
                weft::field_batch(backend, kField, op, {&job, 1}, {.batch = {.chunk_elements = kChunk}});
            const std::string name = weft::to_string(op) + (" of " + std::to_string(n));
            item.expect_equal(out, sample.want, name);
            item.expect(untouched(all.first(6)) && untouched(all.last(6)), name + ": guards");
            item.expect(report.chunks == (n + kChunk - 1) / kChunk, name + ": chunks");
        }
}

void check_aliases(Item& item, weft::Backend& backend) {
    std::mt19937_64 random(23);
    for (const weft::FieldOp op : {weft::FieldOp::add, weft::FieldOp::sub}) {
        const auto run = [&](std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                             std::span<std::uint64_t> out) {
            const weft::FieldJob job{.a = a, .b = b, .out = out};
            weft::field_batch(backend, kField, op, {&job, 1}, {.batch = {.chunk_elements = 100}});
        };
        const Sample sample = reference::random_sample(op, 257, random);
        Limbs a = sample.a, b = sample.b, out(a.size());
        run(a, b, a);
        item.expect_equal(a, sample.want, "out = a");
        run(sample.a, b, b);
        item.expect_equal(b, sample.want, "out = b");
        Sample same{op, {}, {}, {}};
        for (int i = 0; i < 257; ++i) {
            const reference::Number x = reference::random_number(random);
            same.add(x, x);
        }
        run(same.a, same.a, out);
        item.expect_equal(out, same.want, "a = b");

        Limbs memory(3 * 60, kUntouched);
        const std::span<std::uint64_t> all(memory);
        const Limbs other(60, 1);
        for (const std::size_t shift : {std::size_t{0}, std::size_t{12}}) {
            const std::span<std::uint64_t> in = all.subspan(6, 60), into = all.subspan(shift, 60);
            expect_refused(item, backend, {"out overlaps a"}, [&] { run(in, other, into); });
            expect_refused(item, backend, {"out overlaps b"}, [&] { run(other, in, into); });
        }
        item.expect(untouched(memory), "a refused output was written");
    }
}

}  // namespace

void validate_limits(Validation& validation, weft::Backend& backend) {
    const auto item = [&](const char* id, const char* what, void (*check)(Item&, weft::Backend&)) {
        validation.item(id, what, [&](Item& counts) { check(counts, backend); });
    };
    item("T19", "p, 2p + 1, 2^384 - 1 refused in checked mode", check_not_canonical);
    item("T20", "no elements, no jobs", check_empty);
    item("T21", "lengths that do not fit refused", check_lengths);
    item("T22", "sizes around workgroups and chunks, guards", check_sizes);
    item("T23", "in place, same operand, partial overlap", check_aliases);
}
