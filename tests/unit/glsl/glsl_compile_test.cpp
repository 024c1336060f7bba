// SPDX-License-Identifier: Apache-2.0
// GLSL to SPIR-V, and the errors for text that is not GLSL.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <weft/glsl.hpp>

#include "glsl/include_search.hpp"
#include "support/contractions.hpp"
#include "support/error_text.hpp"
#include "support/scratch_folder.hpp"

namespace fs = std::filesystem;
using namespace weft_test;
using weft::compile_glsl;
using weft::Errc;
using weft::GlslSource;
using weft::SpirV;

namespace {

constexpr const char* kHead = "#version 450\nlayout(local_size_x = 64) in;\n";  // two lines
constexpr const char* kMain = "void main() {}\n";

std::string shader(const std::string& body) {
    return kHead + body;
}

SpirV compile(GlslSource source) {
    source.cache = false;
    return compile_glsl(source);
}

std::string refused(Errc code, const GlslSource& source) {
    return error_text(code, [&] { compile(source); });
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Whether a word of the module is `value`; constants are such words.
bool has_word(const SpirV& spirv, std::uint32_t value) {
    return std::ranges::find(spirv.words, value) != spirv.words.end();
}

const std::string kStore = shader(
    "layout(set = 0, binding = 0) buffer X { uint x[]; };\n"
    "void main() { x[gl_GlobalInvocationID.x] = VALUE; }\n");

}  // namespace

TEST_CASE("compile_glsl: text becomes SPIR-V 1.5") {
    const SpirV spirv = compile({.text = shader(kMain)});
    REQUIRE(spirv.words.size() > 5);
    CHECK(spirv.words[0] == 0x07230203);
    CHECK(spirv.words[1] == 0x00010500);
    CHECK(spirv.name == "shader");
    CHECK(spirv.warnings == "");
    CHECK(spirv.included.empty());
    CHECK_FALSE(spirv.from_cache);
    const std::span<const std::uint32_t> words = spirv;
    CHECK(words.data() == spirv.words.data());
    CHECK(words.size() == spirv.words.size());
}

TEST_CASE("compile_glsl: macros reach the shader, and WEFT_GLSL is one of them") {
    CHECK(has_word(compile({.text = kStore, .macros = {{"VALUE", "123454321u"}}}), 123454321));
    CHECK(has_word(
        compile({.text = kStore, .macros = {{"VALUE", "A B"}, {"A", "123450000u +"}, {"B", "4321u"}}}),
        123454321));
    CHECK(contains(refused(Errc::invalid_shader, {.text = kStore}), "'VALUE' : undeclared identifier"));
    compile({.text = shader("#if WEFT_GLSL != 1 || defined(NAME) == 0\n#error no\n#endif\nvoid main() {}"),
             .macros = {{"NAME"}}});
}

TEST_CASE("compile_glsl: illegal options are refused by name") {
    const std::string text = shader(kMain);
    const auto with_macro = [&](std::string name, std::string value) {
        return refused(Errc::invalid_argument,
                       {.text = text, .macros = {{std::move(name), std::move(value)}}});
    };
    CHECK(contains(refused(Errc::invalid_argument, {}), "neither file nor text"));
    CHECK(contains(refused(Errc::invalid_argument, {.file = "a", .text = text}), "both file and text"));
    CHECK(contains(refused(Errc::invalid_argument, {.file = "a", .name = "b"}), "name goes with text"));
    CHECK(contains(refused(Errc::invalid_argument, {.text = text, .name = "a\nb"}), "name must be one line"));
    for (const char* name : {"", "1a", "a-b", "f(x)", "a b", "\xc3\xa9"})
        CHECK(contains(with_macro(name, "1"), "got \"" + std::string(name) + "\""));
    for (const char* name : {"WEFT_GLSL", "GL_x", "defined"})
        CHECK(contains(with_macro(name, "1"), std::string("macro ") + name + " is reserved"));
    CHECK(contains(with_macro("A", "1\n#define B"), "macro A has a value of more than one line"));
    CHECK(contains(with_macro("A", std::string("1\0", 2)), "more than one line"));
    CHECK(contains(with_macro("A", "1\\"), "backslash"));
    CHECK(contains(refused(Errc::invalid_argument, {.text = text, .macros = {{"A", "1"}, {"B"}, {"A", "1"}}}),
                   "macro A is given twice"));
    CHECK(contains(refused(Errc::invalid_argument, {.text = text, .include_dirs = {""}}), "include_dirs"));
    CHECK(contains(refused(Errc::invalid_argument,
                           {.text = text, .optimization = static_cast<weft::GlslOptimization>(7)}),
                   "optimization"));
}

TEST_CASE("compile_glsl: errors name file and line, the first in the first line, and none is left out") {
    const std::string text = shader("void main() {\n  nope;\n  neither;\n}");
    CHECK(refused(Errc::invalid_shader, {.text = text, .name = "some.comp"}) ==
          "compile_glsl: some.comp:4: 'nope' : undeclared identifier\n"
          "some.comp:5: 'neither' : undeclared identifier");
    const ScratchFolder folder;
    const std::string file = folder.write("dir/my.comp", text).string();
    CHECK(first_line(refused(Errc::invalid_shader, {.file = file})) ==
          "compile_glsl: " + file + ":4: 'nope' : undeclared identifier");
    // Line ends of Windows and a byte-order mark do not change line numbers.
    CHECK(contains(
        refused(Errc::invalid_shader, {.text = "\xef\xbb\xbf#version 450\r\n\r\nvoid main() { no; }"}),
        "compile_glsl: shader:3: 'no'"));
}

TEST_CASE("compile_glsl: a version that has no compute shaders, or none, is refused with its line") {
    const struct {
        const char* text;
        const char* said;
    } cases[] = {
        {" ", "shader:1: a shader starts with its version"},
        {"void main() {}", "shader:1: a shader starts with its version"},
        {"// #version 450\n/*\n#version 450 */ layout(local_size_x = 1) in;", "shader:3: a shader starts"},
        {"/* never closed\n#version 450", "shader:2: a shader starts"},
        {"#define X\n#version 450\n", "shader:1: a shader starts"},
        {"\n# /* */ version 450\n", "shader:2: a shader starts"},
        {"#version\n450", "shader:1: #version names no number"},
        {"#version core", "shader:1: #version names no number"},
        {"\n//\n  #  version  330 core\nvoid main() {}", "shader:3: GLSL 330 has no compute shaders"},
        {"#version 110\nvoid main() {}", "shader:1: GLSL 110 has no"},
        {"#version 100\nvoid main() {}", "shader:1: GLSL 100 has no"},
        {"#version 451\nvoid main() {}", "shader: version not supported"},
        {"#version 99999999999\nvoid main() {}", "shader: version not supported"},
        {"#version 450 compatibility\nvoid main() {}", "shader: #version: "},
        {"#version 450\n", "shader: Linking compute stage: Missing entry point"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.text));
        CHECK(contains(refused(Errc::invalid_shader, {.text = c.text}),
                       std::string("compile_glsl: ") + c.said));
    }
    for (const char* version : {"/**//* x\n*/#\tversion\t450 core // c", "#version 310 es", "#version 460\r"})
        CHECK_FALSE(compile({.text = std::string(version) + "\nlayout(local_size_x = 4) in;\nvoid main() {}"})
                        .words.empty());
}

