// The private file tree of a sandbox.
#pragma once

#include <vector>

#include "options.h"

namespace sandbox {

/// Replaces the root of the mount namespace by a tmpfs that holds only `tree`, /proc and /dev. Everything but the
/// entries asked for as read-write is read-only, also the root itself. Called by process 1 of the new namespaces.
void build_mount_tree(const std::vector<TreeEntry>& tree);

}  // namespace sandbox
