// libcurl for Swift. Only FeedbusHTTP imports this. Variadic calls get static inline faces here.
#pragma once
#include <curl/curl.h>

static inline CURLcode feedbus_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode feedbus_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

// For options that take a pointer to data: libcurl keeps the pointer.
static inline CURLcode feedbus_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode feedbus_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode feedbus_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

typedef size_t (*feedbus_curl_receive)(char *bytes, size_t size, size_t count, void *context);

// For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
static inline CURLcode feedbus_curl_set_receiver(CURL *handle, CURLoption option, feedbus_curl_receive value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode feedbus_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode feedbus_curl_get_size(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode feedbus_curl_get_pointer(CURL *handle, void **value) {
    return curl_easy_getinfo(handle, CURLINFO_PRIVATE, (char **)value);
}

static inline CURLMcode feedbus_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode feedbus_curl_multi_set_callbacks(CURLM *multi, curl_socket_callback on_socket,
                                                         curl_multi_timer_callback on_timer, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return code;
}

// What the library that is loaded can do (the header's constant for "now" is a macro that Swift cannot read).
static inline const curl_version_info_data *feedbus_curl_version(void) { return curl_version_info(CURLVERSION_NOW); }

// Sockets are opened and closed by `open` and `close`, which get the context.
static inline CURLcode feedbus_curl_set_sockets(CURL *handle, curl_opensocket_callback open,
                                                curl_closesocket_callback close, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, close);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, context);
    return code;
}
