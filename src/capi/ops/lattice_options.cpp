// SPDX-License-Identifier: Apache-2.0
#include "capi/ops/lattice_options.hpp"

#include "capi/batch_options.hpp"
#include "capi/structs.hpp"

namespace weft::capi {

namespace {

weft_lattice_options read(const char* function, const weft_lattice_options* options, bool decodes,
                          bool host) {
    const weft_lattice_options all = read_options(function, "weft_lattice_options", options);
    const std::string begin = std::string(function) + ": weft_lattice_options.";
    if (!decodes && all.depth != 0) refuse(begin + "depth applies to decoding alone");
    if (!host && all.check_values != 0) refuse(begin + "check_values applies to host memory alone");
    if (!host && all.batch != nullptr) refuse(begin + "batch applies to host memory alone");
    return all;
}

bool check_values(const char* function, const weft_lattice_options& all) {
    return flag_of(function, "weft_lattice_options.check_values", all.check_values);
}

}  // namespace

Lattice lattice_of(const char* function, const char* name, weft_lattice lattice) {
    static constexpr Lattice kLattices[] = {Lattice::d4, Lattice::z2, Lattice::e8};
    return enum_of(function, name, lattice, kLattices);
}

LatticeCode code_of(const char* function, const weft_lattice_code* code) {
    const weft_lattice_code all = read_options(function, "weft_lattice_code", code);
    LatticeCode made;
    made.lattice = lattice_of(function, "weft_lattice_code.lattice", all.lattice);
    if (all.q != 0) made.q = all.q;
    if (all.levels != 0) made.levels = all.levels;
    if (all.beta != 0) made.beta = all.beta;
    if (all.alpha != 0) made.alpha = all.alpha;
    made.max_retries = all.max_retries;
    made.packed = flag_of(function, "weft_lattice_code.packed", all.packed);
    if (flag_of(function, "weft_lattice_code.dither", all.dither))
        made.dither_seed = all.dither_seed;
    else if (all.dither_seed != 0)
        refuse(std::string(function) + ": weft_lattice_code.dither_seed does not apply without dither (got " +
               std::to_string(all.dither_seed) + ", need 0)");
    made.dither_first = all.dither_first;
    return made;
}

LatticeHostOptions lattice_host_options(const char* function, const weft_lattice_options* options) {
    const weft_lattice_options all = read(function, options, false, true);
    return {.width = static_cast<std::size_t>(all.width),
            .check_values = check_values(function, all),
            .batch = batch_options(function, all.batch)};
}

LatticeDecodeHostOptions lattice_decode_host_options(const char* function,
                                                     const weft_lattice_options* options) {
    const weft_lattice_options all = read(function, options, true, true);
    return {.width = static_cast<std::size_t>(all.width),
            .depth = all.depth,
            .check_values = check_values(function, all),
            .batch = batch_options(function, all.batch)};
}

LatticeOptions lattice_options(const char* function, const weft_lattice_options* options) {
    return {.width = static_cast<std::size_t>(read(function, options, false, false).width)};
}

LatticeDecodeOptions lattice_decode_options(const char* function, const weft_lattice_options* options) {
    const weft_lattice_options all = read(function, options, true, false);
    return {.width = static_cast<std::size_t>(all.width), .depth = all.depth};
}

}  // namespace weft::capi
