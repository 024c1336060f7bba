// SPDX-License-Identifier: Apache-2.0
// The recorder, and the text and file of a trace.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "base/file_io.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_json.hpp"
#include "trace/trace_recorder.hpp"

namespace {

namespace fs = std::filesystem;
using weft::Stage;
using namespace weft::core;

StageEvent event(Stage stage, std::int64_t begin, std::int64_t end, TrackId row = 1) {
    StageEvent e;
    e.stage = stage;
    e.row = row;
    e.begin_ns = begin;
    e.end_ns = end;
    return e;
}

std::string text_of(const TraceData& data) {
    std::string text;
    write_trace_json(data, 42, [&](std::string_view chunk) { text += chunk; });
    return text;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

class Folder {
  public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "weft-trace-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() { fs::remove_all(path); }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), {}));
    }
    fs::path path;
};

TEST_CASE("the recorder is off without listeners; the first one turns it on, the last one off") {
    TraceRecorder recorder;
    CHECK_FALSE(recorder.active());
    const auto a = recorder.open(10, 0), b = recorder.open(10, 0);
    CHECK(recorder.active());
    recorder.close(a);
    CHECK(recorder.active());
    recorder.close(b);
    CHECK_FALSE(recorder.active());
}

TEST_CASE("each listener has its own window") {
    TraceRecorder recorder;
    const auto whole = recorder.open(10, 0);
    recorder.stage(event(Stage::kernel, 1, 2));
    const auto late = recorder.open(10, 0);
    recorder.stage(event(Stage::kernel, 3, 4));
    recorder.close(whole);
    recorder.stage(event(Stage::kernel, 5, 6));
    CHECK(recorder.read(*whole).stages.size() == 2);
    CHECK(recorder.read(*late).stages.size() == 2);
    CHECK(recorder.read(*late).stages.front().begin_ns == 3);
}

TEST_CASE("memory is bounded: events beyond the limit are counted, and totals stay exact") {
    TraceRecorder recorder;
    const auto sink = recorder.open(3, 0);
    for (int i = 0; i < 10; ++i) recorder.stage(event(Stage::kernel, i, i + 1));
    recorder.ring_acquire();
    recorder.ring_wait(5, 12);
    recorder.replay(0, 5000);
    const TraceData data = recorder.read(*sink);
    CHECK(data.stages.size() == 3);
    CHECK(data.instants.empty());
    CHECK(data.dropped_events == 9);
    CHECK(data.ring_acquires == 1);
    CHECK(data.ring_waits == 1);
    CHECK(data.ring_wait_ns == 7);
    CHECK(data.replays == 1);
}

TEST_CASE(
    "flaw: memory that is only added up. Live falls when buffers are freed, the peak is that of the window") {
    TraceRecorder recorder;
    const auto sink = recorder.open(100, 50);
    recorder.allocation("a", 100, 150);
    recorder.release("a", 100, 50);
    recorder.allocation("b", 30, 80);
    const TraceData data = recorder.read(*sink);
    CHECK(data.start_bytes == 50);
    CHECK(data.live_bytes == 80);
    CHECK(data.peak_bytes == 150);  // not 50 + 100 + 30
    const auto later = recorder.open(100, 80);
    recorder.release("b", 30, 50);
    CHECK(recorder.read(*later).peak_bytes == 80);  // the 150 were before it began
    CHECK(recorder.read(*later).live_bytes == 50);
}

TEST_CASE("names are numbered once, cut where they are long, and bounded in number") {
    TraceRecorder recorder;
    const auto sink = recorder.open(10, 0);
    CHECK(recorder.name("") == 0);
    const NameId one = recorder.name("one");
    CHECK(recorder.name("one") == one);
    // A character of two bytes after 199 bytes is left out completely.
    const std::string prefix(TraceRecorder::kMostNameBytes - 1, 'x');
    const NameId cut = recorder.name(prefix + "\xc3\xbc tail");
    for (std::size_t i = 0; i < TraceRecorder::kMostNames + 5; ++i) recorder.name("n" + std::to_string(i));
    const TraceData data = recorder.read(*sink);
    CHECK(data.names.at(one) == "one");
    CHECK(data.names.at(cut) == prefix);
    CHECK(data.names.size() == TraceRecorder::kMostNames);
    CHECK(data.dropped_names == 4 + 5);
    CHECK(data.names.at(recorder.name("never seen")) == "(more names)");
}

TEST_CASE("copy tracks are reused, and never by two copies simultaneously") {
    TraceRecorder recorder;
    const auto sink = recorder.open(1u << 20, 0);
    const auto tell = [&](std::vector<StageEvent> events) {
        recorder.copies(events.size(), [&](std::size_t i) { return events[i]; });
    };
    const auto copied = [](std::int64_t begin, std::int64_t end) {
        StageEvent e = event(Stage::copy_in, begin, end, 0);
        e.bytes = begin != end ? 1 : 0;
        return e;
    };
    tell({copied(0, 0)});
    for (int i = 0; i < 5000; ++i) tell({copied(10 * i, 10 * i + 10)});
    CHECK(recorder.read(*sink).rows.size() == 2);
    // Three simultaneous copies, one that begins when the first ends, and one that is reported late and ran
    // next to the others.
    tell({copied(60000, 60010), copied(60000, 60040), copied(60005, 60030), copied(60010, 60020)});
    tell({copied(60008, 60012)});
    const TraceData data = recorder.read(*sink);
    std::vector<TrackId> rows;
    for (std::size_t i = 5000; i < data.stages.size(); ++i) rows.push_back(data.stages[i].row);
    CHECK(rows == std::vector<TrackId>{1, 2, 3, 1, 4});
    CHECK(data.rows.size() == 5);
    CHECK(data.rows.back().name == "copy worker 4");
}

TEST_CASE("many simultaneous threads lose no events") {
    TraceRecorder recorder;
    const auto sink = recorder.open(1u << 20, 0);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&recorder, t] {
            for (int i = 0; i < 1000; ++i) {
                StageEvent e = event(Stage::copy_in, i, i + 1);
                e.program = recorder.name("p" + std::to_string(t));
                recorder.stage(e);
            }
        });
    for (std::thread& thread : threads) thread.join();
    const TraceData data = recorder.read(*sink);
    CHECK(data.stages.size() == 8000);
    CHECK(data.names.size() == 2 + 8);
}

