// SPDX-License-Identifier: BSD-3-Clause
// The addresses of TCP.
#pragma once

#include "framework/base/internet_address.hpp"

namespace muster::tcp {

using Address = InternetAddress;

}  // namespace muster::tcp
