// Work that may crash or hang, in a process of its own: a forked child whose result comes back through a pipe.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "host/ir/result.hpp"

namespace gantry {

struct IsolateOptions {
  std::string who;               // "ONNX Runtime 1.32.0": the subject of messages
  std::string place;             // file, for messages
  double timeout_seconds = 600;  // 0 = wait for ever
};

/// Runs `work` in a child process and returns what it returned there. What the child writes to stdout and stderr is
/// collected, and errors quote it. The child has a copy of the caller's memory; nothing that it changes comes back.
///
/// The caller should have no other threads, since a lock that one holds stays locked in the child.
/// Errors: those of `work`; verify_runtime, if the child crashed (with the signal), ended early or took too long.
Result<std::vector<std::byte>> run_isolated(const std::function<Result<std::vector<std::byte>>()>& work,
                                            const IsolateOptions& options);

/// What a person should see of a runtime's log: without lines of information, marks of files, colours; at most a few
/// hundred bytes in one line.
std::string condense_log(const std::string& log);

}  // namespace gantry
