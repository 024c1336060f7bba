// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_solve/solve_checkpoint.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include <weft/error.hpp>

#include "base/bytes.hpp"
#include "base/file_io.hpp"
#include "ops/kernel_matrix/store_tiles.hpp"

namespace weft::kernels {
namespace {

constexpr std::string_view kCheckpointMagic = "weftcg\r\n";
constexpr std::uint32_t kCheckpointVersion = 1;

std::span<const std::byte> bytes_of(const std::vector<double>& values) {
    return std::as_bytes(std::span(values));
}

std::vector<std::byte> header_of(const StoreFacts& facts, const SolveState& state) {
    core::ByteWriter out;
    out.raw(std::as_bytes(std::span(kCheckpointMagic)));
    out.number(kCheckpointVersion, 4);
    out.number(facts.size(), 4);
    for (const StoreFact& fact : facts) {
        out.text(fact.name);
        out.text(fact.value);
    }
    out.number(state.iterations, 4);
    out.number(state.is_true ? 1 : 0, 1);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &state.last_true, sizeof bits);
    out.number(bits, 8);
    out.number(state.solution.size(), 8);
    out.number(state.product.size(), 8);
    return out.take();
}

}  // namespace

StoreFacts operator_facts(const KernelMatrixCircuit* circuit, const KernelMatrixShape& shape,
                          const KernelOperatorOptions& options) {
    StoreFacts facts = file_facts(shape, options.type);
    const auto add = [&](const char* name, std::string value) { facts.push_back({name, std::move(value)}); };
    add("qubits", std::to_string(shape.qubits));
    add("map", circuit != nullptr ? to_string(circuit->map) : "none, states");
    if (circuit != nullptr) {
        const bool layers = circuit->reupload && circuit->weights.size > shape.qubits;  // others cancel
        add("scale", exact(circuit->scale));
        add("weights with re-upload", layers ? contents(circuit->weights) : "none");
    }
    add("normalize", options.normalize ? "on" : "off");
    add("jitter", exact(options.jitter));
    add("symmetric", choice_text(options.symmetric));
    add("low_rank", choice_text(options.low_rank));
    return facts;
}

SolveCheckpoint::SolveCheckpoint(std::filesystem::path file, bool resume, StoreFacts facts)
    : file_(std::move(file)), facts_(std::move(facts)) {
    claim();
    const core::FileRead there = core::read_file(file_, std::numeric_limits<std::uint64_t>::max());
    if (!there.refused.empty()) refuse("cannot be read: " + there.refused);
    if (!there.bytes.empty()) read(there.bytes, facts_, resume);
}

SolveCheckpoint::Claim::~Claim() {
    if (!file_.empty()) unlink(file_.c_str());
}

void SolveCheckpoint::claim() {
    // A pipe must not block.
    constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    const auto fail = [&](const std::string& what, int code) {
        throw Error(Errc::io, "kernel_solve: " + file_.string() + ": " + what, code);
    };
    int error = ESTALE;
    while (error == ESTALE) {
        lock_ = core::FileDescriptor(::open(file_.c_str(), kFlags | O_CREAT | O_EXCL, 0666));
        const bool made = lock_.get() >= 0;
        if (!made) lock_ = core::FileDescriptor(::open(file_.c_str(), kFlags | O_CREAT, 0666));
        if (lock_.get() < 0) {
            const int refused = errno;
            fail("cannot be written: " + std::generic_category().message(refused), refused);
        }
        error = core::try_lock(lock_, file_);
        if (made && error != EWOULDBLOCK && error != ESTALE) claim_.made(file_);
    }
    // Where a file system has no locks, there is nothing to keep others away with.
    if (error == EWOULDBLOCK)
        fail("another solve, of this process or another, has this checkpoint (need one at a time)", error);
}

void SolveCheckpoint::refuse(const std::string& what) const {
    throw Error(Errc::io, "kernel_solve: " + file_.string() + ": " + what);
}

void SolveCheckpoint::read(const std::string& bytes, const StoreFacts& wanted, bool resume) {
    const auto all = std::as_bytes(std::span(bytes));
    if (!std::string_view(bytes).starts_with(kCheckpointMagic))
        refuse("it is no checkpoint of a solve (remove it or name another file)");
    if (!resume) return;
    core::ByteReader reader(all.subspan(kCheckpointMagic.size()));
    if (const std::uint32_t version = reader.number32(); version != kCheckpointVersion && reader.ok())
        refuse("the checkpoint has another version (got " + std::to_string(version) + ", need " +
               std::to_string(kCheckpointVersion) + "; remove it to begin again)");
    StoreFacts facts;
    for (std::uint32_t left = reader.number32(); left != 0 && reader.ok(); --left) {
        StoreFact fact;
        fact.name = reader.text();
        fact.value = reader.text();
        facts.push_back(std::move(fact));
    }
    SolveState state;
    state.iterations = reader.number32();
    state.is_true = reader.number(1) != 0;
    const std::uint64_t bits = reader.number(8);
    std::memcpy(&state.last_true, &bits, sizeof bits);
    const std::uint64_t values = reader.number(8), columns = reader.number(8);
    const std::size_t header = header_of(facts, state).size();
    const bool whole = reader.ok() && values <= all.size() / 24 && columns <= all.size() / 8 &&
                       all.size() == header + 24 * values + 8 * columns + 8;
    ContentSum sum;
    std::uint64_t kept_sum = 0;
    if (whole) {
        sum.add(all.first(header));
        for (std::vector<double>* part :
             {&state.solution, &state.residual, &state.direction, &state.product}) {
            const auto raw = reader.raw(8 * (part == &state.product ? columns : values));
            sum.add(raw);
            part->resize(raw.size() / 8);
            std::memcpy(part->data(), raw.data(), raw.size());
        }
        kept_sum = reader.number(8);
    }
    if (!whole || kept_sum != sum.value()) refuse("the checkpoint is damaged (remove it to begin again)");
    if (const std::string what = facts_differ(facts, wanted, "the checkpoint", "the call"); !what.empty())
        throw Error(Errc::invalid_argument, "kernel_solve: " + file_.string() +
                                                ": the checkpoint is of another " + what +
                                                "; remove it to begin again");
    facts_ = std::move(facts);
    found_ = std::move(state);
}

std::uint64_t SolveCheckpoint::pinned(const char* name, std::uint64_t value) {
    if (const std::string* const text = find_fact(facts_, name)) {
        std::from_chars(text->data(), text->data() + text->size(), value);
        return value;
    }
    facts_.push_back({name, std::to_string(value)});
    return value;
}

void SolveCheckpoint::pin(const char* name, std::uint64_t value) {
    std::erase_if(facts_, [&](const StoreFact& fact) { return fact.name == name; });
    facts_.push_back({name, std::to_string(value)});
}

void SolveCheckpoint::save(const SolveState& state) {
    core::NewFile file(file_, 0666);
    ContentSum sum;
    const auto write = [&](std::span<const std::byte> bytes) {
        sum.add(bytes);
        file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    };
    write(header_of(facts_, state));
    for (const std::vector<double>* part :
         {&state.solution, &state.residual, &state.direction, &state.product})
        write(bytes_of(*part));
    core::ByteWriter end;
    end.number(sum.value(), 8);
    write(end.take());
    core::FileDescriptor lock = file.locked();
    if (const std::string failed = file.replace(); !failed.empty())
        throw Error(Errc::io, "kernel_solve: the checkpoint: " + failed, file.error());
    lock_ = std::move(lock);
    claim_.keep();
}

}  // namespace weft::kernels
