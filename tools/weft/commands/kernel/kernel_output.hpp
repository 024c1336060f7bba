// SPDX-License-Identifier: Apache-2.0
// Where `weft kernel` writes K: a file that is made in one run, or with --resume a store that a later run
// continues.
#pragma once

#include <optional>
#include <string>

#include <weft/weft.hpp>

#include "arrays/npy.hpp"
#include "cli/print_json.hpp"
#include "commands/kernel/kernel_call.hpp"
#include "device/cuda_calls.hpp"

namespace weft::tool {

class KernelOutput {
  public:
    /// Errors: Failure with Exit::failed - the file cannot be written; as KernelMatrixStore.
    KernelOutput(const KernelArguments& arguments, const KernelCall& call);

    /// Errors: as KernelCall::run.
    OpReport make(KernelCall& call, Target& target);
    /// K, after make().
    HostArray values() const;
    /// K gets its name. Errors: Failure with Exit::failed; io.
    void commit();

    /// "3 of 12 tiles were there, 1 was damaged"; empty without --resume.
    std::string text() const;
    void add_to(Json& json) const;

  private:
    HostArray whole_;
    std::optional<NpyOutput> file_;
    std::optional<KernelMatrixStore> store_;
};

}  // namespace weft::tool
