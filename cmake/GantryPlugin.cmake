# gantry_add_plugin(<name> SOURCES <file>... [C] [OUTPUT_DIRECTORY <dir>] [NO_MANIFEST])
#
# Builds the plugin <name>.so that exports the one symbol gantry_plugin_entry, and checks that; then lets `gantry`
# write its manifest <name>.gantry.toml beside it (target <name>_manifest, part of "all").
#   C                  the plugin is plain C11: link it without the C++ runtime
#   OUTPUT_DIRECTORY   where both files go; default lib/gantry/plugins in the build tree, from where they are also
#                      installed; with a directory of its own a plugin is not installed
#   NO_MANIFEST        write none (it stands beside the sources by hand, or the plugin is a broken one for a test)
#
# Works inside Gantry's tree and, by find_package(GantrySDK), outside of it.

set(GANTRY_PLUGIN_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")

function(gantry_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "C;NO_MANIFEST" "OUTPUT_DIRECTORY" "SOURCES")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "gantry_add_plugin(${name}): SOURCES missing, or unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(directory "${CMAKE_BINARY_DIR}/lib/gantry/plugins")
  if(arg_OUTPUT_DIRECTORY)
    set(directory "${arg_OUTPUT_DIRECTORY}")
  endif()

  set(exports "${GANTRY_PLUGIN_CMAKE_DIR}/gantry_plugin.map")
  add_library(${name} MODULE ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY "${directory}"
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    LINK_DEPENDS "${exports}")
  if(arg_C)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  endif()
  # Unique symbols of templates would keep g++'s plugins from ever being unloaded, and shared between them.
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_link_libraries(${name} PRIVATE gantry::sdk)
  target_link_options(${name} PRIVATE "LINKER:--version-script=${exports}")
  if(NOT GANTRY_SANITIZE)  # clang leaves the sanitizers' own symbols to the executable
    target_link_options(${name} PRIVATE "LINKER:-z,defs")
  endif()
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND "${CMAKE_COMMAND}" "-DNM=${CMAKE_NM}" "-DPLUGIN=$<TARGET_FILE:${name}>"
            -P "${GANTRY_PLUGIN_CMAKE_DIR}/check_plugin_symbols.cmake"
    VERBATIM)

  set(manifest "${directory}/${name}.gantry.toml")
  set(with_manifest ON)
  if(arg_NO_MANIFEST OR NOT TARGET gantry::gantry)
    set(with_manifest OFF)
  endif()
  if(with_manifest)
    add_custom_command(OUTPUT "${manifest}"
      COMMAND "$<TARGET_FILE:gantry::gantry>" plugin manifest "$<TARGET_FILE:${name}>" -o "${manifest}"
      DEPENDS ${name} gantry::gantry
      COMMENT "Writing ${name}.gantry.toml"
      VERBATIM)
    add_custom_target(${name}_manifest ALL DEPENDS "${manifest}")
    set_property(GLOBAL APPEND PROPERTY GANTRY_PLUGIN_TARGETS ${name}_manifest)
  endif()

  if(NOT arg_OUTPUT_DIRECTORY)
    install(TARGETS ${name} LIBRARY DESTINATION lib/gantry/plugins)
    if(with_manifest)
      install(FILES "${manifest}" DESTINATION lib/gantry/plugins)
    endif()
  endif()
endfunction()
