// SPDX-License-Identifier: Apache-2.0
// T28: a job gives the same bits when repeated, next to another backend, in a batch of any shape, in either
// mode.
#include <cstdint>
#include <future>
#include <random>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "field_items.hpp"
#include "field_reference.hpp"

namespace {

constexpr auto kField = weft::Field::bls12_381_fp;

using reference::Limbs;
using reference::Sample;

std::vector<Limbs> outputs_of(weft::Backend& backend, const std::vector<Sample>& samples,
                              weft::BatchMode mode) {
    std::vector<Limbs> out;
    for (const Sample& sample : samples) out.emplace_back(sample.a.size());
    std::vector<weft::FieldJob> jobs;
    for (std::size_t j = 0; j < samples.size(); ++j)
        jobs.push_back({.a = samples[j].a, .b = samples[j].b, .out = out[j]});
    weft::field_batch(backend, kField, samples.front().op, jobs,
                      {.batch = {.mode = mode, .chunk_elements = 1000}});
    return out;
}

void check_twice(Item& item, weft::Backend& backend) {
    std::mt19937_64 random(28);
    const Sample sample = reference::random_sample(weft::FieldOp::add, 2500, random);
    Limbs out(sample.a.size());
    for (const char* time : {"first time", "second time"}) {
        out.assign(out.size(), 0);
        weft::field_add(backend, kField, sample.a, sample.b, out);
        item.expect_equal(out, sample.want, time);
    }
}

void check_two_backends(Item& item, weft::Backend& first) {
    std::mt19937_64 random(29);
    weft::Backend second;
    const std::vector<Sample> sums = {reference::random_sample(weft::FieldOp::add, 2500, random)};
    const std::vector<Sample> differences = {reference::random_sample(weft::FieldOp::sub, 3300, random)};
    const auto eight_times = [](weft::Backend& backend, const std::vector<Sample>& samples) {
        std::vector<Limbs> all;
        for (int i = 0; i < 8; ++i)
            all.push_back(outputs_of(backend, samples, weft::BatchMode::pipelined).front());
        return all;
    };
    auto beside = std::async(std::launch::async, [&] { return eight_times(second, differences); });
    for (const Limbs& out : eight_times(first, sums)) item.expect_equal(out, sums.front().want, "first");
    for (const Limbs& out : beside.get()) item.expect_equal(out, differences.front().want, "second");
}

void check_batches(Item& item, weft::Backend& backend) {
    std::mt19937_64 random(30);
    for (const weft::FieldOp op : {weft::FieldOp::add, weft::FieldOp::sub, weft::FieldOp::neg})
        for (const std::size_t count : {1u, 2u, 3u, 4u, 16u}) {
            std::vector<Sample> samples;
            for (std::size_t j = 0; j < count; ++j)
                samples.push_back(reference::random_sample(op, 1 + j * 577 % 2311, random));
            const auto pipelined = outputs_of(backend, samples, weft::BatchMode::pipelined);
            const auto sequential = outputs_of(backend, samples, weft::BatchMode::sequential);
            item.expect(pipelined == sequential, "pipelined and sequential differ");
            for (std::size_t j = 0; j < count; ++j)
                item.expect_equal(pipelined[j], samples[j].want,
                                  "job " + std::to_string(j) + " of " + std::to_string(count));
        }
}

}  // namespace

void validate_state(Validation& validation, weft::Backend& backend) {
    const auto item = [&](const char* what, void (*check)(Item&, weft::Backend&)) {
        validation.item("T28", what, [&](Item& counts) { check(counts, backend); });
    };
    item("the same job twice", check_twice);
    item("two backends simultaneously", check_two_backends);
    item("1, 2, 3, 4, 16 jobs, pipelined and sequential", check_batches);
}
