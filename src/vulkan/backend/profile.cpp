// SPDX-License-Identifier: Apache-2.0
#include <weft/profile.hpp>

#include <utility>

#include <weft/error.hpp>

#include "trace/profile_report.hpp"
#include "trace/trace_file.hpp"
#include "vulkan/engine/backend_state.hpp"

namespace weft {

struct Profile::Impl {
    Impl(std::shared_ptr<core::Context> c, std::uint64_t max_events)
        : context(std::move(c)), sink(context->add_listener(max_events)) {}
    ~Impl() {
        // In a forked child the lock may be locked forever, because the thread that held it does not exist
        // there.
        if (!context->device.beyond_use()) context->trace.close(sink);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    std::shared_ptr<core::Context> context;
    std::shared_ptr<core::TraceSink> sink;
};

Profile::Profile(Backend& backend, const ProfileOptions& options) {
    if (options.max_events == 0)
        throw Error(Errc::invalid_argument, "Profile: max_events is out of range (got 0, need at least 1)");
    impl_ = std::make_unique<Impl>(detail::Access::backend_state(backend)->context(), options.max_events);
}

Profile::Profile(Profile&&) noexcept = default;
Profile& Profile::operator=(Profile&&) noexcept = default;
Profile::~Profile() = default;

Profile::Impl& Profile::impl() const {
    if (!impl_) throw Error(Errc::invalid_argument, "Profile: used after it was moved from");
    impl_->context->device.require_own_process("Profile");
    return *impl_;
}

ProfileReport Profile::report() const {
    return core::summarise(impl().context->snapshot_trace(*impl().sink));
}

void Profile::write_trace(const std::filesystem::path& path) const {
    if (path.empty())
        throw Error(Errc::invalid_argument, "Profile::write_trace: no file (got an empty path, need one)");
    int error = 0;
    const std::string failure =
        core::write_trace_file(impl().context->snapshot_trace(*impl().sink), path, &error);
    if (!failure.empty()) throw Error(Errc::io, "Profile::write_trace: " + failure, error);
}

}  // namespace weft
