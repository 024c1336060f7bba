// SPDX-License-Identifier: Apache-2.0
#include "glsl/library_identity.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstring>

#include "base/bytes.hpp"

namespace weft::glsl {

namespace {

struct Query {
    std::uintptr_t base = 0;
    std::string build_id;
};

/// Notes are headers of three words, each followed by a name and a description, both padded to words.
std::string build_id_in(const char* at, std::size_t left) {
    const auto padded = [](std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; };
    while (left >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        std::memcpy(&note, at, sizeof note);
        const std::size_t bytes = sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
        if (bytes > left) break;
        const char* name = at + sizeof note;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
            const auto* id = reinterpret_cast<const std::uint8_t*>(name + padded(note.n_namesz));
            return core::hex({id, note.n_descsz});
        }
        at += bytes;
        left -= bytes;
    }
    return {};
}

int visit(dl_phdr_info* info, std::size_t, void* argument) {
    auto& query = *static_cast<Query*>(argument);
    if (info->dlpi_addr != query.base) return 0;
    for (int i = 0; i < info->dlpi_phnum && query.build_id.empty(); ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        if (part.p_type == PT_NOTE)
            query.build_id =
                build_id_in(reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr), part.p_memsz);
    }
    return 1;
}

}  // namespace

std::string shared_library_identity(const void* address) {
    Dl_info there{}, here{};
    if (dladdr(address, &there) == 0) return {};
    if (dladdr(reinterpret_cast<const void*>(&shared_library_identity), &here) != 0 &&
        here.dli_fbase == there.dli_fbase)
        return {};
    Query query{reinterpret_cast<std::uintptr_t>(there.dli_fbase), {}};
    dl_iterate_phdr(visit, &query);
    struct stat status {};
    if (query.build_id.empty() && there.dli_fname != nullptr && ::stat(there.dli_fname, &status) == 0)
        return std::to_string(status.st_size) + "-" + std::to_string(status.st_mtime);
    return query.build_id;
}

}  // namespace weft::glsl
