// SPDX-License-Identifier: Apache-2.0
// What GPU_STREAM_CHUNK_ELEMS, Config::chunk_elements, means for each op: the table of docs/configuration.md.
#include <cstdint>
#include <string>
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

TEST_CASE("chunks: those of a program grow until they hold the shader's block") {
    with_chunks(10, [](weft::Backend& backend) {
        const weft::Program usual(backend, kAffine);
        AffineWork work({95});
        check_chunks(weft::run_batch(backend, usual, work.jobs), 10, 10);
        CHECK(work.right());
    });
}
