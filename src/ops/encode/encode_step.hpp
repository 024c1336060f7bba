// SPDX-License-Identifier: Apache-2.0
// The steps of an encode. Apart from encode_schedule.hpp, because sources of CUDA kernels need no more than
// this.
#pragma once

namespace weft::kernels {

enum class EncodeStep {
    states,      ///< reads values, writes states and status
    norm_block,  ///< reads values, writes norms of blocks
    norm_row,    ///< norms of blocks to norms of rows and status
    scale,       ///< values and norms of rows to states
    pass,        ///< iqp: transforms `bits` bits of the index of states, in place
    join,        ///< iqp: transforms bit `bits` of the index, by which windows of a state differ
};

}  // namespace weft::kernels
