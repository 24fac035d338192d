#include "csimdjson.h"
#include <simdjson.h>
extern "C" const char *csimdjson_implementation(void) { return ""; }
