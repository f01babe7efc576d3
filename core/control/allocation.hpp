// SPDX-License-Identifier: BSD-3-Clause
// Requests to the resource manager: allocations, blocks of resources, and session control (Standard: Job
// Management). The library only passes them on. On the loop.
#pragma once

#include <string>
#include <vector>

#include "core/exchange/exchange.hpp"

namespace muster {

/// Owner of an array of resource units; plain data.
using ResourceUnits = std::vector<pmix_resource_unit_t>;

void request_allocation(Exchange& exchange, pmix_alloc_directive_t directive, Info info, HostDone done);
void request_resource_block(Exchange& exchange, pmix_resource_block_directive_t directive, std::string block,
                            ResourceUnits units, Info info, HostDone done);
void control_session(Exchange& exchange, uint32_t session, Info directives, HostDone done);

/// Registers the handlers of a server: Allocate, ResourceBlock, SessionControl.
void serve_allocations(CommandTable& commands, Host& host);

}  // namespace muster
