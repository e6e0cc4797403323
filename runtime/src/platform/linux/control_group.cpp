// control_group.cpp: the quota files of control groups, versions 1 and 2.
// SPDX-License-Identifier: MIT
#include "platform/linux/control_group.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace tandem::inline v0::platform {

namespace {

constexpr long long most_cpus = 4096;

/// 0 if there is no limit.
unsigned cpus_of_quota(long long quota_us, long long period_us) noexcept {
  if (quota_us <= 0 || period_us <= 0) return 0;
  return static_cast<unsigned>(std::clamp(quota_us / period_us, 1LL, most_cpus));
}

unsigned smaller_limit(unsigned a, unsigned b) noexcept {
  if (a == 0) return b;
  if (b == 0) return a;
  return std::min(a, b);
}

unsigned quota_of_v2_group(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  std::string quota;
  long long period_us = 0;
  if (!(file >> quota >> period_us)) return 0;
  long long quota_us = 0;
  const char* const end = quota.data() + quota.size();
  const auto [stopped, error] = std::from_chars(quota.data(), end, quota_us);
  if (error != std::errc{} || stopped != end) return 0;  // "max", for one
  return cpus_of_quota(quota_us, period_us);
}

unsigned quota_of_v1_group(const std::string& folder) {
  long long quota_us = 0;
  long long period_us = 0;
  std::ifstream quota(folder + "/cpu.cfs_quota_us");
  std::ifstream period(folder + "/cpu.cfs_period_us");
  if (!(quota >> quota_us) || !(period >> period_us)) return 0;
  return cpus_of_quota(quota_us, period_us);
}

/// The tightest quota on the path from `path` up to the root of the hierarchy.
unsigned tightest(const std::string& root, std::string path,
                  unsigned (*quota)(const std::string&)) {
  unsigned limit = quota(root);
  while (path.size() > 1) {
    limit = smaller_limit(limit, quota(root + path));
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) break;  // no path at all
    path.resize(slash);
  }
  return limit;
}

}  // namespace

unsigned cpus_of_control_groups(const std::string& groups, const std::string& mount) {
  std::ifstream lines(groups);
  std::string line;
  unsigned limit = 0;
  while (std::getline(lines, line)) {
    // number:controllers:path; version 2 has no controllers.
    const auto first = line.find(':');
    if (first == std::string::npos) continue;
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      limit = smaller_limit(limit, tightest(mount, path, quota_of_v2_group));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      limit = smaller_limit(limit, tightest(mount + "/cpu", path, quota_of_v1_group));
    }
  }
  return limit;
}

}  // namespace tandem::inline v0::platform
