// SPDX-License-Identifier: BSD-3-Clause
// Construction and destruction of groups, as a client asks its server for them. On the loop.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/exchange/exchange.hpp"
#include "core/exchange/proc_list.hpp"
#include "core/groups/meeting.hpp"
#include "framework/base/descriptor_claim.hpp"
#include "framework/base/mutex.hpp"
#include "framework/base/unique_fd.hpp"

namespace muster {

class Events;

class GroupClient {
  public:
    GroupClient(Exchange& exchange, Events& events);
    ~GroupClient();
    GroupClient(const GroupClient&) = delete;
    GroupClient& operator=(const GroupClient&) = delete;

    /// Takes the page of the job's meeting, as received from the server of this user. Before the loop runs.
    void take_page(UniqueFd page, std::optional<uid_t> owner);
    /// Sends the server the decisions of this process's handlers about a construction in which a participant
    /// has failed. Before the client connects.
    void watch_constructions();
    /// From now on all operations go by the server. Any thread.
    void close();

    /// PMIx_Group_construct. With empty `asked` the leaders of a bootstrap add the caller. The
    /// answer's infos are the results: PMIX_GROUP_ID, PMIX_GROUP_MEMBERSHIP and, where one was assigned,
    /// PMIX_GROUP_CONTEXT_ID; none after a failure. `plain`, if given, is set to whether the server sent only
    /// a status and a context id.
    void construct(const std::string& id, ProcListPtr asked, Info info, MeetingNote note, HostDone done,
                   std::shared_ptr<bool> plain = nullptr);
    /// PMIx_Group_destruct.
    void destruct(const std::string& id, Info info, MeetingNote note, HostDone done);

    /// The same in shared memory with the other processes of the job, if this call can use it and all of them
    /// do (docs/explanation/groups.md). Nothing if the server has to be asked; `note` then has the server's
    /// part. They block, so not on the loop.
    std::optional<HostAnswer> construct_in_memory(const std::string& id, const ProcListPtr& asked,
                                                  InfoView directives, MeetingNote& note);
    std::optional<HostAnswer> destruct_in_memory(const std::string& id, InfoView directives,
                                                 MeetingNote& note);

  private:
    std::shared_ptr<Meeting> meeting();
    void attach() MUSTER_REQUIRES(lock_);
    std::shared_ptr<Meeting> open_meeting();
    template <class Ask>
    std::optional<HostAnswer> ask_for_all(Meeting& meeting, const std::shared_ptr<bool>& plain, Ask ask);

    Exchange& exchange_;
    Events& events_;
    Mutex lock_;
    DescriptorClaim claim_ MUSTER_GUARDED_BY(lock_);       ///< to page_, which the program may have closed
    UniqueFd page_ MUSTER_GUARDED_BY(lock_);               ///< from the server, until it is mapped
    std::optional<uid_t> owner_ MUSTER_GUARDED_BY(lock_);  ///< the user of the server
    std::shared_ptr<Meeting> meeting_ MUSTER_GUARDED_BY(lock_);
};

/// The results of a construction.
Info group_results(const std::string& id, const ProcList& members, std::optional<size_t> context_id);
/// Whether the group no longer exists after a destruct with this answer.
bool ends_group(pmix_status_t status);

}  // namespace muster
