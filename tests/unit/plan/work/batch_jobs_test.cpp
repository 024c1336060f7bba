// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <weft/error.hpp>

#include "plan/work/batch_check.hpp"

namespace {

using weft::Access;
using weft::Binding;
using weft::DeviceLimits;
using weft::Job;
using weft::core::ProgramNeeds;

// Checks read only pointers and lengths, so spans may be larger than this array.
alignas(64) std::byte memory[4096], results[4096];

const std::vector<Binding> kAdd = {{0, Access::read, "a"}, {1, Access::read, "b"}, {2, Access::write, "out"}};

ProgramNeeds add_shape(std::uint32_t push_constant_bytes = 8) {
    return {kAdd, push_constant_bytes, 256, 0, "add"};
}

DeviceLimits limits(std::uint64_t range = 1u << 20) {
    DeviceLimits l;
    l.max_storage_buffer_range = range;
    l.max_buffer_bytes = std::uint64_t{1} << 40;
    l.max_workgroup_count[0] = 65535;
    return l;
}

Job add_job() {
    Job job;
    job.inputs = {{memory, 400}, {memory + 512, 800}};
    job.outputs = {{memory + 2048, 400}};
    job.elements = 100;
    return job;
}

/// The text of the refusal of job 7, "accepted" without one.
std::string refusal(const Job& job, const ProgramNeeds& shape = add_shape(),
                    const DeviceLimits& l = limits()) {
    try {
        weft::core::check_job(shape, l, job, 7);
    } catch (const weft::Error& error) {
        CHECK(error.code() == weft::Errc::invalid_argument);
        return error.what();
    }
    return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_CASE("well-formed jobs are accepted") {
    CHECK(refusal(add_job()) == "accepted");
    Job broadcast = add_job();
    broadcast.inputs = {{memory, 400}, {memory + 512, 37, true}};  // need not be a multiple of the elements
    CHECK(refusal(broadcast) == "accepted");
    Job parameters = add_job();
    parameters.parameters = std::uint64_t{5};
    CHECK(refusal(parameters, add_shape(16)) == "accepted");
    CHECK(refusal(add_job(), add_shape(0)) == "accepted");  // a shader without a block
    CHECK(refusal(add_job(), add_shape(4)) == "accepted");  // a block with the count alone
    Job most = add_job();
    most.inputs = {{memory, 0xffffffffu}, {memory, 0xffffffffu}};
    most.outputs = {{memory, 0xffffffffu}};
    most.elements = 0xffffffffu;
    CHECK(refusal(most) == "accepted");
}

TEST_CASE("span counts must match the shader, and the text shows its interface") {
    Job job = add_job();
    job.name = "third layer";
    job.outputs.push_back({memory + 3000, 400});
    CHECK(refusal(job) ==
          "run_batch: job 7 \"third layer\" for program \"add\": spans do not match the shader (got 2 inputs "
          "and 2 outputs, need 2 and 1: binding 0 \"a\", read; binding 1 \"b\", read; binding 2 \"out\", "
          "write; "
          "a buffer without "
          "readonly or writeonly counts as both)");
    job = add_job();
    job.inputs = {{memory, 400}};
    CHECK(contains(refusal(job), "(got 1 inputs and 1 outputs, need 2 and 1: "));
    const std::vector<Binding> both = {{3, Access::read_write, ""}};
    const std::string text = refusal(add_job(), {both, 8, 1, 0, "scale"});
    CHECK(contains(text, "need 1 and 1: binding 3, read_write; a buffer without readonly or writeonly"));
    CHECK(contains(refusal(add_job(), {{}, 8, 1, 0, "nothing"}), "need 0 and 0: no bindings;"));
    CHECK(refusal(Job{}, {{}, 8, 1, 0, "nothing"}) == "accepted");
}

TEST_CASE("the second argument after an array is a length, unless it is a bool") {
    const weft::InputSpan length{memory, 400};
    CHECK(length.bytes == 400);
    CHECK_FALSE(length.broadcast);
    const weft::InputSpan flag{memory, true};
    CHECK(flag.bytes == sizeof memory);
    CHECK(flag.broadcast);
    CHECK(weft::InputSpan{memory}.bytes == sizeof memory);
    CHECK(weft::OutputSpan{memory, 8}.bytes == 8);
}

TEST_CASE("element counts stay below 2^32") {
    Job job = add_job();
    job.elements = std::uint64_t{1} << 32;
    CHECK(
        refusal(job) ==
        "run_batch: job 7 for program \"add\": too many elements (got 4294967296, need at most 4294967295)");
}

TEST_CASE("parameters must fill the block after count and first") {
    Job job = add_job();
    job.parameters = std::uint32_t{1};
    const std::string where = "parameters do not fit the push-constant block after count and first ";
    CHECK(contains(refusal(job, add_shape(16)), where + "(got 4, need 8 bytes)"));
    CHECK(contains(refusal(job, add_shape(8)), where + "(got 4, need 0 bytes)"));
    CHECK(contains(refusal(job, add_shape(4)), where + "(got 4, need 0 bytes)"));
    CHECK(contains(refusal(add_job(), add_shape(12)), where + "(got 0, need 4 bytes)"));
}

TEST_CASE("a single number must be of the kind of the shader's member") {
    const weft::core::FirstParameter scale{"scale", true, true, 4}, rounds{"", true, false, 4}, unknown{};
    const auto text = [](const weft::Parameters& parameters, const weft::core::FirstParameter& member,
                         std::uint32_t push_bytes = 12) {
        Job job = add_job();
        job.parameters = parameters;
        ProgramNeeds needs = add_shape(push_bytes);
        needs.first_parameter = &member;
        return refusal(job, needs);
    };
    CHECK(text(2.0f, scale) == "accepted");
    CHECK(text(2u, rounds) == "accepted");
    CHECK(text(-2, rounds) == "accepted");
    CHECK(text(2, scale) ==
          "run_batch: job 7 for program \"add\": parameters are another kind of number than the shader's "
          "member "
          "\"scale\" (got an integer of 4 bytes, need a floating-point number of 4 bytes)");
    CHECK(
        contains(text(2.0f, rounds),
                 "the shader's member (got a floating-point number of 4 bytes, need an integer of 4 bytes)"));
    CHECK(contains(text(2.0, scale, 16), "got a floating-point number of 8 bytes, need a floating-point"));
    CHECK(text(std::uint64_t{5}, rounds, 16) == "accepted");  // two words
    CHECK(text(std::array<std::uint32_t, 1>{5}, scale) == "accepted");
    CHECK(text(2, unknown) == "accepted");
}

TEST_CASE("each span is checked separately, and the text names it") {
    const std::string job7 = "run_batch: job 7 for program \"add\": ";
    const struct {
        weft::InputSpan second;
        std::string text;
    } inputs[] = {
        {{nullptr, 800}, "input 1 null with a length (got 800, need 0 bytes or a pointer)"},
        {{nullptr, 0}, "input 1 empty although the job has elements (got 0, need a multiple of 100)"},
        {{memory, 0}, "input 1 empty although the job has elements (got 0, need a multiple of 100)"},
        {{memory, 0, true}, "input 1 empty although the job has elements (got 0, need a multiple of 100)"},
        {{memory, 801}, "input 1 bytes do not divide by the elements (got 801, need a multiple of 100)"},
        {{memory, 99}, "input 1 bytes do not divide by the elements (got 99, need a multiple of 100)"},
        {{memory, 100 * 1001},
         "input 1 one element is larger than one binding can be (got 1001, need at most 1000)"},
        {{memory, 1001, true}, "input 1 larger than one binding can be (got 1001, need at most 1000)"},
        {{memory, ~std::size_t{0} / 100 * 100},
         "input 1 length runs past the address space (got 18446744073709551600, need a real number of "
         "bytes)"},
    };
    for (const auto& c : inputs) {
        Job job = add_job();
        job.inputs = {{memory, 400}, c.second};
        CHECK(refusal(job, add_shape(), limits(1000)) == job7 + c.text);
    }
    const struct {
        weft::OutputSpan first;
        std::string text;
    } outputs[] = {
        {{nullptr, 400}, "output 0 null with a length (got 400, need 0 bytes or a pointer)"},
        {{memory, 0}, "output 0 empty although the job has elements (got 0, need a multiple of 100)"},
        {{memory, 450}, "output 0 bytes do not divide by the elements (got 450, need a multiple of 100)"},
    };
    for (const auto& c : outputs) {
        Job job = add_job();
        job.outputs = {c.first};
        CHECK(refusal(job) == job7 + c.text);
    }
    Job edge = add_job();
    edge.inputs = {{memory, 100 * 1000}, {memory, 1000, true}};
    CHECK(refusal(edge, add_shape(), limits(1000)) == "accepted");
}

TEST_CASE("spans of a job without elements may have any length, but no length without a pointer") {
    Job job = add_job();
    job.elements = 0;
    job.inputs = {{memory, 401}, {nullptr, 0}};
    CHECK(refusal(job) == "accepted");
    job.inputs = {{memory, 401}, {nullptr, 1}};
    CHECK(contains(refusal(job), "input 1 null with a length"));
}

TEST_CASE("a read_write binding takes an input and an output of equal size") {
    const std::vector<Binding> bindings = {{0, Access::write, ""}, {5, Access::read_write, ""}};
    const ProgramNeeds shape{bindings, 8, 1, 0, "scan"};
    Job job;
    job.elements = 10;
    job.inputs = {{memory, 40}};
    job.outputs = {{memory + 512, 80}, {memory + 1024, 40}};
    CHECK(refusal(job, shape) == "accepted");
    job.outputs = {{memory + 512, 40}, {memory + 1024, 80}};
    CHECK(
        refusal(job, shape) ==
        "run_batch: job 7 for program \"scan\": input 0 feeds binding 5, read_write, whose input and output "
        "must have equal size (got 40, need 80 bytes)");
    job.inputs = {{memory, 80, true}};
    CHECK(contains(refusal(job, shape), "input 0 feeds binding 5, read_write"));
}

TEST_CASE("a span holds the block of its binding, and so does the share of every chunk") {
    const std::vector<Binding> bindings = {{0, Access::read, "x", 4096}, {1, Access::write, "", 4}};
    const ProgramNeeds shape{bindings, 8, 256, 0, "flip"};
    Job job;
    job.elements = 256;
    job.inputs = {{memory, 1024}};
    job.outputs = {{results, 1024}};
    CHECK(refusal(job, shape) ==
          "run_batch: job 7 for program \"flip\": input 0 for binding 0 \"x\": range is shorter than the "
          "shader's block (got 1024 bytes, need 4096)");
    job.inputs = {{memory, 1024, true}};
    CHECK(contains(refusal(job, shape), "binding 0 \"x\": range is shorter than the shader's block"));
    job.inputs = {{memory, 4096, true}};
    CHECK(refusal(job, shape) == "accepted");
    job.outputs = {{results, 256}};  // an element has a share of one byte, and four of them make a word
    CHECK(refusal(job, shape) == "accepted");
    job.elements = 2;
    job.outputs = {{results, 2}};
    CHECK(contains(refusal(job, shape),
                   "output 0 for binding 1, write: range is shorter than the shader's "
                   "block (got 2 bytes, need 4)"));
    job.elements = 0;
    job.inputs = {{memory, 1}};
    CHECK(refusal(job, shape) == "accepted");
}

TEST_CASE("a job that the device's limits cut into chunks too short for a block is refused") {
    const std::vector<Binding> bindings = {{0, Access::read, "x", 4096}, {1, Access::write, "", 4}};
    const ProgramNeeds shape{bindings, 8, 256, 0, "flip"};
    DeviceLimits small = limits();
    small.max_workgroup_count[0] = 2;  // chunks of at most 512 elements
    Job job;
    job.elements = 2048;
    job.inputs = {{memory, 2048 * 4}};
    job.outputs = {{results, 2048 * 4}};
    CHECK(refusal(job, shape, small) ==
          "run_batch: job 7 for program \"flip\": input 0 for binding 0 \"x\": the job must be cut, and its "
          "chunks would be shorter than the shader's block (got at most 512 elements of 4 bytes, need 4096 "
          "bytes in every chunk)");
    small.max_workgroup_count[0] = 4;  // chunks of exactly 1024 elements
    CHECK(refusal(job, shape, small) == "accepted");
    job.elements = 2047;
    job.inputs = {{memory, 2047 * 4}};
    job.outputs = {{results, 2047 * 4}};
    CHECK(contains(refusal(job, shape, small), "the job must be cut"));
}

TEST_CASE("an input bound whole for every chunk cannot be written by the same job") {
    Job job = add_job();
    job.inputs = {{memory, 400}, {memory + 2048, 400, true}};
    CHECK(
        refusal(job) ==
        "run_batch: job 7 for program \"add\": input 1 is bound whole for every chunk while output 0 writes "
        "its memory (got an overlap of 400 bytes, need separate spans)");
    job.inputs = {{memory + 2048, 400}, {memory + 1024, 400, true}};  // in place, next to a table
    CHECK(refusal(job) == "accepted");
    job.inputs = {{memory, 400}, {memory + 2048 - 37, 37, true}};  // a table just before the output
    CHECK(refusal(job) == "accepted");
}

}  // namespace
