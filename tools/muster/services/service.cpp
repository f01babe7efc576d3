// SPDX-License-Identifier: BSD-3-Clause
// What a service does that has no use for a message.
#include "tools/muster/services/service.hpp"

namespace muster::launcher {

void Service::told(uint32_t, Reader&) {}
void Service::job_started(JobRecord&) {}
void Service::proc_ended(JobRecord&, uint32_t) {}
void Service::job_ended(JobRecord&) {}
void Service::node_gone(uint32_t) {}

}  // namespace muster::launcher
