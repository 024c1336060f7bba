// SPDX-License-Identifier: Apache-2.0
// weft profile lattice: encode, decode, and both in one pass.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cpu/cpu_lattice.hpp"
#include "device/cuda_calls.hpp"
#include "measure/report_kernel.hpp"

namespace weft::tool {
namespace {

enum LatticeProcess : std::size_t { kEncode, kDecode, kCombined };

/// The arrays in host memory that the device reads and writes; statuses as the code has them.
struct LatticeSpans {
    std::span<const float> x;
    std::span<const std::uint8_t> codes_in, status_in;
    std::span<std::uint8_t> codes, status;
    std::span<float> y;
};

constexpr std::uint64_t kBlock = 8;  // vectors; their packed codes are whole bytes for any code

struct Block {
    std::uint64_t first = 0, count = 0;
};

/// The CPU's results for some of the vectors, block after block.
struct WantedCodes {
    std::vector<Block> blocks;
    std::vector<float> y;
    std::vector<std::uint8_t> codes, status;
};

class LatticeWork : public ReportWork {
  public:
    LatticeWork(const ReportTargets& targets, const LatticeCode& code, std::uint64_t batch, unsigned threads)
        : ReportWork(threads),
          targets_(targets),
          code_(code),
          x_(batch * dimension(code.lattice)),
          codes_in_(code_bytes(code, batch)),
          status_in_(batch) {
        fill_lattice(code, x_);
        fill_codes();
    }
    std::uint64_t bytes_in(std::size_t process) const override {
        return process == kDecode ? codes_in_.size() + status_in_.size() : x_.size() * sizeof(float);
    }
    std::uint64_t bytes_out(std::size_t process) const override {
        const std::uint64_t values = x_.size() * sizeof(float);
        return process == kEncode   ? codes_in_.size() + status_in_.size()
               : process == kDecode ? values
                                    : values + status_in_.size();
    }
    void run_cpu(std::size_t process) override {
        wanted_[process].blocks = {{0, status_in_.size()}};
        run_cpu_on(process, x_, codes_in_);
    }
    void run_cpu_of(std::size_t process, std::span<const std::uint64_t> items) override;
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
        if (process == kDecode) target.lattice_decode(code_, s.codes_in, s.status_in, s.y, {});
        if (process == kCombined) target.lattice_quantize(code_, s.x, s.y, s.status, {});
    }
    void record(std::size_t process, Stream& stream) override {
        Resident& r = *device_;
        if (process == kEncode) lattice_encode(stream, code_, r.x, r.codes, r.status);
        if (process == kDecode) lattice_decode(stream, code_, r.codes_in, r.status_in.view(), r.y);
        if (process == kCombined) lattice_quantize(stream, code_, r.x, r.y, r.status);
    }
    void verify(std::size_t process, Stream* stream) override;

  private:
    struct Resident {
        Buffer<float> x, y;
        Buffer<std::uint32_t> codes, status, codes_in, status_in;
        Resident(Backend& backend, const LatticeCode& code, std::size_t vectors)
            : x(backend, vectors * dimension(code.lattice)),
              y(backend, x.size()),
              codes(backend, code_words(code, vectors)),
              status(backend, status_words(vectors)),
              codes_in(backend, codes.size()),
              status_in(backend, status.size()) {}
    };
    void fill_codes();
    void run_cpu_on(std::size_t process, std::span<const float> x, std::span<const std::uint8_t> codes);
    void prepare_resident();
    void compare(std::size_t process, const LatticeSpans& got) const;

