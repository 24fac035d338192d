// libuv for Swift. Only FeedbusLoop imports this.
#pragma once
#include <uv.h>