TEST_CASE("a trace has one complete event for each timed stage, by time, on its track, with its arguments") {
    TraceData data;
    data.device = "card";
    data.rows = {{TraceTrack::host, true, "host"}, {TraceTrack::queue, true, "queue \"q\""}};
    data.names = {"", "(more names)", "job one", "saxpy"};
    StageEvent kernel = event(Stage::kernel, 2'000'500, 2'003'000);
    kernel.slot = 3;
    kernel.bytes = 64;
    kernel.jobs = 2;
    kernel.job = 7;
    kernel.program = 3;
    kernel.operations = 2;
    data.stages.push_back(kernel);
    StageEvent upload = event(Stage::upload, 1'000, 1'001);
    upload.jobs = 1;
    upload.job_name = 2;
    data.stages.push_back(upload);
    StageEvent untimed = event(Stage::download, 0, 0);
    untimed.timed = false;
    data.stages.push_back(untimed);
    data.instants.push_back({InstantEvent::ring_wait, 0, 5'000, 1'500, 0});
    data.instants.push_back({InstantEvent::allocation, 2, 6'000, 4096, 8192});
    const std::string text = text_of(data);
    CHECK(occurrences(text, "\"ph\": \"X\"") == 2);
    CHECK(text.find("\"upload\"") < text.find("\"kernel\""));
    CHECK(
        text.find("{\"ph\": \"X\", \"name\": \"kernel\", \"pid\": 42, \"tid\": 1, \"cat\": \"weft\", \"ts\": "
                  "2000.500, \"dur\": 2.500, \"args\": {\"bytes\": 64, \"slot\": 3, \"job\": \"job 7\", "
                  "\"jobs\": 2, \"program\": \"saxpy\", \"dispatches\": 2}}") != std::string::npos);
    CHECK(text.find("\"job\": \"job one\"") != std::string::npos);
    CHECK(text.find("\"queue \\\"q\\\"\"") != std::string::npos);
    CHECK(text.find("\"waited_us\": 1.500") != std::string::npos);
    CHECK(text.find("\"live_bytes\": 8192") != std::string::npos);
}

TEST_CASE("a trace file appears complete, replaces an earlier one, and leaves no other file") {
    const Folder folder;
    const fs::path file = folder.path / "trace.json";
    std::ofstream(file) << "old";
    CHECK(write_trace_file({}, file) == "");
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    CHECK(text.starts_with("{\"displayTimeUnit\""));
    CHECK(text.ends_with("]}\n"));
    CHECK(folder.files() == 1);
}

TEST_CASE("a trace through a symbolic link, into a device, and to a place that cannot be written") {
    const Folder folder;
    const fs::path real = folder.path / "real.json", link = folder.path / "link.json";
    std::ofstream(real) << "old";
    fs::create_symlink(real, link);
    CHECK(write_trace_file({}, link) == "");
    CHECK(fs::is_symlink(link));
    CHECK(fs::file_size(real) > 3);
    CHECK(write_trace_file({}, "/dev/null") == "");
    CHECK(fs::is_character_file("/dev/null"));
    CHECK(write_trace_file({}, folder.path / "absent" / "t.json").find("cannot create") == 0);
    CHECK(write_trace_file({}, folder.path).find("cannot write") == 0);
    if (fs::exists("/dev/full")) CHECK(write_trace_file({}, "/dev/full").find("cannot write") == 0);
    CHECK(folder.files() == 2);
}

TEST_CASE("a trace into a pipe does not wait for a reader and does not end the process") {
    const Folder folder;
    const fs::path pipe = folder.path / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(write_trace_file({}, pipe).find("no program reads from it") != std::string::npos);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    REQUIRE(reader >= 0);
    CHECK(write_trace_file({}, pipe) == "");
    NewFile file(pipe, 0666, true);
    file.write("fits");
    ::close(reader);
    file.write("meets nobody");
    CHECK(file.replace().find("Broken pipe") != std::string::npos);
    CHECK(fs::is_fifo(pipe));
}

TEST_CASE("the limit on file sizes is an error, not the end of the process") {
    const Folder folder;
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_FSIZE, &none);
        const std::string failure = write_trace_file({}, folder.path / "t.json");
        ::_exit(failure.find("File too large") != std::string::npos ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(folder.files() == 0);
}

TEST_CASE("a new file does not get the number of a standard descriptor that is closed") {
    const Folder folder;
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) ::close(descriptor);
        NewFile file(folder.path / "t.json", 0666);
        std::fprintf(stderr, "a message");
        file.write("whole");
        ::_exit(file.replace().empty() && fs::file_size(folder.path / "t.json") == 5 ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("backends that share a file name write separate files") {
    CHECK(numbered_trace_path("/a/trace.json", 1) == "/a/trace.json");
    CHECK(numbered_trace_path("/a/trace.json", 2) == "/a/trace.2.json");
    CHECK(numbered_trace_path("/a/trace", 3) == "/a/trace.3");
    CHECK(numbered_trace_path("/a.b/t.tar.gz", 2) == "/a.b/t.tar.2.gz");
    const fs::path name = "/nowhere/weft-trace-test.json";
    CHECK(claim_trace_path(name) == name);
    CHECK(claim_trace_path("/nowhere/../nowhere/weft-trace-test.json").filename() ==
          "weft-trace-test.2.json");
    CHECK(claim_trace_path("/nowhere/another.json") == "/nowhere/another.json");
}

}  // namespace
