# cmake -DNM=nm -DPLUGIN=file.so -P check_plugin_symbols.cmake
# Fails unless the library's only exported symbol is gantry_plugin_entry.
execute_process(COMMAND "${NM}" -D --defined-only --format=posix "${PLUGIN}"
  OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${listing}")
set(symbols "")
foreach(line IN LISTS lines)
  string(REGEX REPLACE " .*" "" symbol "${line}")
  list(APPEND symbols "${symbol}")
endforeach()
if(NOT symbols STREQUAL "gantry_plugin_entry")
  message(FATAL_ERROR "${PLUGIN} must export gantry_plugin_entry and nothing else; it exports: ${symbols}")
endif()
