// SPDX-License-Identifier: Apache-2.0
// Results do not depend on earlier or simultaneous work, nor on the mode (T28): every operation gives the
// same bits when repeated, in a batch of any shape, pipelined and sequential, and next to another backend.
// They are compared with each job alone on resident buffers, which field_all_test.cpp compares with the
// oracle.
#include <future>
#include <vector>

#include <weft/weft.hpp>

#include "support/any_field.hpp"
#include "support/gpu_fixture.hpp"

namespace {

using namespace weft_test;
using weft::BatchMode;
using weft::Field;
using weft::FieldOp;

constexpr FieldOp kAll[] = {
    FieldOp::add,    FieldOp::sub,     FieldOp::neg,           FieldOp::mul,
    FieldOp::square, FieldOp::inverse, FieldOp::to_montgomery, FieldOp::from_montgomery,
    FieldOp::axpy,   FieldOp::sum,     FieldOp::inner_product};

template <class Body>
void with_limb(const AnyField& f, Body&& body) {
    if (f.bytes == 4)
        body(std::uint32_t{});
    else
        body(std::uint64_t{});
}

// Elements of job `j` of a batch, and of a chunk: jobs of all sizes, most of them cut.
std::size_t size_of(FieldOp op, std::size_t j) {
    if (op == FieldOp::inverse) return 1 + j * 37 % 97;
    return weft::is_reduction(op) ? 1 + j * 5003 % 12007 : 1 + j * 577 % 1511;
}
std::size_t chunk_of(FieldOp op) {
    return op == FieldOp::inverse ? 40 : weft::is_reduction(op) ? 4096 : 500;
}

template <class Limb>
struct Batch {
    Batch(const AnyField& field, FieldOp operation, std::size_t jobs)
        : f(field), op(operation), scalar(packed<Limb>(f, random_numbers(f, 1, 5))) {
        for (std::size_t j = 0; j < jobs; ++j) {
            a.push_back(packed<Limb>(f, random_numbers(f, size_of(op, j), 100 + j)));
            b.push_back(packed<Limb>(f, random_numbers(f, size_of(op, j), 200 + j)));
        }
    }

    std::size_t results_of(std::size_t j) const {
        return weft::is_reduction(op) ? scalar.size() : a[j].size();
    }

    /// The results of the first `count` jobs as one batch.
    std::vector<std::vector<Limb>> together(weft::Backend& backend, std::size_t count, BatchMode mode) const {
        std::vector<std::vector<Limb>> out;
        for (std::size_t j = 0; j < count; ++j) out.emplace_back(results_of(j));
        std::vector<weft::FieldJob> jobs;
        for (std::size_t j = 0; j < count; ++j) {
            jobs.push_back({.a = a[j], .out = out[j]});
            if (weft::takes_b(op)) jobs.back().b = b[j];
            if (op == FieldOp::axpy) jobs.back().scalar = scalar;
        }
        weft::field_batch(backend, f.field, op, jobs,
                          {.batch = {.mode = mode, .chunk_elements = chunk_of(op)}});
        return out;
    }

    /// The same, each on resident buffers.
    std::vector<std::vector<Limb>> alone(weft::Backend& backend) const {
        std::vector<std::vector<Limb>> results;
        weft::Stream stream(backend);
        const weft::ConstHostArray factor =
            op == FieldOp::axpy ? weft::ConstHostArray(scalar) : weft::ConstHostArray();
        for (std::size_t j = 0; j < a.size(); ++j) {
            const weft::Buffer<Limb> x(backend, a[j].size()), y(backend, a[j].size()),
                z(backend, results_of(j));
            stream.upload(a[j], x);
            stream.upload(b[j], y);
            const weft::ConstDeviceArray second =
                weft::takes_b(op) ? weft::ConstDeviceArray(y) : weft::ConstDeviceArray();
            weft::field_apply(stream, f.field, op, x, second, factor, z);
            results.push_back(stream.download(z));
        }
        return results;
    }

    const AnyField& f;
    FieldOp op;
    std::vector<std::vector<Limb>> a, b;
    std::vector<Limb> scalar;
};

template <class Limb>
std::vector<std::vector<Limb>> first(const std::vector<std::vector<Limb>>& all, std::size_t count) {
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

TEST_CASE("field state: 16 jobs, pipelined twice and sequential, every field and operation") {
    on_device([](weft::Backend& backend) {
        for (const AnyField& f : any_fields())
            for (const FieldOp op : kAll)
                with_limb(f, [&]<class Limb>(Limb) {
                    CAPTURE(f.name);
                    CAPTURE(weft::to_string(op));
                    const Batch<Limb> batch(f, op, 16);
                    const auto want = batch.alone(backend);
                    CHECK(batch.together(backend, 16, BatchMode::pipelined) == want);
                    CHECK(batch.together(backend, 16, BatchMode::pipelined) == want);
                    CHECK(batch.together(backend, 16, BatchMode::sequential) == want);
                });
    });
}

TEST_CASE("field state: 1, 2, 3 and 4 jobs, every size of element and operation") {
    on_device([](weft::Backend& backend) {
        for (const Field field : {Field::bls12_381_fp, Field::stark252, Field::goldilocks, Field::mersenne31})
            for (const FieldOp op : kAll) {
                const AnyField& f = any_fields()[static_cast<std::size_t>(field)];
                with_limb(f, [&]<class Limb>(Limb) {
                    CAPTURE(f.name);
                    CAPTURE(weft::to_string(op));
                    const Batch<Limb> batch(f, op, 4);
                    const auto want = batch.alone(backend);
                    for (const std::size_t count : {1u, 2u, 3u, 4u})
                        for (const BatchMode mode : {BatchMode::pipelined, BatchMode::sequential})
                            CHECK(batch.together(backend, count, mode) == first(want, count));
                });
            }
    });
}

TEST_CASE("field state: two backends simultaneously, with different operations") {
    on_device([](weft::Backend& one) {
        on_device([&](weft::Backend& two) {
            const AnyField &f = any_fields()[static_cast<std::size_t>(Field::bn254_fr)],
                           &g = any_fields()[static_cast<std::size_t>(Field::koalabear)];
            for (std::size_t i = 0; i < std::size(kAll); ++i) {
                CAPTURE(weft::to_string(kAll[i]));
                const Batch<std::uint64_t> here(f, kAll[i], 4);
                const Batch<std::uint32_t> there(g, kAll[std::size(kAll) - 1 - i], 4);
                const auto want_here = here.alone(one);
                const auto want_there = there.alone(two);
                const auto four_times = [](weft::Backend& backend, const auto& batch) {
                    auto all = batch.together(backend, 4, BatchMode::pipelined);
                    bool same = true;
                    for (int k = 0; k < 3; ++k)
                        same = same && batch.together(backend, 4, BatchMode::pipelined) == all;
                    return same ? all : decltype(all)();
                };
                auto beside = std::async(std::launch::async, [&] { return four_times(two, there); });
                CHECK(four_times(one, here) == want_here);
                CHECK(beside.get() == want_there);
            }
        });
    });
}
