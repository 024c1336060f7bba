// SPDX-License-Identifier: Apache-2.0
// What GPU_STREAM_CHUNK_ELEMS, Config::chunk_elements, means for each op: the table of docs/configuration.md.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/gpu_fixture.hpp"
#include "support/shader_jobs.hpp"

using namespace weft_test;
using weft::Field;
using weft::OpReport;

namespace {

template <class Body>
void with_chunks(std::uint64_t elements, Body&& body) {
    CAPTURE(elements);
    weft::Config config = weft::Config::from_env();
    config.chunk_elements = elements;
    on_device(body, config);
}

void check_chunks(const weft::BatchReport& report, std::uint64_t chunks, std::uint64_t largest) {
    CHECK(report.chunks == chunks);
    CHECK(report.chunk_elements == largest);
}

}  // namespace

TEST_CASE("chunks: element-wise ops of fields count elements, exactly") {
    with_chunks(100, [](weft::Backend& backend) {
        CHECK(backend.plan().chunk_exact);
        const std::vector<std::uint64_t> a(4 * 1050, 1);
        std::vector<std::uint64_t> out(a.size());
        check_chunks(weft::field_neg(backend, Field::bn254_fr, a, out), 11, 100);
        check_chunks(weft::field_inverse(backend, Field::bn254_fr, a, out), 11, 100);
    });
}

TEST_CASE("chunks: reductions count elements, in whole blocks of 4096") {
    const std::vector<std::uint64_t> a(5 * 4096 + 10, 1);
    std::vector<std::uint64_t> sum(1);
    for (const auto& [elements, chunks, largest] :
         {std::tuple{1u, 6u, 4096u}, std::tuple{4096u, 6u, 4096u}, std::tuple{9000u, 4u, 8192u}})
        with_chunks(elements, [&, chunks = chunks, largest = largest](weft::Backend& backend) {
            check_chunks(weft::field_sum(backend, Field::goldilocks, a, sum), chunks, largest);
            CHECK(sum[0] == a.size());
        });
    // The default as a setting is obeyed as any other number.
    const std::vector<std::uint64_t> many(3 * 524288, 1);
    with_chunks(524288, [&](weft::Backend& backend) {
        check_chunks(weft::field_sum(backend, Field::goldilocks, many, sum), 3, 524288);
    });
}

TEST_CASE("chunks: encoders count samples where a workgroup makes a state, and rounds of samples") {
    for (const weft::EncodeMethod method : {weft::EncodeMethod::angle, weft::EncodeMethod::amplitude})
        with_chunks(7, [&](weft::Backend& backend) {
            constexpr std::uint32_t kQubits = 4;
            const std::vector<double> x(30 * weft::encode_features(method, kQubits), 0.5);
            std::vector<weft::c32> states(30 << kQubits);
            check_chunks(weft::encode(backend, method, x, states, {30, kQubits}), 5, 7);
        });
    // A state of more amplitudes than a workgroup makes is cut too.
    with_chunks(1, [](weft::Backend& backend) {
        const std::vector<double> x(20, 0.5);
        std::vector<weft::c32> states(1u << 20);
        CHECK(weft::encode_angle(backend, x, states, {1, 20}).chunks > 1);
    });
}

TEST_CASE("chunks: lattice codes count vectors, in whole blocks of 32 values") {
    for (const auto& [elements, largest] : {std::pair{1u, 8u}, std::pair{8u, 8u}, std::pair{100u, 96u}})
        with_chunks(elements, [&, largest = largest](weft::Backend& backend) {
            const std::vector<float> x(4 * 960, 0.5f);
            const weft::LatticeCode code{.q = 4};
            std::vector<std::uint8_t> codes(weft::code_bytes(code, 960));
            check_chunks(weft::lattice_encode(backend, code, x, codes), 960 / largest, largest);
            std::vector<float> y(x.size());
            check_chunks(weft::lattice_decode(backend, code, codes, {}, y), 960 / largest, largest);
        });
}

TEST_CASE("chunks: kernel matrices are cut by their plan") {
    const std::vector<float> x(40 * 3, 0.25f);
    std::vector<float> small(1600), usual(1600);
    std::uint64_t submissions[2] = {};
    with_chunks(1, [&](weft::Backend& backend) {
        const std::uint64_t before = backend.counters().submissions;
        weft::kernel_matrix(backend, {}, x, small, {.samples = 40, .qubits = 3});
        submissions[0] = backend.counters().submissions - before;
    });
    on_device([&](weft::Backend& backend) {
        const std::uint64_t before = backend.counters().submissions;
        weft::kernel_matrix(backend, {}, x, usual, {.samples = 40, .qubits = 3});
        submissions[1] = backend.counters().submissions - before;
    });
    CHECK(submissions[0] == submissions[1]);
    CHECK(small == usual);
}

