// libcurl for Swift. Only FeedbusHTTP imports this. Variadic calls get static inline faces here.
#pragma once
#include <curl/curl.h>
