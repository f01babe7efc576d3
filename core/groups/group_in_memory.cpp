// SPDX-License-Identifier: BSD-3-Clause
// Groups of all processes of a job, made and ended in memory: see group_client.hpp.
#include <memory>
#include <new>
#include <vector>

#include "core/exchange/group_table.hpp"
#include "core/groups/construct.hpp"
#include "core/groups/group_client.hpp"
#include "core/runtime/completion.hpp"

namespace muster {
namespace {

/// Whether each rank of a job of this size is in, once.
bool are_all(const std::vector<RankRun>& runs, uint32_t size) {
    std::vector<bool> in(size);
    size_t count = 0;
    for (const RankRun& run : runs) {
        if (uint64_t{run.first} + run.count > size) return false;
        for (uint32_t i = 0; i < run.count; ++i, ++count) {
            if (in[run.first + i]) return false;
            in[run.first + i] = true;
        }
    }
    return count == size;
}

/// The one directive that construct may have in memory: whether a context id is wanted. False for others.
bool only_wants_id(InfoView directives, bool& wants_id) {
    wants_id = false;
    if (directives.empty()) return true;
    if (directives.size > 1 || !key_is(directives[0].key, PMIX_GROUP_ASSIGN_CONTEXT_ID)) return false;
    wants_id = directives.is_true(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    return true;
}

/// Runs `task` on the loop, or here if this thread may; waits for it.
void change_on_loop(Runtime& runtime, Task task) {
    if (runtime.run_here(task)) return;
    call_and_wait<bool>(runtime, false, [&](auto deliver) {
        task();
        deliver(true);
    });
}

/// The duty of the process that asks for all: the others wait for it and get a result in every case.
class Duty {
  public:
    explicit Duty(Meeting& meeting) : meeting_(meeting) {}
    Duty(const Duty&) = delete;
    Duty& operator=(const Duty&) = delete;
    ~Duty() {
        if (!done_) meeting_.call_off();
    }
    void tell(const Meeting::Result& result) {
        done_ = true;
        meeting_.tell(result);
    }

  private:
    Meeting& meeting_;
    bool done_ = false;
};

/// Whether a status is the server's word, or at least counts for all.
bool is_for_all(pmix_status_t status) {
    return status != kEachForItself && status != PMIX_ERR_LOST_CONNECTION && status != PMIX_ERR_UNREACH &&
           status != PMIX_ERR_WOULD_BLOCK && status != PMIX_ERR_UNPACK_FAILURE &&
           status != PMIX_ERR_UNPACK_INADEQUATE_SPACE && status != PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER &&
           status != PMIX_ERR_NOMEM;
}

}  // namespace

void GroupClient::take_page(UniqueFd page, std::optional<uid_t> owner) {
    const MutexLock lock(lock_);
    page_ = std::move(page);
    claim_ = DescriptorClaim(page_.get());
    owner_ = owner;
}

/// The meeting for groups of the whole job in shared memory, or null. Any thread.
std::shared_ptr<Meeting> GroupClient::meeting() {
    const MutexLock lock(lock_);
    if (page_) attach();
    return meeting_;
}

/// Most programs make no groups: the page is mapped when it is first needed.
void GroupClient::attach() {
    if (!claim_.holds()) return claim_.close(page_);
    claim_ = DescriptorClaim();
    UniqueFd fd = std::move(page_);
    const pmix_proc_t& self = exchange_.self();
    const auto size = exchange_.store().job_size(self.nspace);
    if (!size || *size > Meeting::kMost || self.rank >= *size) return;
    auto memory = RendezvousPage::attach(std::move(fd), owner_);
    if (!memory) {
        MUSTER_LOG(exchange_.log(), Warning, "%s; groups go by the server", memory.error().text.c_str());
        return;
    }
    // Only the connection reveals an unannounced end of the server: a thread must watch it.
    (*memory)->on_long_wait([&loop = exchange_.loop()] { loop.need_driver(); });
    meeting_ = std::make_shared<Meeting>(std::move(*memory), *size, self.rank);
}

void GroupClient::close() {
    const MutexLock lock(lock_);
    claim_.close(page_);
    if (meeting_) meeting_->close();
}

/// The meeting that this thread may use now, or null. A pending commit must reach the server before the
/// others continue: then the operation goes to the server, too.
std::shared_ptr<Meeting> GroupClient::open_meeting() {
    Upstream* upstream = exchange_.upstream();
    if (upstream == nullptr || !upstream->commits().all_settled()) return nullptr;
    return exchange_.loop().on_loop() || exchange_.loop().stopped() ? nullptr : meeting();
}

/// Asks for all in the meeting, by `ask(deliver)`, and shares the answer with them if `*plain` says that it
/// is only a status and a context id. Returns nothing if each process has to ask.
template <class Ask>
std::optional<HostAnswer> GroupClient::ask_for_all(Meeting& meeting, const std::shared_ptr<bool>& plain,
                                                   Ask ask) {
    Duty duty(meeting);
    HostAnswer answer =
        call_and_wait<HostAnswer>(exchange_.runtime(), answer_of(PMIX_ERR_WOULD_BLOCK), [&](auto deliver) {
            try {
                ask(deliver);
            } catch (const std::bad_alloc&) {
                deliver(answer_of(PMIX_ERR_NOMEM));
            }
        });
    if (answer.status == kEachForItself) return std::nullopt;
    if (is_good(answer.status) ? *plain : is_for_all(answer.status))
        duty.tell({answer.status, answer.info.view().number<uint64_t>(PMIX_GROUP_CONTEXT_ID)});
    return answer;
}

std::optional<HostAnswer> GroupClient::construct_in_memory(const std::string& id, const ProcListPtr& asked,
                                                           InfoView directives, MeetingNote& note) {
    const auto meeting = open_meeting();
    bool wants_id = false;
    if (!meeting || asked->nspace() != nspace_view(exchange_.self().nspace) ||
        !are_all(asked->runs(), meeting->size()) || !only_wants_id(directives, wants_id)) {
        return std::nullopt;
    }
    CallDigest call;
    call.add(wants_id ? 2 : 1);
    call.add(id);
    for (const RankRun& run : asked->runs())
        call.add(uint64_t{run.first} << 32 | run.count);
    const Meeting::Visit visit = meeting->meet(call.value());
    note.number = visit.number;
    if (visit.turn == Meeting::Turn::AskServer) return std::nullopt;
    if (visit.turn == Meeting::Turn::AskForAll) {
        const auto plain = std::make_shared<bool>(false);
        return ask_for_all(*meeting, plain, [&](auto deliver) {
            MeetingNote how = note;
            how.together = true;
            auto copy = Info::copy_of(directives);
            if (!copy) return deliver(answer_of(PMIX_ERR_BAD_PARAM));
            construct(id, asked, std::move(*copy), how, deliver, plain);
        });
    }
    HostAnswer answer = answer_of(visit.result.status);
    if (!is_good(answer.status)) return answer;
    Group group;
    group.id = id;
    group.set_members(*asked);
    group.context_id = visit.result.context_id;
    answer.info = group_results(id, *asked, group.context_id);
    change_on_loop(exchange_.runtime(), [&] { exchange_.groups().add(std::move(group)); });
    return answer;
}

std::optional<HostAnswer> GroupClient::destruct_in_memory(const std::string& id, InfoView directives,
                                                          MeetingNote& note) {
    const auto meeting = open_meeting();
    if (!meeting || !directives.empty() ||
        !exchange_.groups().is_job(id, nspace_view(exchange_.self().nspace), meeting->size()))
        return std::nullopt;
    CallDigest call;
    call.add(3);
    call.add(id);
    const Meeting::Visit visit = meeting->meet(call.value());
    note.number = visit.number;
    if (visit.turn == Meeting::Turn::AskServer) return std::nullopt;
    if (visit.turn == Meeting::Turn::AskForAll) {
        const auto plain = std::make_shared<bool>(true);
        return ask_for_all(*meeting, plain, [&](auto deliver) {
            MeetingNote how = note;
            how.together = true;
            destruct(id, Info(), how, deliver);
        });
    }
    if (ends_group(visit.result.status))
        change_on_loop(exchange_.runtime(), [&] { exchange_.groups().remove(id); });
    return answer_of(visit.result.status);
}

}  // namespace muster