TEST_CASE("compile_glsl: other stages than compute are refused") {
    const std::string text = "#version 450\nlayout(location = 0) out vec4 c;\nvoid main() { c = vec4(1); }";
    CHECK(contains(refused(Errc::invalid_shader, {.text = text}), "shader:2: "));
}

TEST_CASE("compile_glsl: warnings are reported, or are errors if requested") {
    GlslSource source{.text = shader("#extension GL_no_such_thing : enable\nvoid main() {}")};
    const SpirV spirv = compile(source);
    CHECK(spirv.warnings == "shader:3: warning: '#extension' : extension not supported: GL_no_such_thing");
    source.warnings_as_errors = true;
    CHECK(contains(refused(Errc::invalid_shader, source), "compile_glsl: shader:3: '#extension'"));
}

TEST_CASE("compile_glsl: optimization and debug information have their effects") {
    const std::string text = shader(
        "layout(set = 0, binding = 0) buffer X { uint x[]; };\n"
        "uint twice(uint v) { return v + v; }\n"
        "void main() { uint unused = 77771; x[0] = twice(x[1]); }\n");
    const auto words = [&](weft::GlslOptimization optimization, bool debug_info) {
        return compile({.text = text, .optimization = optimization, .debug_info = debug_info}).words.size();
    };
    using enum weft::GlslOptimization;
    CHECK(words(performance, false) < words(none, false));
    CHECK(words(size, false) < words(none, false));
    CHECK(words(performance, true) > words(performance, false));
    CHECK(has_word(compile({.text = text, .optimization = none}), 77771));
    CHECK_FALSE(has_word(compile({.text = text}), 77771));
}

