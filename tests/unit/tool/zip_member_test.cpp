// SPDX-License-Identifier: Apache-2.0
// Archives made byte by byte; those that Python's zipfile writes are in tests/tool/inputs_test.py.
#include <zlib.h>

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "arrays/zip_member.hpp"
#include "cli/failure.hpp"

using namespace weft::tool;

namespace {

std::string bytes_of(std::uint64_t value, std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size && i < sizeof value; ++i)
        text[i] = static_cast<char>(value >> (8 * i) & 0xff);
    return text;
}

/// One stored member. `wide`: its numbers stand in 64 bits, as of archives of more than 4 GiB.
struct Builder {
    std::string name = "x.npy", data = "0123456789";
    bool wide = false;
    unsigned flags = 0, method = 0;
    std::uint64_t size = 10, packed = 10, place = 0, count = 1, directory_shift = 0;

    std::string entry() const {
        const std::uint64_t none = 0xffffffff;
        const auto checksum =
            crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
        const std::string extra = wide ? bytes_of(0x7777, 2) + bytes_of(3, 2) + "abc" + bytes_of(1, 2) +
                                             bytes_of(24, 2) + bytes_of(size, 8) + bytes_of(packed, 8) +
                                             bytes_of(place, 8)
                                       : "";
        return "PK\1\2" + bytes_of(0, 4) + bytes_of(flags, 2) + bytes_of(method, 2) + bytes_of(0, 4) +
               bytes_of(checksum, 4) + bytes_of(wide ? none : packed, 4) + bytes_of(wide ? none : size, 4) +
               bytes_of(name.size(), 2) + bytes_of(extra.size(), 2) + bytes_of(0, 10) +
               bytes_of(wide ? none : place, 4) + name + extra;
    }
    std::string archive() const {
        std::string all =
            "PK\3\4" + bytes_of(0, 22) + bytes_of(name.size(), 2) + bytes_of(4, 2) + name + "more" + data;
        const std::uint64_t directory = all.size() + directory_shift;
        all += entry();
        const std::uint64_t end = all.size();
        if (wide)
            all += "PK\6\6" + bytes_of(44, 8) + bytes_of(0, 12) + bytes_of(count, 8) + bytes_of(count, 8) +
                   bytes_of(0, 8) + bytes_of(directory, 8) + "PK\6\7" + bytes_of(0, 4) + bytes_of(end, 8) +
                   bytes_of(1, 4);
        return all + "PK\5\6" + bytes_of(0, 4) + bytes_of(wide ? 0xffff : count, 2) +
               bytes_of(wide ? 0xffff : count, 2) + bytes_of(0, 4) +
               bytes_of(wide ? 0xffffffff : directory, 4) + bytes_of(0, 2);
    }
};

std::string read(const std::string& archive, const std::string& name = "") {
    const ZipMember member = read_member(std::as_bytes(std::span(archive)), name, "f.npz");
    return {reinterpret_cast<const char*>(member.bytes().data()), member.bytes().size()};
}

std::string refusal(const std::string& archive) {
    try {
        read(archive);
    } catch (const Failure& failure) {
        CHECK(failure.exit() == Exit::usage);
        return failure.what();
    }
    return {};
}

}  // namespace

TEST_CASE("zip member: numbers of 32 and of 64 bits") {
    for (const bool wide : {false, true}) {
        const Builder builder{.wide = wide};
        CHECK(read(builder.archive()) == "0123456789");
        CHECK(read(builder.archive(), "x") == "0123456789");
        CHECK(read(builder.archive(), "x.npy") == "0123456789");
        CHECK(is_zip(builder.archive()));
    }
}

TEST_CASE("zip member: numbers that lead out of the archive are damage, whatever they add up to") {
    const std::uint64_t most = ~std::uint64_t{0};
    for (const bool wide : {false, true})
        for (const std::uint64_t value :
             {std::uint64_t{11}, std::uint64_t{0x7fffffff}, most, most - 40, most / 2}) {
            if (!wide && value > 0x7fffffff) continue;
            CAPTURE(value);
            CHECK(refusal(Builder{.wide = wide, .place = value}.archive()).find("damaged .npz") !=
                  std::string::npos);
            CHECK(refusal(Builder{.wide = wide, .packed = value}.archive()).find("damaged .npz") !=
                  std::string::npos);
            CHECK(refusal(Builder{.wide = wide, .method = 8, .size = value}.archive()).find("damaged .npz") !=
                  std::string::npos);
            CHECK(refusal(Builder{.wide = wide, .size = value, .packed = value}.archive())
                      .find("damaged .npz") != std::string::npos);
            CHECK(refusal(Builder{.wide = wide, .directory_shift = value}.archive()).find("damaged .npz") !=
                  std::string::npos);
        }
    CHECK(refusal(Builder{.count = 2}.archive()).find("damaged .npz") != std::string::npos);
    CHECK(refusal(Builder{.wide = true, .count = most}.archive()).find("damaged .npz") != std::string::npos);
}

TEST_CASE("zip member: what is not read is named") {
    CHECK(refusal(Builder{.flags = 1}.archive()) == "f.npz: x.npy is encrypted");
    CHECK(refusal(Builder{.method = 12}.archive()).find("(got 12, need 0 or 8") != std::string::npos);
    std::string changed = Builder{}.archive();
    changed[changed.find("0123")] = 'x';
    CHECK(refusal(changed).find("a checksum differs") != std::string::npos);
    CHECK(refusal(Builder{.count = 0}.archive()) == "f.npz: no arrays in the .npz file");
}
