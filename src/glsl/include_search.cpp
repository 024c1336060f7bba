// SPDX-License-Identifier: Apache-2.0
#include "glsl/include_search.hpp"

#include <utility>

#include "glsl/source_file.hpp"

namespace weft::glsl {

namespace {

constexpr char kOwnText[] =
#include "glsl/own_include.inc"
    ;

std::string listed(const std::vector<std::filesystem::path>& places) {
    std::string text;
    for (const auto& place : places) text += (text.empty() ? "" : ", ") + place.string();
    return text.empty() ? "no folder" : text;
}

}  // namespace

std::string_view own_include_text() {
    return kOwnText;
}

std::vector<std::filesystem::path> include_places(const std::filesystem::path& requested, bool quoted,
                                                  const std::filesystem::path* including_folder,
                                                  const std::vector<std::filesystem::path>& include_dirs) {
    std::vector<std::filesystem::path> places;
    if (quoted && including_folder != nullptr) places.push_back(*including_folder / requested);
    // A program that compiles shaders of others names the folders that these may read.
    const std::filesystem::path normal = requested.lexically_normal();
    const bool below = requested.is_relative() && (normal.empty() || *normal.begin() != "..");
    for (const auto& folder : include_dirs)
        if (below) places.push_back(folder / requested);
    return places;
}

IncludeSearch::IncludeSearch(SearchRoots roots) : roots_(std::move(roots)) {
    chain_.push_back({roots_.name, roots_.source_folder, roots_.has_folder});
}

const IncludeSearch::File& IncludeSearch::read(const std::filesystem::path& shown) {
    const std::filesystem::path absolute = roots_.working / shown;
    const auto known = files_.find(absolute);
    if (known != files_.end()) return known->second;
    core::FileRead read = core::read_file(absolute, kMaxSourceBytes);
    File file;
    file.absent = read.absent();
    file.refused = std::move(read.refused);
    if (file.refused.empty() || file.absent)
        dependencies_.push_back({absolute, !file.absent, file.absent ? Digest{} : digest_of(read.bytes)});
    if (file.refused.empty()) file.refused = refuse_text(read.bytes);
    file.text = std::move(read.bytes);
    return files_.emplace(absolute, std::move(file)).first->second;
}

std::string IncludeSearch::too_deep(const std::string& name) const {
    for (std::size_t i = chain_.size(); i-- > 0;) {
        if (chain_[i].name != name) continue;
        std::string cycle;
        for (std::size_t j = i; j < chain_.size(); ++j) cycle += chain_[j].name + " -> ";
        return "include cycle: " + cycle + name;
    }
    return "includes are nested too deep (need at most " + std::to_string(kMaxIncludeDepth) + ")";
}

Included IncludeSearch::find(const std::string& requested, bool quoted, std::size_t depth) {
    if (!quoted && requested == failed_) return {{}, {}, failed_reason_};
    // Files that are finished leave the chain.
    if (depth >= 1 && depth < chain_.size()) chain_.resize(depth);
    Included included = look_up(requested, quoted, chain_.size());
    // A source begins with #version, which is allowed nowhere else, so a guard cannot make this include
    // valid.
    const bool whole = roots_.has_folder && included.name == chain_.front().name;
    if (included.refused.empty() && (whole || chain_.size() > kMaxIncludeDepth))
        included.refused = too_deep(included.name);
    if (included.refused.empty() && ++includes_ > kMaxIncludes)
        included.refused = "too many includes (need at most " + std::to_string(kMaxIncludes) + ")";
    if (!included.refused.empty()) {
        failed_ = requested;
        failed_reason_ = included.refused;
        return included;
    }
    const bool has_folder = included.text.data() != own_include_text().data();
    chain_.push_back({included.name, std::filesystem::path(included.name).parent_path(), has_folder});
    return included;
}

Included IncludeSearch::look_up(const std::string& requested, bool quoted, std::size_t depth) {
    const Level& from = chain_[depth - 1];
    if (requested.empty()) return {{}, {}, "names no file"};
    const auto places =
        include_places(requested, quoted, from.has_folder ? &from.folder : nullptr, roots_.include_dirs);
    for (const auto& place : places) {
        const File& file = read(place);
        if (file.absent) continue;
        if (!file.refused.empty()) return {{}, {}, place.string() + ": " + file.refused};
        return {place.string(), file.text, {}};
    }
    if (requested == kOwnInclude) return {std::string(kOwnInclude), own_include_text(), {}};
    if (places.empty() && !roots_.include_dirs.empty())
        return {{}, {}, "leads out of include_dirs (need a name below one of these folders)"};
    return {{}, {}, "not found (looked for " + listed(places) + ")"};
}

}  // namespace weft::glsl
