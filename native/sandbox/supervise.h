// Waiting for one child: by the launcher outside, and by process 1 inside.
#pragma once

#include <signal.h>

namespace sandbox {

/// SIGCHLD and the signals that are passed on.
sigset_t handled_signals();
/// Exit code for a wait status: the command's own, or 128 + signal.
int exit_code(int status);

/// Blocks the signals `supervise` handles; call before the fork, so that none is lost.
void block_signals();
/// Gives a child its default signals back before exec.
void unblock_signals();

/// Waits until `child` ends, passes TERM, INT, HUP, QUIT, USR1 and USR2 on to it, reaps every other child as well.
/// Returns the exit code, 128 + signal for a killed child.
int supervise(int child);

}  // namespace sandbox
