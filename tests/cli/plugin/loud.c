/* A library that exports more than a plugin may. */
#include <gantry/abi.h>

int another_symbol(void) { return 1; }

const gantry_plugin* gantry_plugin_entry(void) { return 0; }
