// SPDX-License-Identifier: BSD-3-Clause
// Functions that all services use, and the list of services.
#include "tools/muster/services/service.hpp"

#include <fmt/format.h>
#include <pmix.h>
#include <signal.h>

#include <algorithm>

#include "tools/muster/base/report.hpp"
#include "tools/muster/services/announcer.hpp"
#include "tools/muster/services/collectives.hpp"
#include "tools/muster/services/control.hpp"
#include "tools/muster/services/debugging.hpp"
#include "tools/muster/services/directory.hpp"
#include "tools/muster/services/forwards.hpp"
#include "tools/muster/services/groups.hpp"
#include "tools/muster/services/job_status.hpp"
#include "tools/muster/services/spawner.hpp"

namespace muster::launcher {
namespace {

/// Writes to muster's own standard output and error, for the text of any node. The question: whether
/// it is for standard error, and the text.
class LogWriter final : public Service {
  public:
    explicit LogWriter(Hub& hub) : Service(hub) {}
    void asked(Asker asker, Buffer& in) override {
        bool error = false;
        std::string text;
        if (!in.unpack(error, text)) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
        hub_.show(error, text);
        hub_.answer(asker, PMIX_SUCCESS);
    }
};

/// Direct modex: asks the node of a process for its data. The question: a process, and a time limit in
/// seconds (0: none), which is not passed to a node. The answer: the data.
class Modexes final : public Service {
  public:
    explicit Modexes(Hub& hub) : Service(hub) {}
    void asked(Asker asker, Buffer& in) override;

  private:
    struct Modex {
        Asker asker;
        Watch timer;
    };
    void answer(uint64_t number, int32_t status, const Buffer& body = {});

    std::map<uint64_t, Modex> modexes_;
    uint64_t next_ = 1;
};

void Modexes::asked(Asker asker, Buffer& in) {
    ProcName proc;
    uint32_t seconds = 0;
    if (!in.unpack(proc, seconds)) return hub_.answer(asker, PMIX_ERR_BAD_PARAM);
    const JobRecord* record = hub_.jobs.find(proc.nspace);
    if (record == nullptr || proc.rank >= record->job.size()) return hub_.answer(asker, PMIX_ERR_NOT_FOUND);
    const uint64_t number = next_++;
    Modex& modex = modexes_[number];
    modex.asker = asker;
    if (seconds > 0) {
        modex.timer = hub_.loop.after(std::chrono::seconds(seconds),
                                      [this, number] { answer(number, PMIX_ERR_TIMEOUT); });
    }
    hub_.ask(record->job.places[proc.rank].node, Topic::Modex, pack(proc),
             [this, number](pmix_status_t status, Buffer& data) { answer(number, status, data); });
}

void Modexes::answer(uint64_t number, int32_t status, const Buffer& body) {
    auto found = modexes_.extract(number);
    if (!found.empty()) hub_.answer(found.mapped().asker, status, body);
}

}  // namespace

std::string Hub::next_nspace() const {
    return fmt::format("{}@{}", launcher.nspace, jobs.next_number());
}

void Hub::end_ranks(const std::vector<ProcId>& procs, bool at_once) {
    for (const ProcId& proc : procs) {
        if (RankState* rank = jobs.find(proc)) rank->dismissed = true;
    }
    if (at_once) return signal(SIGKILL, procs);
    signal(SIGTERM, procs);
    signal(SIGCONT, procs);  // those that are stopped see it, too
    const auto place = forced_ends.emplace(forced_ends.end());
    *place = loop.after(kEndPatience, [this, procs, place] {
        signal(SIGKILL, procs);
        forced_ends.erase(place);  // and the objects that this function owns
    });
}

void Hub::give_input(ProcId proc, std::string_view bytes) {
    const JobRecord* record = jobs.find(proc.job);
    if (record == nullptr || proc.rank >= record->job.places.size()) return;
    tell(record->job.places[proc.rank].node, Topic::Input, pack(proc, bytes));
}

void Service::asked(Asker asker, Buffer&) {
    hub_.answer(asker, PMIX_ERR_NOT_SUPPORTED);
}

bool names(const std::vector<ProcName>& procs, const ProcName& proc) {
    return std::ranges::any_of(procs, [&](const ProcName& one) {
        return one.nspace == proc.nspace && (one.rank == proc.rank || one.rank == PMIX_RANK_WILDCARD);
    });
}

std::map<Topic, std::unique_ptr<Service>> make_services(Hub& hub, Report& report) {
    std::map<Topic, std::unique_ptr<Service>> services;
    services[Topic::Fence] = std::make_unique<Collectives>(
        hub, [&report](const Collectives::Request&, Report::Clock::time_point begin, size_t size) {
            report.fence(Report::Clock::now() - begin, size);
        });
    services[Topic::Connect] = std::make_unique<Collectives>(
        hub, [&hub](const Collectives::Request& request, Report::Clock::time_point, size_t) {
            link_jobs(hub.jobs, request);
        });
    services[Topic::Modex] = std::make_unique<Modexes>(hub);
    services[Topic::Publish] = std::make_unique<Directory>(hub);
    services[Topic::Group] = std::make_unique<Groups>(hub);
    services[Topic::KnownGroups] = std::make_unique<KnownGroups>(hub);
    services[Topic::Spawn] = std::make_unique<Spawner>(hub);
    services[Topic::Event] = std::make_unique<Announcer>(hub);
    services[Topic::Query] = std::make_unique<JobStatusService>(hub);
    services[Topic::Control] = std::make_unique<Control>(hub);
    services[Topic::Forward] = std::make_unique<Forwards>(hub);
    services[Topic::Debug] = std::make_unique<Debugging>(hub);
    services[Topic::Log] = std::make_unique<LogWriter>(hub);
    return services;
}

}  // namespace muster::launcher
