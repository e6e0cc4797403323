// stats.hpp: both pools, connections and searches as JSON.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "service.hpp"

namespace service {

/// What GET /stats answers, and GET /events tells again and again.
nlohmann::ordered_json stats_json(const service_state& service);

}  // namespace service
