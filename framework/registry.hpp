// SPDX-License-Identifier: BSD-3-Clause
// The registry: which components there are, which were chosen, and why. Built at init, passed down; tests
// build their own. Components are opened lazily, when a framework is first asked for.
#pragma once

#include <memory>
#include <optional>
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
class Pmdl;
class Pnet;

/// One component as the registry knows it.
struct ComponentRecord {
    std::string framework, name, version, vendor;
    std::string path;  ///< file it was loaded from; empty when linked in
    int priority = 0;
    uint32_t flags = 0;  ///< MUSTER_COMPONENT_
    uint16_t sdk_major = 0,
             sdk_minor = 0;          ///< component interface it was built for; 0.0 when it was not opened
    uint16_t interface_version = 0;  ///< of the framework's table
    bool chosen = false;
    std::string reason;  ///< one sentence: why it was chosen or not
};

/// An attribute of an init call. Components say which attributes set their parameters
/// (muster_param_attribute_t).
struct InitAttribute {
    std::string key;
    std::string text;        ///< of a string or number, else "a value of type ..."
    bool is_string = false;  ///< the type of the value is PMIX_STRING
    bool is_true = false;    ///< the value means true
};
std::vector<InitAttribute> init_attributes(InfoView info);

class Registry {
  public:
    struct Options {
        const ComponentEntry* linked = nullptr;  ///< table of linked-in components: linked_components()
        std::vector<std::string> folders{};      ///< where component files are looked for, in order
        bool privileged = false;                 ///< raised privileges: files and folders must belong to root
        /// Offered to components through the host table. Null: tasks of a component run at once.
        EventLoop* loop = nullptr;
        std::vector<InitAttribute> attributes{};  ///< of the init call; none in a client
        /// The folders of a process: beside the running library, the installed one, the path parameter
        /// (mca_base_component_path, a colon list). The caller adds linked-in components.
        static Options standard(const Parameters& parameters);
    };

    Registry(Parameters& parameters, Options options);
    ~Registry();
    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;

    /// Components of a framework that may be used, best first, after PMIX_MCA_<framework> (an allow list
    /// "a,b" or a deny list "^a,b"), their priorities (one below 0: only if the allow list names it) and each
    /// component's own decision. `only` narrows the choice to these names, in their order (empty: no
    /// narrowing); it may come from a peer, so it allows nothing. Instances live as long as the registry. A
    /// list PMIX_MCA_<framework> without any existing component is ignored for bfrops, gds, preg and ptl: no
    /// process works without these, and their selection does not affect trust. Loop thread or before the loop
    /// starts.
    std::vector<Ptl*> ptls(std::string_view only = {});
    std::vector<Gds*> stores(std::string_view only = {});
    /// The store of that name, for one in front of it (Gds::behind): also if PMIX_MCA_gds does not name it.
    /// Null if it cannot be used.
    Gds* store_behind(std::string_view name);
    std::vector<Bfrops*> bfrops(std::string_view only = {});
    std::vector<Psec*> psecs(std::string_view only = {});
    std::vector<Preg*> pregs();
    std::vector<Pcompress*> pcompress();
    std::vector<Plog*> plogs();
    std::vector<Pmdl*> pmdls();
    std::vector<Pnet*> pnets();

    /// One sentence for the case that a framework gave nothing: each component and why it is not used.
    /// `only` as above.
    std::string why_none(std::string_view framework, std::string_view only = {});

    /// All known components, for pmix_info, by framework and best first; opens and creates usable components
    /// that were not opened yet. Excluded components are not opened.
    std::vector<ComponentRecord> inventory();
    /// Names of the frameworks.
    static const std::vector<std::string>& frameworks();
    /// Unknown parameters that were set; opens usable components for their parameters. Parameters of unopened
    /// components are not counted.
    std::vector<Parameters::Unknown> unknown_parameters();
    /// The same as lines on standard error, when the user asked for that (mca_base_warn_unknown). `asked`
    /// (MUSTER_CHECK_PARAMETERS): a comma list of names; for these and for those in files also errors in
    /// their values. Called once.
    void warn_unknown_parameters(std::optional<std::string_view> asked = {});
    /// The log of a framework, of "client" or of "server" (of the registry itself for any other name); its
    /// verbosity parameter is <framework>_base_verbose.
    Log& log(std::string_view framework);
    Parameters& parameters();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster
