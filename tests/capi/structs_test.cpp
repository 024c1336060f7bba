// SPDX-License-Identifier: Apache-2.0
// Programs with an older or a newer header: structs of another size.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "capi/fixture.hpp"

using namespace weft_test;

namespace {

/// weft_lattice_code as it could be in a later header.
struct NewerCode {
    weft_lattice_code known;
    std::uint64_t added[4];
};

std::uint64_t bytes_of(const weft_lattice_code* code) {
    std::uint64_t bytes = 0;
    CHECK_OK(weft_lattice_sizes(code, 8, &bytes, nullptr));
    return bytes;
}

}  // namespace

TEST_CASE("c: an older header's options are extended by zeros") {
    // 8 vectors of E8 in `levels` digits: what the struct does not have is the default.
    weft_lattice_code code;
    std::memset(&code, 0xff, sizeof(code));  // what an older program has after its struct
    code.lattice = WEFT_LATTICE_E8;
    code.size = 8;  // size and lattice
    CHECK(bytes_of(&code) == 8 * 2 * 8);
    code.q = 0;
    code.levels = 3;
    code.size = 16;
    CHECK(bytes_of(&code) == 8 * 3 * 8);
}

TEST_CASE("c: a newer header's options are accepted as long as what is unknown is 0") {
    NewerCode code{};
    code.known.size = sizeof(code);
    code.known.levels = 4;
    CHECK(bytes_of(&code.known) == 8 * 4 * 4);
    code.added[3] = std::uint64_t{1} << 63;
    CHECK_REFUSED(
        "weft_lattice_sizes: weft_lattice_code has members that are set and that this library does not know",
        weft_lattice_sizes(&code.known, 8, nullptr, nullptr));
}

TEST_CASE("c: structs of the first header work as they did") {
    on_device([](weft_backend* backend) {
        weft_kernel_options options;
        std::memset(&options, 0xff, sizeof(options));  // what an older program has after its struct
        std::memset(&options, 0, offsetof(weft_kernel_options, type));
        options.size = offsetof(weft_kernel_options, type);
        std::vector<float> x(4, 0.5f), k(4);
        CHECK_OK(weft_kernel_matrix(backend, nullptr, WEFT_FLOAT32, in(x), {}, WEFT_FLOAT32, out(k),
                                    {2, 0, 2, 0}, &options, nullptr));
        weft_estimate estimate;
        std::memset(&estimate, 0x5a, sizeof(estimate));
        estimate.size = offsetof(weft_estimate, held_bytes);
        CHECK_OK(
            weft_estimate_kernel_matrix(backend, nullptr, {2, 0, 2, 0}, WEFT_FLOAT32, &options, &estimate));
        CHECK(std::string(estimate.method) == "product");
        CHECK(estimate.held_bytes == 0x5a5a5a5a5a5a5a5a);
    });
    weft_field_info info;
    std::memset(&info, 0x5a, sizeof(info));
    info.size = offsetof(weft_field_info, generator);
    CHECK_OK(weft_field_describe(WEFT_GOLDILOCKS, &info));
    CHECK(info.modulus[0] == 0xffffffff00000001);
    CHECK(info.generator[0] == 0x5a5a5a5a5a5a5a5a);
}

TEST_CASE("c: zeros and NULL are the defaults; a size that was forgotten is found, and nothing else read") {
    weft_lattice_code code{};
    CHECK_REFUSED("weft_lattice_code.size is 0 (need sizeof(weft_lattice_code))",
                  weft_lattice_sizes(&code, 8, nullptr, nullptr));
    code.size = sizeof(code);
    CHECK(bytes_of(&code) == 8 * 2 * 4);
    CHECK(bytes_of(nullptr) == 8 * 2 * 4);
    // The last bytes of a page that nothing follows.
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const pages = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    REQUIRE(mprotect(static_cast<char*>(pages) + page, page, PROT_NONE) == 0);
    char* const end = static_cast<char*>(pages) + page;
    CHECK_REFUSED("weft_lattice_code.size is 0",
                  weft_lattice_sizes(reinterpret_cast<weft_lattice_code*>(end - 8), 8, nullptr, nullptr));
    munmap(pages, 2 * page);
    for (const std::uint32_t size : {1u, 3u, 4u, 12u, 55u, 4097u, 0xdeadbeefu}) {
        code.size = size;
        CHECK_REFUSED("weft_lattice_code.size is wrong (got", weft_lattice_sizes(&code, 8, nullptr, nullptr));
    }
}

TEST_CASE("c: a struct cannot end inside a member") {
    on_device([](weft_backend* backend) {
        std::vector<std::uint64_t> a(4, 1);
        weft_batch_options batch{};
        batch.size = sizeof(batch);
        weft_field_options options{};
        options.batch = &batch;
        // In the middle of the pointer to the batch, and between words that only together have its alignment.
        for (const std::uint32_t size : {28u, 20u, 4u}) {
            options.size = size;
            CHECK_REFUSED("weft_field_options.size is wrong",
                          weft_field_apply(backend, WEFT_GOLDILOCKS, WEFT_FIELD_NEG, in(a), {}, {}, out(a),
                                           &options, nullptr));
        }
        weft_kernel_circuit circuit{};
        std::vector<float> x(2), k(1);
        circuit.weights = in(x);
        circuit.weights_type = WEFT_FLOAT32;
        circuit.size = offsetof(weft_kernel_circuit, weights) + 8;  // the address without the bytes
        CHECK_REFUSED("weft_kernel_circuit.size is wrong",
                      weft_kernel_matrix(backend, &circuit, WEFT_FLOAT32, in(x), {}, WEFT_FLOAT32, out(k),
                                         {1, 0, 2, 0}, nullptr, nullptr));
        weft_report report{};
        report.size = offsetof(weft_report, op) + 8;
        CHECK_REFUSED("weft_report.size is wrong", weft_field_apply(backend, WEFT_GOLDILOCKS, WEFT_FIELD_NEG,
                                                                    in(a), {}, {}, out(a), nullptr, &report));
    });
}