    ReportTargets targets_;
    LatticeCode code_;
    ReportPath path_ = ReportPath::cpu;
    std::vector<float> x_;
    std::vector<std::uint8_t> codes_in_, status_in_;  // the input of decode
    WantedCodes wanted_[3];
    PathArray<float> locked_x_, y_;
    PathArray<std::uint8_t> locked_codes_in_, locked_status_in_, codes_out_, status_out_;
    LatticeSpans spans_;
    std::unique_ptr<Resident> device_;
};

/// Bytes as words, padded with zeros.
std::vector<std::uint32_t> words_of(std::span<const std::uint8_t> bytes, std::size_t words) {
    std::vector<std::uint32_t> out(words);
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

/// Repeats the codes of the first vectors, because making all codes would take as long as the baseline.
void LatticeWork::fill_codes() {
    constexpr std::size_t kVectors = 512 * kBlock;
    const std::size_t count = std::min<std::size_t>(status_in_.size(), kVectors);
    const std::size_t bytes = code_bytes(code_, count);
    cpu_lattice_encode(code_, std::span(x_).first(count * dimension(code_.lattice)),
                       std::span(codes_in_).first(bytes), std::span(status_in_).first(count), threads_);
    for (std::size_t at = bytes; at < codes_in_.size(); ++at) codes_in_[at] = codes_in_[at - bytes];
    for (std::size_t at = count; at < status_in_.size(); ++at) status_in_[at] = status_in_[at - count];
}

void LatticeWork::run_cpu_on(std::size_t process, std::span<const float> x,
                             std::span<const std::uint8_t> codes) {
    WantedCodes& wanted = wanted_[process];
    const std::size_t vectors = x.size() / dimension(code_.lattice);
    wanted.status.resize(process == kDecode ? 0 : vectors);
    wanted.codes.resize(process == kEncode ? code_bytes(code_, vectors) : 0);
    wanted.y.resize(process == kEncode ? 0 : x.size());
    if (process == kEncode) cpu_lattice_encode(code_, x, wanted.codes, wanted.status, threads_);
    if (process == kDecode) cpu_lattice_decode(code_, codes, wanted.y, threads_);
    if (process == kCombined) cpu_lattice_quantize(code_, x, wanted.y, wanted.status, threads_);
}

void LatticeWork::run_cpu_of(std::size_t process, std::span<const std::uint64_t> items) {
    const std::size_t d = dimension(code_.lattice), bytes = code_bytes(code_, kBlock);
    WantedCodes& wanted = wanted_[process];
    wanted.blocks.clear();
    std::vector<float> x;
    std::vector<std::uint8_t> codes;
    for (const std::uint64_t item : items) {
        const std::uint64_t first = item / kBlock * kBlock;
        if (!wanted.blocks.empty() && wanted.blocks.back().first == first) continue;
        const Block block{first, std::min<std::uint64_t>(kBlock, status_in_.size() - first)};
        wanted.blocks.push_back(block);
        x.insert(x.end(), &x_[first * d], &x_[first * d] + block.count * d);
        const std::uint8_t* const code = &codes_in_[first / kBlock * bytes];
        codes.insert(codes.end(), code, code + code_bytes(code_, block.count));
    }
    run_cpu_on(process, x, codes);
}

void LatticeWork::prepare_resident() {
    device_ = std::make_unique<Resident>(*targets_.backend, code_, status_in_.size());
    Stream stream(*targets_.backend);
    stream.upload(x_, device_->x);
    stream.upload(words_of(codes_in_, device_->codes.size()), device_->codes_in);
    stream.upload(words_of(status_in_, device_->status.size()), device_->status_in);
    stream.wait();
}

void LatticeWork::prepare(ReportPath path) {
    path_ = path;
    if (path == ReportPath::resident) return prepare_resident();
    codes_out_.make(targets_.backend, codes_in_.size(), path);
    status_out_.make(targets_.backend, status_in_.size(), path);
    y_.make(targets_.backend, x_.size(), path);
    spans_ = {x_, codes_in_, status_in_, codes_out_.span(), status_out_.span(), y_.span()};
    if (path != ReportPath::page_locked) return;
    locked_x_.make(targets_.backend, x_.size(), path);
    locked_codes_in_.make(targets_.backend, codes_in_.size(), path);
    locked_status_in_.make(targets_.backend, status_in_.size(), path);
    std::copy(x_.begin(), x_.end(), locked_x_.span().begin());
    std::copy(codes_in_.begin(), codes_in_.end(), locked_codes_in_.span().begin());
    std::copy(status_in_.begin(), status_in_.end(), locked_status_in_.span().begin());
    spans_.x = locked_x_.span();
    spans_.codes_in = locked_codes_in_.span();
    spans_.status_in = locked_status_in_.span();
}

/// `first`: the first vector in `got`; `per_vector`: values of T in a vector, only for the text.
template <class T>
void require_same(const char* what, std::uint64_t first, const T* got, const T* wanted, std::size_t count,
                  std::size_t per_vector) {
    if (std::memcmp(wanted, got, count * sizeof(T)) == 0) return;
    std::size_t at = 0;
    while (std::memcmp(&wanted[at], &got[at], sizeof(T)) == 0) ++at;
    throw WrongResult(std::string(what) + " differ from the CPU's near vector " +
                      std::to_string(first + at / std::max<std::size_t>(per_vector, 1)));
}

void LatticeWork::compare(std::size_t process, const LatticeSpans& got) const {
    const std::size_t d = dimension(code_.lattice), bytes = code_bytes(code_, kBlock);
    const WantedCodes& wanted = wanted_[process];
    std::size_t at = 0;  // vectors of the blocks before this one, which are all full
    for (const Block& block : wanted.blocks) {
        const std::size_t code = block.first / kBlock * bytes;
        if (process == kEncode)
            require_same("codes", block.first, &got.codes[code], &wanted.codes[at / kBlock * bytes],
                         code_bytes(code_, block.count), bytes / kBlock);
        if (process != kDecode)
            require_same("statuses", block.first, &got.status[block.first], &wanted.status[at], block.count,
                         1);
        if (process != kEncode)
            require_same("values", block.first, &got.y[block.first * d], &wanted.y[at * d], block.count * d,
                         d);
        at += block.count;
    }
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
    compare(process, got);
    if (device_) {
        stream->fill(device_->codes.view(), 0xa5a5a5a5u);
        stream->fill(device_->status.view(), 0xa5a5a5a5u);
        stream->fill(device_->y.view(), 0x7fc00000u);
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
    std::uint64_t sample_size() const override { return 4096 / kBlock; }  // each with its block
    double host_bytes(std::uint64_t batch) const override {
        const double values = 4.0 * dimension(code_.lattice);
        // Values: the input, its copy, two results of the CPU, one of the device, and its download. Codes
        // likewise.
        return static_cast<double>(batch) * (6 * values + 5 * values + 6);
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
