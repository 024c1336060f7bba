// SPDX-License-Identifier: Apache-2.0
#include "arrays/zip_member.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cli/failure.hpp"

namespace weft::tool {
namespace {

constexpr std::uint32_t kInExtra = 0xffffffff;  // the 64-bit value is in the extra field

/// One entry of the archive's directory.
struct Entry {
    std::string name;
    unsigned flags = 0, method = 0;
    std::uint32_t checksum = 0;
    std::uint64_t packed = 0, size = 0, place = 0;
};

class Archive {
  public:
    Archive(std::span<const std::byte> bytes, const std::string& path) : bytes_(bytes), path_(path) {}

    std::vector<Entry> entries() const {
        const std::uint64_t end = find_end();
        std::uint64_t count = number(end + 10, 2), at = number(end + 16, 4);
        if (count == 0xffff || at == kInExtra) {
            const std::uint64_t wide = number(end < 20 ? bytes_.size() : end - 20 + 8, 8);
            require(number(wide, 4) == 0x06064b50, "no end of its directory");
            count = number(wide + 32, 8);
            at = number(wide + 48, 8);
        }
        std::vector<Entry> all;
        for (std::uint64_t i = 0; i < count; ++i) {
            require(number(at, 4) == 0x02014b50, "no entry where its directory should have one");
            all.push_back(entry(at));
            at += 46 + number(at + 28, 2) + number(at + 30, 2) + number(at + 32, 2);
        }
        return all;
    }

    std::span<const std::byte> packed_bytes(const Entry& e) const {
        require(number(e.place, 4) == 0x04034b50, "no member where its directory says");
        return part(e.place + 30 + number(e.place + 26, 2) + number(e.place + 28, 2), e.packed);
    }

    void require(bool good, const char* what) const {
        if (!good) throw Failure(Exit::usage, path_ + ": cannot be read: a damaged .npz file: " + what);
    }

