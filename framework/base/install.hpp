// SPDX-License-Identifier: BSD-3-Clause
// The location of the running code, from the file that this function was loaded from, so that a copied or
// moved tree works; and whether the process runs with raised privileges.
#pragma once

#include <string>

namespace muster {

/// Folders of the running installed tree. Empty strings if the loader cannot determine them.
struct InstallPaths {
    std::string image;       ///< file that holds this code: libpmix.so.2.x, or a program it is linked into
    std::string loaded;      ///< the same by the name that the dynamic linker knows; "" for a program
    std::string prefix;      ///< the prefix of the installation, or the parent folder of the file's
    std::string components;  ///< pmix/ beside the library; for a program below its prefix
    std::string system_parameter_file;  ///< pmix-mca-params.conf in the folder of configuration
};

/// Any thread.
const InstallPaths& install_paths();

/// Set-user-ID and the like: environment and the user's files are then untrusted. Any thread.
bool process_is_privileged();

}  // namespace muster
