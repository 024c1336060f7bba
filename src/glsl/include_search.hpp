// SPDX-License-Identifier: Apache-2.0
// Finds the files of #include, and collects everything that a result depends on because of them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "glsl/digest.hpp"

namespace weft::glsl {

inline constexpr std::size_t kMaxIncludeDepth = 64;
inline constexpr std::size_t kMaxIncludes = 10000;  // of one shader; repeated includes count
inline constexpr std::string_view kOwnInclude = "weft.glsl";

/// Text of weft.glsl.
std::string_view own_include_text();

/// A file that was read, or a path without a file. A result is valid as long as no dependency changes.
struct Dependency {
    std::filesystem::path path;  // absolute
    bool present = false;
    Digest digest{};  // of the bytes, where present
    bool operator==(const Dependency&) const = default;
};

/// The file that an #include found. `text` lives as long as the search.
struct Included {
    std::string name;  // in messages
    std::string_view text;
    std::string refused;  // empty: found
};

/// Where a search starts. Names in messages stay as the user wrote them.
struct SearchRoots {
    std::string name;                     // of the source, in messages
    std::filesystem::path working;        // absolute
    std::filesystem::path source_folder;  // as given; files are looked up there if `has_folder`
    bool has_folder = false;
    std::vector<std::filesystem::path> include_dirs;  // as given
};

/// The paths to try for `requested`, in order, as messages show them. Pure.
std::vector<std::filesystem::path> include_places(const std::filesystem::path& requested, bool quoted,
                                                  const std::filesystem::path* including_folder,
                                                  const std::vector<std::filesystem::path>& include_dirs);

class IncludeSearch {
  public:
    explicit IncludeSearch(SearchRoots roots);

    /// `depth` is 1 for an include of the source itself.
    Included find(const std::string& requested, bool quoted, std::size_t depth);

    /// In order of first use.
    const std::vector<Dependency>& dependencies() const { return dependencies_; }

  private:
    /// A file that is being compiled, from the source inwards.
    struct Level {
        std::string name;
        std::filesystem::path folder;
        bool has_folder = false;
    };
    struct File {
        std::string text;
        std::string refused;
        bool absent = false;
    };

    const File& read(const std::filesystem::path& shown);
    Included look_up(const std::string& requested, bool quoted, std::size_t depth);
    std::string too_deep(const std::string& name) const;

    SearchRoots roots_;
    std::vector<Level> chain_;
    std::map<std::filesystem::path, File>
        files_;  // each file is read once, so that a compilation sees one state
    std::vector<Dependency> dependencies_;
    std::size_t includes_ = 0;
    std::string failed_;  // the compiler asks for a quoted include that was not found again as <...>
    std::string failed_reason_;
};

}  // namespace weft::glsl