TEST_CASE("compile_glsl: every iteration of a loop keeps what is precise, wherever it is declared") {
    const ScratchFolder folder;
    folder.write("exact.glsl", "#define EXACT precise\n");
    const std::string body =
        "layout(set = 0, binding = 0) buffer X { float x[]; };\nvoid main() {\n"
        "    [[unroll]] for (int i = 0; i < 4; ++i) {\n"
        "        EXACT float y = x[i] * 0.03125 + 12582912.0;\n        x[i] = y - 12582912.0;\n    }\n}\n";
    const std::string unroll = "#extension GL_EXT_control_flow_attributes : require\n";
    const GlslSource sources[] = {
        {.text = kHead + unroll + "#define EXACT precise\n" + body},
        {.text = kHead + unroll + "#include \"exact.glsl\"\n" + body, .include_dirs = {folder.path()}},
        {.text = kHead + unroll + body, .macros = {{"EXACT", "precise"}}},
    };
    for (const GlslSource& source : sources) {
        const ContractionCount count = count_contractions(compile(source).words);
        CHECK(count.forbidden > 0);
        CHECK(count.fused == 0);
    }
    GlslSource loose = sources[2];
    loose.macros = {{"EXACT", ""}};
    CHECK(count_contractions(compile(loose).words).forbidden == 0);
}

TEST_CASE("compile_glsl: includes are found next to the including file, then in the folders, then in weft") {
    const ScratchFolder folder;
    folder.write("src/inner/near.glsl", "#define VALUE FROM_DEEP\n#include \"deep.glsl\"\n");
    folder.write("src/inner/deep.glsl", "#define FROM_DEEP 11111u\n");
    folder.write("src/deep.glsl", "#error the wrong one\n");
    folder.write("first/both.glsl", "#define BOTH 1\n");
    folder.write("second/both.glsl", "#error the wrong one\n");
    folder.write("second/only.glsl", "#define ONLY 1\n");
    folder.write("src/only.glsl", "#error next to the including file, where <> does not search\n");
    const fs::path file = folder.write(
        "src/a.comp",
        "#version 450\n#include \"inner/near.glsl\"\n#include \"both.glsl\"\n#include <only.glsl>\n"
        "#include \"weft.glsl\"\nlayout(local_size_x = 64) in;\n"
        "layout(push_constant) uniform Block { WEFT_COUNT_FIRST } block;\n"
        "layout(set = 0, binding = 0) buffer X { uint x[]; };\n"
        "void main() { if (weft_index() < block.count) x[weft_index()] = VALUE + BOTH + ONLY; }\n");
    const SpirV spirv =
        compile({.file = file, .include_dirs = {folder.path() / "first", folder.path() / "second"}});
    CHECK(has_word(spirv, 11113));
    const std::vector<fs::path> expected{
        folder.path() / "src/inner/near.glsl", folder.path() / "src/inner/deep.glsl",
        folder.path() / "first/both.glsl", folder.path() / "second/only.glsl"};
    CHECK(spirv.included == expected);
}

TEST_CASE("compile_glsl: a file of the user comes before weft's file of that name") {
    const ScratchFolder folder;
    folder.write("weft.glsl", "#define VALUE 22222u\n");
    CHECK(has_word(compile({.text = "#version 450\n#include \"weft.glsl\"\n" + kStore.substr(13),
                            .include_dirs = {folder.path()}}),
                   22222));
}

TEST_CASE("compile_glsl: errors in an include name its own line") {
    const ScratchFolder folder;
    folder.write("a.glsl", "\n#include \"sub/b.glsl\"\nuint after = gone;\n");
    folder.write("sub/b.glsl", "\n\n\nuint here() { return missing; }\n");
    const fs::path file = folder.write("m.comp", "#version 450\n#include \"a.glsl\"\nuint last = lost;\n");
    const std::string text = refused(Errc::invalid_shader, {.file = file});
    CHECK(first_line(text) ==
          "compile_glsl: " + folder.path().string() + "/sub/b.glsl:4: 'missing' : undeclared identifier");
    CHECK(contains(text, "\n" + folder.path().string() + "/a.glsl:3: 'gone'"));
    CHECK(contains(text, "\n" + file.string() + ":3: 'lost'"));
}

