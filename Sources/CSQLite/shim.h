// SQLite for Swift. Only FeedbusStore imports this.
#pragma once
#include <sqlite3.h>
