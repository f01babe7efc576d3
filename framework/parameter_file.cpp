// SPDX-License-Identifier: BSD-3-Clause
// Files of parameters: see parameter_file.hpp.
#include "framework/parameter_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "framework/base/trusted_path.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster {
namespace {

// More are not worth a reader's time; the file is broken as a whole.
constexpr size_t kMaxComplaints = 20;

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_space(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && is_space(text.back()))
        text.remove_suffix(1);
    return text;
}

// Why the line cannot be understood; nullptr when `name` and `value` have been set.
const char* split_line(std::string_view line, std::string_view& name, std::string_view& value) {
    const size_t equal = line.find('=');
    if (equal == std::string_view::npos) return "expected 'name = value'";
    name = trim(line.substr(0, equal));
    value = trim(line.substr(equal + 1));
    if (name.empty()) return "there is no name before '='";
    if (!std::all_of(name.begin(), name.end(), is_name_character)) {
        return "a name is made of letters, digits, '_', '-' and '.'";
    }
    if (name.size() > kMaxParameterName) return "the name is too long";
    if (value.size() > kMaxParameterValue) return "the value is too long";
    if (std::any_of(value.begin(), value.end(), is_control)) return "the value has control characters";
    return nullptr;
}

}  // namespace

ParameterFile parse_parameter_file(std::string_view text, std::string_view path) {
    ParameterFile file;
    for (size_t number = 1; !text.empty(); ++number) {
        const size_t end = text.find('\n');
        const std::string_view line = trim(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        if (line.empty() || line.front() == '#' || line.starts_with("//")) continue;
        std::string_view name;
        std::string_view value;
        if (const char* why = split_line(line, name, value); why == nullptr) {
            file.entries.push_back({std::string(name), std::string(value), number});
        } else if (file.complaints.size() < kMaxComplaints) {
            file.complaints.push_back(std::string(path) + ":" + std::to_string(number) + ": " + why +
                                      "; the line is ignored");
        }
    }
    return file;
}

Result<ParameterFile> read_parameter_file(const std::string& path, ParameterFileOwner owner) {
    // O_NONBLOCK: a FIFO in the file's place must not stop us.
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) {
        if (errno == ENOENT || errno == ENOTDIR) return Error{PMIX_ERR_NOT_FOUND, path + " does not exist"};
        return Error{PMIX_ERROR, path + " cannot be read: " + std::strerror(errno)};
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return Error{PMIX_ERROR, path + " is not a regular file and is ignored"};
    }
    if (owner == ParameterFileOwner::Root &&
        (status.st_uid != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
        return Error{PMIX_ERR_NO_PERMISSIONS,
                     path +
                         " is ignored by a process with raised privileges: it must belong "
                         "to root and not be writable by others"};
    }
    if (owner == ParameterFileOwner::Trusted) {
        if (const std::string why = why_not_trusted(status); !why.empty())
            return Error{PMIX_ERR_NO_PERMISSIONS,
                         path + " is passed over: it " + why + "; change its owner or mode"};
    }
    std::string text;
    // The size that the system reports may change while the file is read, so only the bytes count.
    char block[4096];
    for (;;) {
        const ssize_t got = ::read(fd.get(), block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return Error{PMIX_ERROR, path + " cannot be read: " + std::strerror(errno)};
        if (got == 0) break;
        text.append(block, static_cast<size_t>(got));
        if (text.size() > kMaxParameterFile) {
            return Error{PMIX_ERROR, path + " is ignored: it is longer than " +
                                         std::to_string(kMaxParameterFile) + " bytes"};
        }
    }
    return parse_parameter_file(text, path);
}

}  // namespace muster
