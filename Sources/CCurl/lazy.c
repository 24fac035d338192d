// feedbus: libcurl, loaded when the first of its functions is called.
//
// It brings some thirty libraries with it (TLS, Kerberos, LDAP, SSH), whose loading costs more than half of the program's
// start and some megabytes; a config that reads files and children needs none of it. These are libcurl's functions under
// their own names, for this program alone: hidden, so that neither libcurl itself nor a plugin ever finds them.

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Every function that Sources/FeedbusHTTP uses: result, name, parameters, arguments.
#define FUNCTIONS(F) \
    F(CURLcode, curl_global_init, (long flags), (flags)) \
    F(curl_version_info_data *, curl_version_info, (CURLversion age), (age)) \
    F(CURL *, curl_easy_init, (void), ()) \
    F(void, curl_easy_reset, (CURL * handle), (handle)) \
    F(void, curl_easy_cleanup, (CURL * handle), (handle)) \
    F(const char *, curl_easy_strerror, (CURLcode code), (code)) \
    F(CURLM *, curl_multi_init, (void), ()) \
    F(CURLMcode, curl_multi_cleanup, (CURLM * multi), (multi)) \
    F(CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL * handle), (multi, handle)) \
    F(CURLMcode, curl_multi_remove_handle, (CURLM * multi, CURL * handle), (multi, handle)) \
    F(CURLMcode, curl_multi_socket_action, (CURLM * multi, curl_socket_t socket, int events, int *running), \
      (multi, socket, events, running)) \
    F(CURLMsg *, curl_multi_info_read, (CURLM * multi, int *left), (multi, left)) \
    F(struct curl_slist *, curl_slist_append, (struct curl_slist * list, const char *text), (list, text)) \
    F(void, curl_slist_free_all, (struct curl_slist * list), (list)) \
    F(void, curl_free, (void *pointer), (pointer)) \
    F(CURLU *, curl_url, (void), ()) \
    F(void, curl_url_cleanup, (CURLU * url), (url)) \
    F(CURLUcode, curl_url_set, (CURLU * url, CURLUPart what, const char *part, unsigned int flags), \
      (url, what, part, flags))

#define POINTER(result, name, parameters, arguments) static result(*name##_there) parameters;
FUNCTIONS(POINTER)
static __typeof__(&curl_url_get) curl_url_get_there;
static CURLcode (*curl_easy_setopt_there)(CURL *, CURLoption, ...);
static CURLcode (*curl_easy_getinfo_there)(CURL *, CURLINFO, ...);
static CURLMcode (*curl_multi_setopt_there)(CURLM *, CURLMoption, ...);

static void *find(void *library, const char *name) {
    void *function = library ? dlsym(library, name) : NULL;
    if (!function) {
        fprintf(stderr, "feedbus: HTTP needs libcurl (Debian: libcurl4), which cannot be loaded: %s\n", dlerror());
        exit(1);
    }
    return function;
}

static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
#define FIND(result, name, parameters, arguments) *(void **)&name##_there = find(library, #name);
    FUNCTIONS(FIND)
    *(void **)&curl_url_get_there = find(library, "curl_url_get");
    *(void **)&curl_easy_setopt_there = find(library, "curl_easy_setopt");
    *(void **)&curl_easy_getinfo_there = find(library, "curl_easy_getinfo");
    *(void **)&curl_multi_setopt_there = find(library, "curl_multi_setopt");
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

#define HIDDEN __attribute__((visibility("hidden")))
#define FORWARD(result, name, parameters, arguments) \
    HIDDEN result name parameters { \
        pthread_once(&once, load); \
        return name##_there arguments; \
    }

FUNCTIONS(FORWARD)

// Its first parameter is const in some versions and not in others.
HIDDEN CURLUcode feedbus_curl_url_get(CURLU *url, CURLUPart what, char **part, unsigned int flags) {
    pthread_once(&once, load);
    return curl_url_get_there(url, what, part, flags);
}
HIDDEN __typeof__(curl_url_get) curl_url_get __attribute__((alias("feedbus_curl_url_get")));

// What the variadic ones take is one word: a long, a pointer or a curl_off_t.
#define FORWARD_VARIADIC(result, name, handle_type, option_type) \
    HIDDEN result name(handle_type *handle, option_type option, ...) { \
        pthread_once(&once, load); \
        va_list arguments; \
        va_start(arguments, option); \
        void *word = va_arg(arguments, void *); \
        va_end(arguments); \
        return name##_there(handle, option, word); \
    }
_Static_assert(sizeof(void *) == sizeof(curl_off_t) && sizeof(void *) == sizeof(long), "one word for every option");
FORWARD_VARIADIC(CURLcode, curl_easy_setopt, CURL, CURLoption)
FORWARD_VARIADIC(CURLcode, curl_easy_getinfo, CURL, CURLINFO)
FORWARD_VARIADIC(CURLMcode, curl_multi_setopt, CURLM, CURLMoption)