TEST_CASE("compile_glsl: the error for a missing include names every place") {
    const ScratchFolder folder;
    const fs::path file =
        folder.write("m.comp", "#version 450\n\n#include \"no.glsl\"\n" + std::string(kMain));
    const std::string at = folder.path().string();
    std::string text =
        refused(Errc::invalid_shader, {.file = file, .include_dirs = {at + "/one", at + "/two"}});
    CHECK(contains(text, "compile_glsl: " + file.string() + ":3: '#include' : not found (looked for " + at +
                             "/no.glsl, " + at + "/one/no.glsl, " + at + "/two/no.glsl)"));
    text = refused(Errc::invalid_shader, {.text = "#version 450\n#include <no.glsl>\nvoid main() {}"});
    CHECK(contains(text, "shader:2: '#include' : not found (looked for no folder)"));
    text = refused(Errc::invalid_shader, {.text = "#version 450\n#include \"\"\nvoid main() {}"});
    CHECK(contains(text, "shader:2: '#include' : "));
}

TEST_CASE("compile_glsl: a name that leads out of include_dirs is not read, and its file is not quoted") {
    const ScratchFolder folder;
    const std::string secret = folder.write("secret.h", "topsecret_password\n").string();
    folder.write("open/inner/up.glsl", "#define OTHER 1\n#include \"../side.glsl\"\n");
    folder.write("open/side.glsl", "#define SIDE 1\n");
    const std::vector<fs::path> dirs{folder.path() / "open"};
    for (const std::string& name : {"<" + secret + ">", "\"" + secret + "\"", std::string("<../secret.h>"),
                                    std::string("\"../secret.h\""), std::string("<inner/../../secret.h>")}) {
        CAPTURE(name);
        const std::string text =
            refused(Errc::invalid_shader,
                    {.text = "#version 450\n#include " + name + "\nvoid main() {}", .include_dirs = dirs});
        CHECK(contains(text, "leads out of include_dirs"));
        CHECK_FALSE(contains(text, "topsecret"));
    }
    // Within them, and next to a file that lies in them, .. is a name like any other.
    CHECK_FALSE(compile({.text = "#version 450\n#include <inner/up.glsl>\n#include <inner/../side.glsl>\n" +
                                 kStore.substr(13),
                         .include_dirs = dirs,
                         .macros = {{"VALUE", "1u"}}})
                    .words.empty());
}

TEST_CASE("compile_glsl: includes that are not text files are refused by name") {
    const ScratchFolder folder;
    fs::create_directories(folder.path() / "dir.glsl");
    folder.write("nul.glsl", std::string_view("uint a;\0", 8));
    folder.write("spv.glsl", "\x03\x02\x23\x07" + std::string(16, 'x'));
    folder.write("wide.glsl", "\xff\xfe/");
    fs::resize_file(folder.write("huge.glsl", " "), (16u << 20) + 1);
    REQUIRE(::mkfifo((folder.path() / "pipe.glsl").c_str(), 0600) == 0);
    const struct {
        const char* name;
        const char* reason;
    } cases[] = {{"dir.glsl", "a folder, not a file"},
                 {"nul.glsl", "not text (byte 7 is 0)"},
                 {"spv.glsl", "SPIR-V already"},
                 {"wide.glsl", "not UTF-8 but UTF-16"},
                 {"huge.glsl", "too large (got 16777217 bytes, need at most 16777216)"},
                 {"pipe.glsl", "not an ordinary file"}};
    for (const auto& c : cases) {
        CAPTURE(std::string(c.name));
        const std::string text = "#version 450\n#include \"" + std::string(c.name) + "\"\nvoid main() {}";
        const std::string said =
            refused(Errc::invalid_shader, {.text = text, .include_dirs = {folder.path()}});
        CAPTURE(said);
        CHECK(contains(said, "shader:2: "));
        CHECK(contains(said, (folder.path() / c.name).string() + ": " + c.reason));
        const fs::path file = folder.path() / c.name;
        const bool is_file = fs::is_regular_file(file);
        CHECK(contains(refused(is_file ? Errc::invalid_shader : Errc::io, {.file = file}),
                       "compile_glsl: " + file.string() + ": " + c.reason));
    }
}

