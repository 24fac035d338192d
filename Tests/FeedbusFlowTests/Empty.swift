// feedbus: tests of the reactive core.

import Testing
