// SPDX-License-Identifier: BSD-3-Clause
// The registry: which components there are, which were chosen, and why. Built at init, passed down; tests build
// their own. Components are opened lazily, when a framework is first asked for.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/log.hpp"
#include "framework/base/result.hpp"
#include "framework/bfrops.hpp"
#include "framework/gds.hpp"
#include "framework/linked_components.hpp"
#include "framework/parameters.hpp"
#include "framework/ptl.hpp"

namespace muster {

class EventLoop;
class Psec;
class Preg;
class Pcompress;
class Plog;

/// One component as the registry knows it.
struct ComponentRecord {
    std::string framework, name, version, vendor;
    std::string path;      ///< file it was loaded from; empty when linked in
    int priority = 0;
    bool chosen = false;
    std::string reason;    ///< one sentence: why it was chosen or not
};

class Registry {
  public:
    struct Options {
        const ComponentEntry* linked = nullptr;      ///< table of linked-in components
        std::vector<std::string> folders;            ///< where component files are looked for, in order
        bool privileged = false;                     ///< raised privileges: files and folders must belong to root
        EventLoop* loop = nullptr;                   ///< offered to components through the host table; may be null
        /// The folders of a process: beside the running library, the installed one, the path parameter.
        static Options standard(const Parameters& parameters);
    };

    Registry(Parameters& parameters, Options options);
    ~Registry();
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;

    /// Components of a framework that may be used, best first, after PMIX_MCA_<framework> (an allow list "a,b" or a deny
    /// list "^a,b") and each component's own word. `only` narrows the choice to these names, in their order
    /// (empty: no narrowing). Instances live as long as the registry. Loop thread or before the loop starts.
    std::vector<Ptl*> ptls(std::string_view only = {});
    std::vector<Gds*> stores(std::string_view only = {});
    std::vector<Bfrops*> bfrops(std::string_view only = {});
    std::vector<Psec*> psecs(std::string_view only = {});
    std::vector<Preg*> pregs();
    std::vector<Pcompress*> pcompress();
    std::vector<Plog*> plogs();

    /// Everything that is known, for pmix_info; opens what was not opened yet.
    std::vector<ComponentRecord> inventory();
    /// The log of a framework; its verbosity parameter is <framework>_base_verbose.
    Log& log(std::string_view framework);
    Parameters& parameters();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster
