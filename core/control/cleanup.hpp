// SPDX-License-Identifier: BSD-3-Clause
// Files and directories that processes asked to have removed when they, or their job, have ended
// (PMIX_REGISTER_CLEANUP and its company). Belongs to the loop of a server.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "framework/base/info.hpp"
#include "framework/base/keyed_hash.hpp"
#include "framework/base/proc.hpp"

namespace muster {

class FileWorker;

class Cleanups {
  public:
    /// Removing takes place there, one end after the other.
    explicit Cleanups(FileWorker& worker) : worker_(worker) {}
    /// Removes all registered paths: the jobs end with their server.
    ~Cleanups();

    /// Whether the attribute is one of these.
    static bool is_directive(const pmix_info_t& info);

    /// Registers the cleanup in `directives`, on behalf of user `uid`, for the end of each of `targets` (rank
    /// WILDCARD: of its job). PMIX_ERR_BAD_PARAM for a path that is not a text or not absolute,
    /// PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES for a path to be both kept and removed,
    /// PMIX_ERR_OUT_OF_RESOURCE for too many paths of one target; earlier targets are registered then.
    pmix_status_t add(const std::vector<Proc>& targets, uint32_t uid, uint32_t gid, InfoView directives);

    /// A process of this node, or all processes of a job, have ended. Their registered paths are removed
    /// asynchronously; FileWorker::settled() reports the end.
    void ended(const pmix_proc_t& proc);
    void ended(const char* nspace);

  private:
    struct Directory {
        std::string path;
        bool recursive = false;
        bool only_empty = false;
        bool leave_top = false;
    };
    /// The paths of one call, shared by all its targets, since both lists may be long.
    struct Wish {
        std::vector<std::string> files;
        std::vector<Directory> directories;
        TextSet ignored;
        size_t paths() const { return files.size() + directories.size() + ignored.size(); }
        pmix_status_t read(InfoView directives);
        /// Whether a path is in both.
        static bool removes_any(const TextSet& ignored, const ViewSet& removed);
    };
    using WishPtr = std::shared_ptr<const Wish>;
    /// The paths that one user registered for one target. Only files of that user are removed, with the
    /// rights of that user.
    struct Epilog {
        uint32_t uid = 0;
        uint32_t gid = 0;
        size_t paths = 0;
        std::vector<WishPtr> wishes;
        std::vector<WishPtr> ignoring;  ///< those that have paths to be left
        void run() const;
    };
    void run(std::vector<Epilog>&& epilogs);

    FileWorker& worker_;
    std::unordered_map<Proc, std::vector<Epilog>> epilogs_;
};

}  // namespace muster
