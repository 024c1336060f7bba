// SPDX-License-Identifier: Apache-2.0
// weft profile lattice: encode, decode, and both in one pass.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cpu/cpu_lattice.hpp"
#include "cli/cuda_calls.hpp"
#include "report/report_kernel.hpp"

namespace weft::tool {
namespace {

enum Process : std::size_t { kEncode, kDecode, kCombined };

/// Where the device reads and writes, in host memory; statuses as the code has them.
struct LatticeSpans {
    std::span<const float> x;
    std::span<const std::uint8_t> wanted_codes, wanted_status;
    std::span<std::uint8_t> codes, status;
    std::span<float> y;
};

class LatticeWork : public ReportWork {
  public:
    LatticeWork(const ReportTargets& targets, const LatticeCode& code, std::uint64_t batch, unsigned threads)
        : ReportWork(threads),
          targets_(targets),
          code_(code),
          x_(batch * dimension(code.lattice)),
          decoded_(x_.size()),
          codes_(code_bytes(code, batch)),
          status_(batch) {
        fill_lattice(code, x_);
    }
    std::uint64_t bytes_in(std::size_t process) const override {
        return process == kDecode ? codes_.size() + status_.size() : x_.size() * sizeof(float);
    }
    std::uint64_t bytes_out(std::size_t process) const override {
        const std::uint64_t values = x_.size() * sizeof(float);
        return process == kEncode   ? codes_.size() + status_.size()
               : process == kDecode ? values
                                    : values + status_.size();
    }
    void run_cpu(std::size_t process) override {
        if (process == kEncode) cpu_lattice_encode(code_, x_, codes_, status_, threads_);
        if (process == kDecode) cpu_lattice_decode(code_, codes_, decoded_, threads_);
        if (process == kCombined) cpu_lattice_quantize(code_, x_, decoded_, status_, threads_);
    }
    void prepare(ReportPath path) override;
    void release() override {
        device_.reset();
        for (auto* array : {&locked_codes_in_, &locked_status_in_, &codes_out_, &status_out_}) array->clear();
        locked_x_.clear();
        y_.clear();
    }
    void run(std::size_t process) override {
        const LatticeSpans& s = spans_;
        Target& target = targets_.of(path_);
        if (process == kEncode) target.lattice_encode(code_, s.x, s.codes, s.status, {});
        if (process == kDecode) target.lattice_decode(code_, s.wanted_codes, s.wanted_status, s.y, {});
        if (process == kCombined) target.lattice_quantize(code_, s.x, s.y, s.status, {});
    }
    void record(std::size_t process, Stream& stream) override {
        Resident& r = *device_;
        if (process == kEncode) lattice_encode(stream, code_, r.x, r.codes, r.status);
        if (process == kDecode) lattice_decode(stream, code_, r.wanted_codes, r.wanted_status.view(), r.y);
        if (process == kCombined) lattice_quantize(stream, code_, r.x, r.y, r.status);
    }
    void verify(std::size_t process, Stream* stream) override;

  private:
    struct Resident {
        Buffer<float> x, y;
        Buffer<std::uint32_t> codes, status, wanted_codes, wanted_status;
        Resident(Backend& backend, const LatticeCode& code, std::size_t vectors)
            : x(backend, vectors * dimension(code.lattice)),
              y(backend, x.size()),
              codes(backend, code_words(code, vectors)),
              status(backend, status_words(vectors)),
              wanted_codes(backend, codes.size()),
              wanted_status(backend, status.size()) {}
    };
    void prepare_resident();