TEST_CASE("chunks: a report of any family counts the parts of its call, and progress comes after each") {
    struct Call {
        const char* op;
        std::uint64_t chunk_elements, chunks;  // 0: the call is cut by its plan, into any number of chunks
        std::function<OpReport(weft::Backend&, const weft::BatchOptions&)> run;
    };
    const std::vector<std::uint64_t> a(64 * 256, 3);
    std::vector<std::uint64_t> out(a.size()), product(63);
    const std::vector<float> x(300 * 4, 0.5f), v(300, 1.0f), angles(30 * 4, 0.5f);
    const std::vector<double> wide(4 << 15, 0.5);
    std::vector<float> k(300 * 300), kv(300), y(4 * 960);
    std::vector<weft::c32> states(30 << 4), wide_states(wide.size());
    const weft::KernelMatrixShape shape{.samples = 300, .qubits = 4};
    const std::vector<float> weights(2 * 4, 0.25f);
    const weft::KernelMatrixCircuit layers{.weights = weights, .reupload = true};
    const weft::LatticeCode code{.q = 4};
    std::vector<std::uint8_t> codes(weft::code_bytes(code, 960));
    const auto on_operator = [&](weft::Backend& backend, const weft::KernelMatrixCircuit& circuit, auto run) {
        return run(weft::KernelOperator(backend, circuit, x, shape));
    };
    const Call calls[] = {
        {"field_neg", 1000, 17,
         [&](auto& on, auto& batch) {
             return weft::field_neg(on, Field::goldilocks, a, out, {.batch = batch});
         }},
        {"field_sum", 4096, 4,
         [&](auto& on, auto& batch) {
             return weft::field_sum(on, Field::goldilocks, a, std::span(out).first(1), {.batch = batch});
         }},
        {"ntt", 10, 7,
         [&](auto& on, auto& batch) {
             return weft::ntt(on, Field::goldilocks, weft::NttDirection::forward, a, out,
                              {.log_size = 8, .batch = 64}, {.batch = batch});
         }},
        {"ntt_product", 0, 1,
         [&](auto& on, auto& batch) {
             return weft::ntt_product(on, Field::goldilocks, std::span(a).first(32), std::span(a).first(32),
                                      product, {.batch = batch});
         }},
        {"encode", 7, 5,
         [&](auto& on, auto& batch) {
             return weft::encode_angle(on, angles, states, {30, 4}, {.batch = batch});
         }},
        {"encode", 1, 4,
         [&](auto& on, auto& batch) {
             return weft::encode_amplitude(on, wide, wide_states, {4, 15}, {.batch = batch});
         }},
        {"lattice_encode", 96, 10,
         [&](auto& on, auto& batch) {
             return weft::lattice_encode(on, code, y, codes, {}, {.batch = batch});
         }},
        {"lattice_decode", 96, 10,
         [&](auto& on, auto& batch) {
             return weft::lattice_decode(on, code, codes, {}, y, {.batch = batch});
         }},
        {"lattice_quantize", 96, 10,
         [&](auto& on, auto& batch) { return weft::lattice_quantize(on, code, y, y, {}, {.batch = batch}); }},
        {"kernel_matrix", 0, 0,
         [&](auto& on, auto& batch) { return weft::kernel_matrix(on, {}, x, k, shape, {.batch = batch}); }},
        {"kernel_matrix", 0, 0,
         [&](auto& on, auto& batch) {
             return weft::kernel_matrix(on, layers, x, k, shape, {.batch = batch});
         }},
        {"kernel_apply", 0, 0,
         [&](auto& on, auto& batch) {
             return on_operator(
                 on, {}, [&](const auto& of) { return weft::kernel_apply(on, of, v, kv, {.batch = batch}); });
         }},
        {"kernel_apply", 0, 0,
         [&](auto& on, auto& batch) {
             return on_operator(on, layers, [&](const auto& of) {
                 return weft::kernel_apply(on, of, v, kv, {.batch = batch});
             });
         }},
        {"kernel_predict", 0, 0,
         [&](auto& on, auto& batch) {
             return weft::kernel_predict(on, {}, x, x, v, kv, {300, 300, 4}, batch);
         }},
        {"kernel_rows", 0, 1,
         [&](auto& on, auto&) {
             return on_operator(on, {}, [&](const auto& of) { return weft::kernel_rows(on, of, {5}, kv); });
         }},
        {"kernel_diagonal", 0, 1,
         [&](auto& on, auto&) {
             return on_operator(on, {}, [&](const auto& of) { return weft::kernel_diagonal(on, of, kv); });
         }},
    };
    on_device([&](weft::Backend& backend) {
        for (const Call& call : calls) {
            CAPTURE(call.op);
            std::uint64_t shown = 0;
            const weft::BatchOptions batch{
                .chunk_elements = call.chunk_elements,
                .progress = [&](const weft::Progress&) { ++shown; },
            };
            const OpReport report = call.run(backend, batch);
            CHECK(report.op == call.op);
            CHECK(report.chunk_elements == call.chunk_elements);
            if (call.chunks != 0) CHECK(report.chunks == call.chunks);
            CHECK(report.chunks >= 1);
            if (call.chunks > 1) CHECK(shown > 1);
        }
    });
}

