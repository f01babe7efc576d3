// SPDX-License-Identifier: BSD-3-Clause
// Finds and opens the files of components (mca_<framework>_<name>.so). The only user of libltdl: one lock
// around it, absolute paths only, local binding; a file that was opened is never closed.
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

/// The component files of all frameworks, in the folders' order and by their names within a folder;
/// components in several folders are listed several times. A folder that other users can change
/// (base/trusted_path.hpp) is skipped, with one sentence in `passed_over`; a missing folder is skipped
/// without one. Any thread.
std::vector<ComponentFile> find_component_files(const std::vector<std::string>& folders,
                                                std::vector<std::string>& passed_over);

/// Opens a component's file, asks it for its descriptor and checks that. The descriptor lives as long as the
/// process. PMIX_ERR_NO_PERMISSIONS: other users can change the file or a folder above it; `privileged`:
/// a user other than root can. The error is one sentence: path, versions, cure. Any thread.
Result<const muster_component_t*> open_component_file(const ComponentFile& file, bool privileged);

/// Whether a descriptor is one that this library can use, and of the component that was asked for (any of the
/// framework's when `name` is empty). `origin` is for the message: a path, or "linked in".
Result<void> check_descriptor(const muster_component_t* descriptor, std::string_view framework,
                              std::string_view name, const std::string& origin);

}  // namespace muster