TEST_CASE("c: sizes of lattice codes are checked as their calls do") {
    weft_lattice_code code{};
    code.size = sizeof(code);
    std::uint64_t bytes = 77, statuses = 77;
    const auto refused = [&](const char* part, std::uint64_t vectors) {
        CHECK_REFUSED(part, weft_lattice_sizes(&code, vectors, &bytes, &statuses));
        CHECK(bytes == 77);
        CHECK(statuses == 77);
    };
    for (const std::uint32_t q : {1u, 2u, 17u, UINT32_MAX})
        code.q = q, refused("weft_lattice_sizes: weft_lattice_code.q is out of range", 8);
    code.q = 0;
    for (const std::uint32_t levels : {5u, UINT32_MAX})
        code.levels = levels, refused("weft_lattice_code.levels is out of range", 8);
    code.levels = 0;
    refused("too many vectors", UINT64_MAX);
    CHECK_OK(weft_lattice_sizes(&code, 8, &bytes, &statuses));
    CHECK(statuses == 8);
}

TEST_CASE("c: reports fill as much as the program's header knows") {
    struct {
        weft_field_info known;
        std::uint64_t added[2], guard;
    } info;
    std::memset(&info, 0x5a, sizeof(info));
    info.known.size = 16;  // up to limb_bytes
    CHECK_OK(weft_field_describe(WEFT_GOLDILOCKS, &info.known));
    CHECK(info.known.size == 16);
    CHECK(info.known.bits == 64);
    CHECK(info.known.limbs == 1);
    CHECK(info.known.limb_bytes == 8);
    CHECK(info.known.element_bytes == 0x5a5a5a5a);
    info.known.size = sizeof(info.known) + sizeof(info.added);
    CHECK_OK(weft_field_describe(WEFT_BLS12_381_FP, &info.known));
    CHECK(info.known.limbs == 6);
    CHECK(std::string(info.known.name) == "bls12-381-fp");
    CHECK(info.known.modulus[0] == 0xb9feffffffffaaab);
    CHECK(info.added[0] == 0);
    CHECK(info.added[1] == 0);
    CHECK(info.guard == 0x5a5a5a5a5a5a5a5a);
    info.known.size = 0;
    CHECK_REFUSED("weft_field_info.size is 0 (need sizeof(weft_field_info))",
                  weft_field_describe(0, &info.known));
}

TEST_CASE("c: a report that cannot be written is found before the work") {
    on_device([](weft_backend* backend) {
        std::vector<std::uint64_t> a(4, 1), sum(4, 77);
        weft_report report{};
        for (const std::uint32_t size : {0u, 2u, 100000u}) {
            report.size = size;
            CHECK_REFUSED("weft_report.size", weft_field_apply(backend, WEFT_GOLDILOCKS, WEFT_FIELD_ADD,
                                                               in(a), in(a), {}, out(sum), nullptr, &report));
        }
        CHECK(sum == std::vector<std::uint64_t>(4, 77));
        report.size = 32;  // up to items
        report.jobs = 99;
        CHECK_OK(weft_field_apply(backend, WEFT_GOLDILOCKS, WEFT_FIELD_ADD, in(a), in(a), {}, out(sum),
                                  nullptr, &report));
        CHECK(sum == std::vector<std::uint64_t>(4, 2));
        CHECK(report.items == 4);
        CHECK(report.jobs == 99);
    });
}

TEST_CASE("c: options that a call would ignore are refused") {
    on_device([](weft_backend* backend) {
        std::vector<std::uint64_t> a(4, 1);
        weft_field_options options{};
        options.size = sizeof(options);
        options.workgroup_size = 64;
        CHECK_REFUSED("weft_field_options.workgroup_size applies to streams and programs alone",
                      weft_field_apply(backend, WEFT_GOLDILOCKS, WEFT_FIELD_NEG, in(a), {}, {}, out(a),
                                       &options, nullptr));
        options.workgroup_size = 0;
        options.check_values = 1;
        Program program;
        CHECK_REFUSED("weft_field_options.check_values applies to host memory alone",
                      weft_field_program(backend, WEFT_GOLDILOCKS, WEFT_FIELD_NEG, &options, &program));
        weft_lattice_options lattice{};
        lattice.size = sizeof(lattice);
        lattice.depth = 1;
        std::vector<float> x(4);
        std::vector<std::uint8_t> codes(8);
        CHECK_REFUSED("weft_lattice_options.depth applies to decoding alone",
                      weft_lattice_encode(backend, nullptr, in(x), out(codes), {}, &lattice, nullptr));
    });
}