TEST_CASE("compile_glsl: a file that cannot be read is an error of the system") {
    const ScratchFolder folder;
    try {
        compile({.file = folder.path() / "none.comp"});
        FAIL_CHECK("nothing was thrown");
    } catch (const weft::Error& error) {
        CHECK(error.code() == Errc::io);
        CHECK(error.native_code() == ENOENT);
        CHECK(contains(error.what(), (folder.path() / "none.comp").string()));
    }
    if (::geteuid() == 0) return;  // may read everything
    fs::permissions(folder.write("closed.comp", "x"), fs::perms::none);
    CHECK(contains(refused(Errc::io, {.file = folder.path() / "closed.comp"}), "closed.comp"));
}

TEST_CASE("compile_glsl: include cycles are refused, and guarded includes are not cycles") {
    const ScratchFolder folder;
    folder.write("a.glsl", "#include \"b.glsl\"\n");
    folder.write("b.glsl", "#include \"a.glsl\"\n");
    const std::string at = folder.path().string();
    const std::string head = "#version 450\n";
    std::string text = refused(Errc::invalid_shader,
                               {.file = folder.write("m.comp", head + "#include \"a.glsl\"\n" + kMain)});
    CHECK(contains(text, "include cycle: " + at + "/a.glsl -> " + at + "/b.glsl -> " + at + "/a.glsl"));
    text = refused(Errc::invalid_shader,
                   {.file = folder.write("self.comp", head + "#include \"self.comp\"\n" + kMain)});
    CHECK(contains(text, "self.comp:2: "));
    CHECK(contains(text, "include cycle: " + at + "/self.comp -> " + at + "/self.comp"));
    folder.write("g.glsl", "#ifndef G\n#define G\n#include \"g.glsl\"\n#define VALUE 33333u\n#endif\n");
    CHECK(has_word(
        compile({.file = folder.write("g.comp", head + "#include \"g.glsl\"\n" + kStore.substr(13))}),
        33333));
}

TEST_CASE("compile_glsl: includes nested too deep, or too many, are refused") {
    const ScratchFolder folder;
    using weft::glsl::kMaxIncludeDepth;
    for (std::size_t i = 1; i <= kMaxIncludeDepth; ++i)
        folder.write(std::to_string(i) + ".glsl", "#include \"" + std::to_string(i + 1) + ".glsl\"\n");
    const GlslSource deep{
        .file = folder.write("m.comp", "#version 450\n#include \"1.glsl\"\n" + std::string(kMain))};
    const std::string last = std::to_string(kMaxIncludeDepth + 1) + ".glsl";
    folder.write(last, "\n");
    CHECK(contains(refused(Errc::invalid_shader, deep), "nested too deep (need at most 64)"));
    folder.write(std::to_string(kMaxIncludeDepth) + ".glsl", "\n");
    CHECK_FALSE(compile(deep).words.empty());
    folder.write("many0.glsl", "\n");
    for (int i = 1; i < 20; ++i) {
        const std::string line = "#include \"many" + std::to_string(i - 1) + ".glsl\"\n";
        folder.write("many" + std::to_string(i) + ".glsl", line + line);
    }
    CHECK(contains(refused(Errc::invalid_shader,
                           {.file = folder.write("e.comp", "#version 450\n#include \"many19.glsl\"\n")}),
                   "too many includes (need at most 10000)"));
}

TEST_CASE("compile_glsl: a sum of a hundred thousand terms does not overflow the stack") {
    std::string sum = "x[1]";
    for (int i = 0; i < 100000; ++i) sum += "+x[1]";
    const std::string text =
        shader("layout(set = 0, binding = 0) buffer X { uint x[]; };\nvoid main() { x[0] = " + sum + "; }\n");
    std::thread([&] {
        CHECK_FALSE(compile({.text = text, .optimization = weft::GlslOptimization::none}).words.empty());
    }).join();
}

TEST_CASE("compile_glsl: many threads get the same result as one") {
    const auto value = [](std::size_t i) { return std::to_string(1000 + i) + "u"; };
    std::vector<std::vector<std::uint32_t>> alone(6);
    for (std::size_t i = 0; i < alone.size(); ++i)
        alone[i] = compile({.text = kStore, .macros = {{"VALUE", value(i)}}}).words;
    std::vector<int> right(alone.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < alone.size(); ++i)
        threads.emplace_back([&, i] {
            for (std::size_t round = 0; round < 20; ++round) {
                const std::size_t j = (i + round) % alone.size();
                if (compile({.text = kStore, .macros = {{"VALUE", value(j)}}}).words == alone[j]) ++right[i];
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == std::vector<int>(alone.size(), 20));
}
