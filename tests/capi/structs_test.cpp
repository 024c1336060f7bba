// SPDX-License-Identifier: Apache-2.0
// Programs with an older or a newer header: structs of another size.
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

TEST_CASE("c: zeros and NULL are the defaults; a size that was forgotten is found") {
    weft_lattice_code code{};
    CHECK(bytes_of(&code) == 8 * 2 * 4);
    CHECK(bytes_of(nullptr) == 8 * 2 * 4);
    code.levels = 3;
    CHECK_REFUSED("weft_lattice_code.size is 0, and other members are not",
                  weft_lattice_sizes(&code, 8, nullptr, nullptr));
    for (const std::uint32_t size : {1u, 3u, 55u, 4097u, 0xdeadbeefu}) {
        code.size = size;
        CHECK_REFUSED("weft_lattice_code.size is wrong (got", weft_lattice_sizes(&code, 8, nullptr, nullptr));
    }
}

TEST_CASE("c: reports fill as much as the program's header knows") {
    struct {
        weft_field_info known;
        std::uint64_t added[2], guard;
    } info;
    std::memset(&info, 0x5a, sizeof(info));
    info.known.size = 12;  // size, bits, limbs
    CHECK_OK(weft_field_describe(WEFT_GOLDILOCKS, &info.known));
    CHECK(info.known.size == 12);
    CHECK(info.known.bits == 64);
    CHECK(info.known.limbs == 1);
    CHECK(info.known.limb_bytes == 0x5a5a5a5a);
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
