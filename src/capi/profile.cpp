// SPDX-License-Identifier: Apache-2.0
// Of <weft/weft.h>: profiles and traces.
#include <weft/profile.hpp>

#include "capi/handle.hpp"
#include "capi/structs.hpp"

using namespace weft::capi;

weft_status weft_profile_create(weft_backend* backend, uint64_t max_events, weft_profile** profile) {
    constexpr const char* kName = "weft_profile_create";
    const Uses uses(backend);
    return guarded(kName, [&] {
        given(kName, "profile", profile);
        *profile = nullptr;
        weft::ProfileOptions options;
        if (max_events != 0) options.max_events = max_events;
        *profile = new weft_profile(one_device(kName, backend), options);
    });
}

WEFT_DEFINE_HANDLE(weft_profile)

namespace {

/// The report of a profile that belongs to this thread for the moment.
weft::ProfileReport report_of(const char* function, weft_profile* profile) {
    weft_profile& handle = given(function, "profile", profile);
    const Owner::Use use(handle.owner, function);
    return handle.object.report();
}

}  // namespace

weft_status weft_profile_describe(weft_profile* profile, weft_profile_report* report) {
    constexpr const char* kName = "weft_profile_describe";
    const Uses uses(profile);
    return guarded(kName, [&] {
        const weft::ProfileReport now = report_of(kName, profile);
        weft_profile_report all{};
        all.wall_s = now.wall_s;
        all.busy_s = now.busy_s;
        all.device_s = now.device_s;
        for (std::size_t stage = 0; stage < weft::kStages; ++stage)
            all.stage_s[stage] = now.stage(static_cast<weft::Stage>(stage)).busy_s;
        all.overlap = now.overlap;
        all.copy_hidden = now.copy_hidden;
        all.host_copy_hidden = now.host_copy_hidden;
        all.idle = now.idle();
        all.dropped_events = now.dropped_events;
        write_report(kName, "weft_profile_report", all, report);
    });
}

weft_status weft_profile_print(weft_profile* profile, weft_profile_format format, weft_text** text) {
    constexpr const char* kName = "weft_profile_print";
    const Uses uses(profile);
    return create(kName, text, [&] {
        enum_of<std::uint32_t>(kName, "format", format, WEFT_PROFILE_CSV + 1);
        const weft::ProfileReport now = report_of(kName, profile);
        return format == WEFT_PROFILE_TABLE  ? now.to_table()
               : format == WEFT_PROFILE_JSON ? now.to_json()
                                             : now.to_csv();
    });
}

weft_status weft_profile_write_trace(weft_profile* profile, const char* path) {
    constexpr const char* kName = "weft_profile_write_trace";
    const Uses uses(profile);
    return guarded(kName, [&] {
        weft_profile& handle = given(kName, "profile", profile);
        const Owner::Use use(handle.owner, kName);
        handle.object.write_trace(&given(kName, "path", path));
    });
}
