// SPDX-License-Identifier: BSD-3-Clause
// The list of services.
#include "tools/muster/services/services.hpp"

#include "tools/muster/services/announcer.hpp"
#include "tools/muster/services/connections.hpp"
#include "tools/muster/services/control.hpp"
#include "tools/muster/services/debugging.hpp"
#include "tools/muster/services/directory.hpp"
#include "tools/muster/services/forwards.hpp"
#include "tools/muster/services/groups.hpp"
#include "tools/muster/services/job_status.hpp"
#include "tools/muster/services/known_groups.hpp"
#include "tools/muster/services/log_writer.hpp"
#include "tools/muster/services/spawner.hpp"

namespace muster::launcher {

std::map<Topic, std::unique_ptr<Service>> make_services(Hub& hub) {
    std::map<Topic, std::unique_ptr<Service>> services;
    services[Topic::Publish] = std::make_unique<Directory>(hub);
    services[Topic::Connect] = std::make_unique<Connections>(hub);
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
