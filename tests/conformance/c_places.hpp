// SPDX-License-Identifier: Apache-2.0
// The places of the C API: what a table passes in C++ goes through <weft/weft.h> and libweft.so.0, and what
// comes back becomes C++ again, so that the same tables and the same expectations hold.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <weft/weft.h>
#include <weft/weft.hpp>

namespace weft_test {

/// A part of an error's text as the C API has it, which names functions and members of its own.
inline std::string part_in_c(std::string text) {
    constexpr std::pair<const char*, const char*> kNames[] = {
        {"FieldShader::limbs64", "WEFT_SHADER_LIMBS64"},
        {"KernelMatrixOptions::", "weft_kernel_options."},
        {"LatticeCode::", "weft_lattice_code."},
    };
    if (text.starts_with("field_")) text.erase(0, text.find(": ") + 2);
    for (const auto& [of_cpp, of_c] : kNames)
        if (const std::size_t at = text.find(of_cpp); at != std::string::npos)
            text.replace(at, std::string(of_cpp).size(), of_c);
    return text;
}

/// Throws what a status stands for, as the C++ API would.
inline void raise_unless_ok(weft_status status) {
    if (status == WEFT_OK) return;
    CHECK(std::string(weft_last_error()).starts_with("weft_"));
    std::vector<weft_failure> failures(weft_last_failures(nullptr, 0));
    weft_last_failures(failures.data(), failures.size());
    if (failures.empty())
        throw weft::Error(static_cast<weft::Errc>(status - 1), weft_last_error(), weft_last_native_code());
    std::vector<weft::EncodeFailure> all;
    for (const weft_failure& f : failures)
        all.push_back({f.sample, f.position, static_cast<weft::EncodeFault>(f.fault), f.job});
    throw weft::EncodeError(weft_last_error(), all);
}

/// One backend for all cases, because a software device takes longer to compile the shaders than to run them.
inline weft_backend* c_backend() {
    static const std::shared_ptr<weft_backend> shared = [] {
        weft_backend* made = nullptr;
        raise_unless_ok(weft_backend_create(nullptr, &made));
        return std::shared_ptr<weft_backend>(made, weft_backend_release);
    }();
    return shared.get();
}

inline weft_type c_type(weft::ElementType type) {
    if (type == weft::kFloat32) return WEFT_FLOAT32;
    if (type == weft::kFloat64) return WEFT_FLOAT64;
    if (type == weft::kComplex64) return WEFT_COMPLEX64;
    if (type == weft::kComplex128) return WEFT_COMPLEX128;
    return type == weft::kInt64 ? WEFT_INT64 : 0;
}

/// A part of a buffer, with the type of its elements, which only some calls need.
struct CView {
    weft_view view{};
    weft::ElementType type{};
};
template <class T>
struct CArray {
    std::shared_ptr<weft_buffer> buffer;
    std::size_t count = 0;

    CView part(std::size_t first, std::size_t elements) const {
        return {{buffer.get(), first * sizeof(T), elements * sizeof(T)}, weft::element_type<T>()};
    }
};

class CResident {
  public:
    static constexpr bool kHost = false, kCuda = false, kC = true;
    using In = CView;
    using Out = CView;

    CResident() {
        weft_stream* made = nullptr;
        raise_unless_ok(weft_stream_create(c_backend(), nullptr, &made));
        stream_.reset(made, weft_stream_release);
    }
    static const char* name() { return "C, resident"; }
    static std::string text(const char* of_cpp) { return part_in_c(of_cpp); }
    weft_stream* stream() { return stream_.get(); }

    template <class T>
    CArray<T> input(const std::vector<T>& values) {
        weft_buffer* made = nullptr;
        const std::size_t bytes = std::max<std::size_t>(values.size(), 1) * sizeof(T);
        raise_unless_ok(weft_buffer_create(c_backend(), WEFT_DEVICE_MEMORY, bytes, nullptr, &made));
        const CArray<T> array{{made, weft_buffer_release}, values.size()};
        if (!values.empty())
            raise_unless_ok(weft_stream_upload(stream(), {values.data(), values.size() * sizeof(T)},
                                               array.part(0, values.size()).view));
        return array;
    }
    template <class T>
    Output<CArray<T>> output(std::size_t count) {
        return {input(guarded<T>(count)), count};
    }
    template <class T>
    CView read(const CArray<T>& input, std::size_t count, std::size_t first = 0) {
        return input.part(first, count);
    }
    template <class T>
    CView write(const CArray<T>& input, std::size_t count, std::size_t first = 0) {
        return input.part(first, count);
    }
    template <class T>
    CView write(const Output<CArray<T>>& output) {
        return output.all.part(0, output.count);
    }
    template <class T>
    std::vector<T> result(const Output<CArray<T>>& output) {
        return without_guard(values(output.all));
    }
    template <class T>
    std::vector<T> values(const CArray<T>& input) {
        std::vector<T> all(input.count);
        raise_unless_ok(weft_stream_download(stream(), input.part(0, input.count).view,
                                             {all.data(), all.size() * sizeof(T)}));
        return all;
    }

  private:
    std::shared_ptr<weft_stream> stream_;
};

class CStreamed : public HostMemory {
  public:
    static constexpr bool kCuda = false, kC = true;
    CStreamed(const char* name, weft::BatchOptions batch) : name_(name), batch_(std::move(batch)) {}
    const char* name() const { return name_; }
    static std::string text(const char* of_cpp) { return part_in_c(of_cpp); }
    const weft::BatchOptions& batch() const { return batch_; }

  private:
    const char* name_;
    weft::BatchOptions batch_;
};

/// BatchOptions as the C API has them; the C++ ones must live as long.
struct CBatch {
    explicit CBatch(const weft::BatchOptions& all) {
        options.size = sizeof(options);
        options.mode = all.mode == weft::BatchMode::pipelined ? WEFT_PIPELINED : WEFT_SEQUENTIAL;
        options.path = static_cast<weft_path>(all.path);
        options.queues = static_cast<weft_queue_mode>(all.queues);
        options.chunk_elements = all.chunk_elements;
        options.ring_slots = all.ring_slots;
        options.stage_times = static_cast<weft_choice>(all.stage_times);
        if (!all.progress) return;
        options.progress = [](void* user, const weft_progress* now) {
            (*static_cast<const weft::ProgressCallback*>(user))({now->done, now->total, now->elapsed_s});
            return 0;
        };
        options.user = const_cast<weft::ProgressCallback*>(&all.progress);
    }
    weft_batch_options options{};
};

/// Calls call(report), which returns a status, and returns the report.
template <class Call>
weft::OpReport c_report(Call&& call) {
    weft_report report{};
    report.size = sizeof(report);
    raise_unless_ok(call(&report));
    weft::OpReport all;
    all.op = report.op;
    all.method = report.method;
    all.items = report.items;
    all.jobs = report.jobs;
    all.elements = report.elements;
    all.chunks = report.chunks;
    all.bytes_in = report.bytes_in;
    all.bytes_out = report.bytes_out;
    all.wall_s = report.wall_s;
    all.retried = report.retried;
    all.unresolved = report.unresolved;
    return all;
}

inline weft_const_span c_span(const weft::ConstHostArray& array) {
    return {array.data, array.bytes()};
}
inline weft_span c_span(const weft::HostArray& array) {
    return {array.data, array.bytes()};
}
template <class T>
weft_const_span c_span(std::span<const T> span) {
    return {span.data(), span.size_bytes()};
}
template <class T>
weft_span c_span(std::span<T> span) {
    return {span.data(), span.size_bytes()};
}

}  // namespace weft_test
