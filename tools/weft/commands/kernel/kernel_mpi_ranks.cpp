// SPDX-License-Identifier: Apache-2.0
#include "commands/kernel/kernel_mpi_ranks.hpp"

#include <cstdio>
#include <string>

namespace weft::tool {
namespace {

/// MPI from its start to its end.
class Session {
  public:
    Session() {
        int provided = 0;
        // Several devices of a rank write from their threads, one at a time.
        if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
            throw Failure(Exit::failed, "--mpi: MPI does not start");
    }
    ~Session() { MPI_Finalize(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
};

/// Ends a rank. Another rank has said already what is wrong with it.
[[noreturn]] void end(const mpi::Ranks& ranks, Exit exit, const std::string& text) {
    if (ranks.lost()) {
        std::fprintf(stderr, "weft: rank %d: %s\n", ranks.rank(), text.c_str());
        MPI_Abort(MPI_COMM_WORLD, static_cast<int>(exit));
    }
    const bool of_another = text.starts_with("rank ");
    throw Failure(exit, of_another ? "" : "rank " + std::to_string(ranks.rank()) + ": " + text);
}

}  // namespace

void over_ranks(const std::function<void(mpi::Ranks& ranks)>& work) {
    const Session session;
    mpi::Ranks ranks;
    try {
        work(ranks);
    } catch (const Failure& failure) {
        end(ranks, failure.exit(), failure.what());
    } catch (const Error& error) {
        end(ranks, exit_of(error), error.what());
    }
}

void told(mpi::Ranks& ranks, const std::function<void()>& step) {
    ranks.together([&] {
        try {
            step();
        } catch (const Failure& failure) {
            const Errc code = failure.exit() == Exit::usage    ? Errc::invalid_argument
                              : failure.exit() == Exit::device ? Errc::no_device
                                                               : Errc::io;
            throw Error(code, failure.what());
        }
    });
}

RankTarget::RankTarget(const mpi::Ranks& ranks, const DeviceOptions& options) {
    const std::vector<Config> configs = ranks.configs(options.config());
    if (configs.size() == 1)
        one_.emplace(open_backend(configs[0]));
    else
        several_.emplace(configs);
}

mpi::RankDevices RankTarget::devices() {
    if (several_) return *several_;
    return *one_;
}

}  // namespace weft::tool