  private:
    std::span<const std::byte> part(std::uint64_t at, std::uint64_t size) const {
        require(at <= bytes_.size() && size <= bytes_.size() - at, "it ends early");
        return bytes_.subspan(at, size);
    }
    std::uint64_t number(std::uint64_t at, std::size_t size) const {
        std::uint64_t value = 0;
        const std::span<const std::byte> digits = part(at, size);
        for (std::size_t i = size; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(digits[i]);
        return value;
    }
    // A comment of up to 65535 bytes may follow the end record.
    std::uint64_t find_end() const {
        constexpr std::uint64_t kRecord = 22, kComment = 65535;
        require(bytes_.size() >= kRecord, "it ends early");
        const std::uint64_t last = bytes_.size() - kRecord;
        for (std::uint64_t at = last;; --at) {
            // The comment itself may contain the signature.
            if (number(at, 4) == 0x06054b50 && last - at == number(at + 20, 2)) return at;
            require(at != 0 && last - at < kComment, "no end of its directory");
        }
    }
    Entry entry(std::uint64_t at) const {
        Entry e;
        const std::uint64_t name = number(at + 28, 2), extra = number(at + 30, 2);
        const std::span<const std::byte> letters = part(at + 46, name);
        e.name.assign(reinterpret_cast<const char*>(letters.data()), letters.size());
        e.flags = static_cast<unsigned>(number(at + 8, 2));
        e.method = static_cast<unsigned>(number(at + 10, 2));
        e.checksum = static_cast<std::uint32_t>(number(at + 16, 4));
        e.packed = number(at + 20, 4);
        e.size = number(at + 24, 4);
        e.place = number(at + 42, 4);
        read_extra(e, at + 46 + name, extra);
        return e;
    }
    // The extra field is a list of blocks (id, size, bytes). The block with id 1 holds, in order, those of
    // the three numbers that need 64 bits.
    void read_extra(Entry& e, std::uint64_t at, std::uint64_t size) const {
        for (const std::uint64_t end = at + size; at + 4 <= end; at += 4 + number(at + 2, 2)) {
            if (number(at, 2) != 1) continue;
            std::uint64_t place = at + 4;
            for (std::uint64_t* value : {&e.size, &e.packed, &e.place}) {
                if (*value != kInExtra) continue;
                *value = number(place, 8);
                place += 8;
            }
        }
    }

    std::span<const std::byte> bytes_;
    const std::string& path_;
};

std::string array_of(const std::string& name) {
    return name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
}

Entry find_entry(const std::vector<Entry>& all, const std::string& name, const std::string& path) {
    std::string names;
    for (const Entry& e : all) {
        if (name.empty() ? all.size() == 1 : e.name == name || array_of(e.name) == name) return e;
        names += (names.empty() ? "" : ", ") + array_of(e.name);
    }
    if (all.empty()) throw Failure(Exit::usage, path + ": no arrays in the .npz file");
    if (name.empty())
        throw Failure(Exit::usage, path + ": several arrays in the .npz file (got " + names +
                                       "); to take one: " + path + ":" + array_of(all.front().name));
    throw Failure(Exit::usage,
                  path + ": no such array in the .npz file (got " + name + ", need " + names + ")");
}

// zlib counts in 32 bits, so longer members are inflated in parts.
bool inflate_all(std::span<const std::byte> packed, std::span<std::byte> to) {
    constexpr std::size_t kPart = std::size_t{1} << 30;
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
    stream.next_out = reinterpret_cast<Bytef*>(to.data());
    std::size_t in = packed.size(), out = to.size();
    int state = Z_OK;
    while (state == Z_OK) {  // without progress, inflate returns Z_BUF_ERROR
        const std::size_t more_in = std::min(kPart, in) * (stream.avail_in == 0 ? 1 : 0);
        const std::size_t more_out = std::min(kPart, out) * (stream.avail_out == 0 ? 1 : 0);
        stream.avail_in += static_cast<uInt>(more_in);
        stream.avail_out += static_cast<uInt>(more_out);
        in -= more_in;
        out -= more_out;
        state = inflate(&stream, Z_NO_FLUSH);
    }
    const bool whole = state == Z_STREAM_END && out == 0 && stream.avail_out == 0;
    inflateEnd(&stream);
    return whole;
}

}  // namespace

bool is_zip(std::string_view beginning) {
    return beginning.starts_with("PK\3\4") || beginning.starts_with("PK\5\6");
}

ZipMember read_member(std::span<const std::byte> archive, const std::string& name, const std::string& path) {
    constexpr unsigned kEncrypted = 1, kStored = 0, kDeflated = 8;
    constexpr std::uint64_t kMostRatio = 1032;  // of deflate: 258 bytes for two bits
    const Archive zip(archive, path);
    const Entry e = find_entry(zip.entries(), name, path);
    if ((e.flags & kEncrypted) != 0) throw Failure(Exit::usage, path + ": " + e.name + " is encrypted");
    if (e.method != kStored && e.method != kDeflated)
        throw Failure(Exit::usage, path + ": " + e.name + " is packed by a method that is not read (got " +
                                       std::to_string(e.method) + ", need 0 or 8: stored or deflated)");
    ZipMember member{.name = array_of(e.name), .stored = zip.packed_bytes(e), .inflated = {}};
    if (e.method == kStored) {
        zip.require(e.size == e.packed, "a stored array has two sizes");
    } else {
        zip.require(e.size > 0 && e.size / kMostRatio <= e.packed, "an array is larger than it can be");
        member.inflated.resize(e.size);
        zip.require(inflate_all(member.stored, member.inflated), "an array cannot be inflated");
    }
    const auto* data = reinterpret_cast<const Bytef*>(member.bytes().data());
    zip.require(crc32_z(0, data, member.bytes().size()) == e.checksum, "a checksum differs");
    return member;
}

}  // namespace weft::tool