    ReportTargets targets_;
    LatticeCode code_;
    ReportPath path_ = ReportPath::cpu;
    std::vector<float> x_, decoded_;  // decoded_ and below: the CPU's results
    std::vector<std::uint8_t> codes_, status_;
    HostArray<float> locked_x_, y_;
    HostArray<std::uint8_t> locked_codes_in_, locked_status_in_, codes_out_, status_out_;
    LatticeSpans spans_;
    std::unique_ptr<Resident> device_;
};

/// Bytes as words, zeros behind them.
std::vector<std::uint32_t> words_of(std::span<const std::uint8_t> bytes, std::size_t words) {
    std::vector<std::uint32_t> out(words);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

void LatticeWork::prepare_resident() {
    device_ = std::make_unique<Resident>(*targets_.backend, code_, status_.size());
    Stream stream(*targets_.backend);
    stream.upload(x_, device_->x);
    stream.upload(words_of(codes_, device_->codes.size()), device_->wanted_codes);
    stream.upload(words_of(status_, device_->status.size()), device_->wanted_status);
    stream.wait();
}

void LatticeWork::prepare(ReportPath path) {
    path_ = path;
    if (path == ReportPath::resident) return prepare_resident();
    codes_out_.make(targets_.backend, codes_.size(), path);
    status_out_.make(targets_.backend, status_.size(), path);
    y_.make(targets_.backend, x_.size(), path);
    spans_ = {x_, codes_, status_, codes_out_.span(), status_out_.span(), y_.span()};
    if (path != ReportPath::page_locked) return;
    locked_x_.make(targets_.backend, x_.size(), path);
    locked_codes_in_.make(targets_.backend, codes_.size(), path);
    locked_status_in_.make(targets_.backend, status_.size(), path);
    std::copy(x_.begin(), x_.end(), locked_x_.span().begin());
    std::copy(codes_.begin(), codes_.end(), locked_codes_in_.span().begin());
    std::copy(status_.begin(), status_.end(), locked_status_in_.span().begin());
    spans_.x = locked_x_.span();
    spans_.wanted_codes = locked_codes_in_.span();
    spans_.wanted_status = locked_status_in_.span();
}

template <class T>
void require_same(const char* what, std::span<const T> got, std::span<const T> wanted,
                  std::size_t per_vector) {
    if (std::memcmp(wanted.data(), got.data(), wanted.size_bytes()) == 0) return;
    std::size_t at = 0;
    while (std::memcmp(&wanted[at], &got[at], sizeof(T)) == 0) ++at;
    throw WrongResult(std::string(what) + " differ from the CPU's near vector " +
                      std::to_string(at / per_vector));
}

void LatticeWork::verify(std::size_t process, Stream* stream) {
    LatticeSpans got = spans_;
    std::vector<std::uint32_t> codes, status;
    std::vector<float> y;
    if (device_) {
        const auto bytes = [](std::vector<std::uint32_t>& words) {
            return std::span(reinterpret_cast<std::uint8_t*>(words.data()), words.size() * 4);
        };
        codes = stream->download(device_->codes);
        status = stream->download(device_->status);
        y = stream->download(device_->y);
        got.codes = bytes(codes);
        got.status = bytes(status);
        got.y = y;
    }
    const std::size_t d = dimension(code_.lattice);
    const std::size_t code_size =
        std::max<std::size_t>(codes_.size() / std::max<std::size_t>(status_.size(), 1), 1);
    if (process == kEncode) require_same<std::uint8_t>("codes", got.codes, codes_, code_size);
    if (process != kDecode) require_same<std::uint8_t>("statuses", got.status, status_, 1);
    if (process != kEncode) require_same<float>("values", got.y, decoded_, d);
    if (device_) {
        stream->fill(device_->codes.view(), 0xa5a5a5a5);
        stream->fill(device_->status.view(), 0xa5a5a5a5);
        stream->fill(device_->y.view(), 0x7fc00000);
        return;
    }
    std::fill(got.codes.begin(), got.codes.end(), std::uint8_t{0xa5});
    std::fill(got.status.begin(), got.status.end(), std::uint8_t{0xa5});
    std::fill(got.y.begin(), got.y.end(), -7.0f);
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

class ReportOfLattice : public ReportKernel {
  public:
    explicit ReportOfLattice(const LatticeCode& code) : code_(code) {}
    std::string name() const override { return "lattice"; }
    std::string unit() const override { return "vectors"; }
    std::vector<std::pair<std::string, std::string>> configuration() const override {
        return {{"lattice", to_string(code_.lattice)},
                {"q", std::to_string(code_.q)},
                {"levels", std::to_string(code_.levels)},
                {"beta", number(static_cast<double>(code_.beta))},
                {"digits", code_.packed ? "packed" : "a byte each"},
                {"code", number(static_cast<double>(code_bytes(code_, 8)) / 8) +
                             " bytes a vector, and a status byte"}};
    }
    std::vector<std::string> processes() const override { return {"encode", "decode", "combined"}; }
    double compression(std::size_t process, std::uint64_t in, std::uint64_t out) const override {
        if (process == kCombined || in == 0 || out == 0) return 0;
        const auto values = static_cast<double>(process == kEncode ? in : out);
        return values / static_cast<double>(process == kEncode ? out : in);
    }
    double host_bytes(std::uint64_t batch) const override {
        const double values = 4.0 * dimension(code_.lattice);
        return static_cast<double>(batch) * (4 * values + 4 * values + 4);
    }
    std::unique_ptr<ReportWork> make(const ReportTargets& targets, std::uint64_t batch,
                                     unsigned threads) const override {
        return std::make_unique<LatticeWork>(targets, code_, batch, threads);
    }

  private:
    LatticeCode code_;
};

}  // namespace

std::unique_ptr<ReportKernel> report_lattice(const LatticeCode& code) {
    return std::make_unique<ReportOfLattice>(code);
}

}  // namespace weft::tool
