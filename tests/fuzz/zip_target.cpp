// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a .npz file, and as the member of one, of which a byte is changed.
#include <zlib.h>

#include <string>
#include <vector>

#include "arrays/zip_member.hpp"
#include "cli/failure.hpp"
#include "fuzz/target.hpp"

using namespace weft_fuzz;
using weft::tool::ZipMember;

namespace {

std::string number(std::uint64_t value, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
}

std::string deflated(std::string_view data) {
    z_stream stream{};
    std::string packed(compressBound(data.size()) + 16, '\0');
    require(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib works");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib works");
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

/// An archive of one member "a.npy" that holds `data`.
std::string archive_of(std::string_view data, bool packed) {
    const std::string stored = packed ? deflated(data) : std::string(data), name = "a.npy";
    const auto checksum =
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
    const std::string facts = number(20, 2) + number(0, 2) + number(packed ? 8 : 0, 2) + number(0, 4) +
                              number(checksum, 4) + number(stored.size(), 4) + number(data.size(), 4) +
                              number(name.size(), 2) + number(0, 2);
    std::string all = "PK\3\4" + facts + name + stored;
    const std::size_t directory = all.size();
    all += "PK\1\2" + number(20, 2) + facts + number(0, 8) + number(0, 2) + number(0, 4) + name;
    const std::size_t length = all.size() - directory;
    return all + "PK\5\6" + number(0, 4) + number(1, 2) + number(1, 2) + number(length, 4) +
           number(directory, 4) + number(0, 2);
}

/// The member's bytes, or "refused".
std::string read(std::string_view archive, const std::string& name) {
    try {
        const ZipMember member = weft::tool::read_member(bytes_of(archive), name, "f.npz");
        require(member.bytes().size() <= archive.size() * 1032, "a member is no larger than it can be");
        return {reinterpret_cast<const char*>(member.bytes().data()), member.bytes().size()};
    } catch (const weft::tool::Failure& failure) {
        require(failure.exit() == weft::tool::Exit::usage, failure.what());
        return "refused";
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input = text_of(data, size);
    read(input, "");
    read(input, "a");
    Choices choices(data, size);
    const bool packed = choices.yes();
    const std::size_t at = choices.of(256) + 256 * choices.of(256);
    const char change = static_cast<char>(choices.of(256));
    const std::string_view content = choices.rest();
    if (packed && content.empty()) return 0;  // NumPy writes no member without a header
    std::string archive = archive_of(content, packed);
    require(read(archive, "a") == content, "a member is read");
    archive[at % archive.size()] = static_cast<char>(archive[at % archive.size()] ^ change);
    const std::string got = read(archive, "");
    require(got == "refused" || got == content, "a changed byte is noticed, or the member is the same");
    return 0;
}
