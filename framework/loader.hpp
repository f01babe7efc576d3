// SPDX-License-Identifier: BSD-3-Clause
// Finds and opens the files of components (mca_<framework>_<name>.so). The only user of libltdl: one lock
// around it, absolute paths only, local binding; a file that was opened is never closed. A name that is a
// link to the library beside its folder is a component in that (docs/decisions/0021).
#pragma once

#include <pmix/sdk/component.h>

#include <string>
#include <string_view>
#include <vector>

#include "framework/base/result.hpp"

namespace muster {

/// A file that by its name is a component.
struct ComponentFile {
    std::string framework;
    std::string name;  ///< of the component
    std::string path;  ///< absolute
};

/// The component files of all frameworks, in the folders' order and by their names within a folder; what is
/// in several folders comes several times. Folders that are missing are passed over; so are those that
/// another user can change, with a sentence for each in `passed_over` (may be null). Trusted are root, the
/// user who runs, and the owner of the library. Any thread.
std::vector<ComponentFile> find_component_files(const std::vector<std::string>& folders,
                                                std::vector<std::string>* passed_over = nullptr);

/// Opens a component's file, asks it for its descriptor and checks that. The descriptor lives as long as the
/// process. `privileged`: file and folders must belong to root and be writable by nobody else. In other
/// processes file and folder must not be another user's to change. The error is one sentence: path, versions,
/// cure. Any thread.
Result<const muster_component_t*> open_component_file(const ComponentFile& file, bool privileged);

/// Whether a descriptor is one that this library can use, and of the component that was asked for (any of the
/// framework's when `name` is empty). `origin` is for the message: a path, or "linked in".
Result<void> check_descriptor(const muster_component_t* descriptor, std::string_view framework,
                              std::string_view name, const std::string& origin);

/// The path without links, if it and all folders above it belong to root and can be changed by nobody else.
Result<std::string> path_only_root_can_change(const std::string& path);

}  // namespace muster