TEST_CASE("chunks: options beyond their range are refused with the name of the call") {
    const std::vector<std::uint64_t> a(64, 3);
    std::vector<std::uint64_t> out(64), product(63);
    const std::vector<float> x(8 * 4, 0.5f);
    std::vector<float> y(32), k(64);
    std::vector<weft::c32> states(8 << 4);
    const weft::LatticeCode code{.q = 4};
    std::vector<std::uint8_t> codes(weft::code_bytes(code, 8));
    on_device([&](weft::Backend& backend) {
        const weft::EncodeJob job{x, states, 8};
        const weft::FieldJob field_job{a, {}, {}, out};
        const weft::Program program(backend, kAffine);
        const std::pair<const char*, std::function<void(const weft::BatchOptions&)>> calls[] = {
            {"field_neg",
             [&](auto& batch) { weft::field_neg(backend, Field::goldilocks, a, out, {.batch = batch}); }},
            {"field_sum",
             [&](auto& batch) {
                 weft::field_sum(backend, Field::goldilocks, a, std::span(out).first(1), {.batch = batch});
             }},
            {"field_batch",
             [&](auto& batch) {
                 weft::field_batch(backend, Field::goldilocks, weft::FieldOp::neg, {&field_job, 1},
                                   {.batch = batch});
             }},
            {"ntt",
             [&](auto& batch) {
                 weft::ntt(backend, Field::goldilocks, weft::NttDirection::forward, a, out, {.log_size = 6},
                           {.batch = batch});
             }},
            {"ntt_extend",
             [&](auto& batch) {
                 weft::ntt_extend(backend, Field::goldilocks, std::span(a).first(32), out, {.log_size = 5}, 2,
                                  {.batch = batch});
             }},
            {"ntt_product",
             [&](auto& batch) {
                 weft::ntt_product(backend, Field::goldilocks, std::span(a).first(32), std::span(a).first(32),
                                   product, {.batch = batch});
             }},
            {"encode",
             [&](auto& batch) {
                 weft::encode_angle(backend, x, states, {8, 4}, {.batch = batch});
             }},
            {"encode_batch",
             [&](auto& batch) {
                 weft::encode_batch(backend, weft::EncodeMethod::angle, {&job, 1}, 4, {.batch = batch});
             }},
            {"lattice_encode",
             [&](auto& batch) { weft::lattice_encode(backend, code, y, codes, {}, {.batch = batch}); }},
            {"lattice_decode",
             [&](auto& batch) { weft::lattice_decode(backend, code, codes, {}, y, {.batch = batch}); }},
            {"kernel_matrix",
             [&](auto& batch) {
                 weft::kernel_matrix(backend, {}, x, k, {8, 0, 4}, {.batch = batch});
             }},
            {"run_batch", [&](auto& batch) { weft::run_batch(backend, program, {}, batch); }},
            {"JobPipeline", [&](auto& batch) { weft::JobPipeline(backend, program, batch); }},
        };
        for (const auto& [function, run] : calls)
            check_error(weft::Errc::invalid_argument, std::string(function) + ": BatchOptions::ring_slots ",
                        [&, &call = run] { call({.ring_slots = 17}); });
    });
}

TEST_CASE("chunks: those of a program grow until they hold the shader's block") {
    with_chunks(10, [](weft::Backend& backend) {
        const weft::Program usual(backend, kAffine);
        AffineWork work({95});
        check_chunks(weft::run_batch(backend, usual, work.jobs), 10, 10);
        CHECK(work.right());
    });
}
