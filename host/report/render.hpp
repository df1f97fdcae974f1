// Draws a Report: the table at the end of `gantry convert` (at most 12 lines) and JSON.
#pragma once

#include <string>

#include "host/report/report.hpp"

namespace gantry {

/// Table for people, at most 12 lines, no last line "gantry: ok ..." (last_line gives that).
std::string render_table(const Report& r);
/// "gantry: ok ..." or "gantry: failed E0213 ...", without a line feed.
std::string last_line(const Report& r);
/// One transpose or reshape that stays: what it moves, who disagrees, what removing it would take. Several lines.
std::string render_move(const MoveRecord& m);
/// Stable keys, documented in docs/cli.md.
std::string render_json(const Report& r);

}  // namespace gantry
