// Quoting of names and strings in the text form. Private to host/ir.
#pragma once

#include <string>
#include <string_view>

namespace gantry::detail {

/// A letter or underscore, then letters, digits, underscores.
bool is_identifier(std::string_view s);
/// Can stand after % without quotes: letters, digits and _ . / - only, and not empty.
bool is_plain_name(std::string_view s);
bool is_utf8(std::string_view s);
/// In double quotes, with \" \\ \n \r \t and \xHH. Bytes above 127 stay as they are if the whole is UTF-8.
std::string quoted(std::string_view s);

}  // namespace gantry::detail
