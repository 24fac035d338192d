// feedbus: polls as fast as libcurl's multi interface lets a C program: what PollBenchmark is measured against.
//
//     reference URL SECONDS CONCURRENT [ETAG]
//
// Conditional requests where an ETag is given. Prints one line of JSON. Errors end it with exit 1.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

static int epoll_fd;
static long timeout_ms = -1;
static size_t received;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static double cpu(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void check(int isFine, const char *what) {
    if (isFine) return;
    fprintf(stderr, "reference: %s\n", what);
    exit(1);
}

static int on_socket(CURL *handle, curl_socket_t socket, int what, void *context, void *known) {
    (void)handle, (void)context;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, socket, NULL);
        return 0;
    }
    struct epoll_event event = {.data.fd = socket};
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    CURLM *multi = context;
    if (!known) curl_multi_assign(multi, socket, (void *)1);
    check(epoll_ctl(epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event) == 0, "epoll_ctl");
    return 0;
}

static int on_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi, (void)context;
    timeout_ms = milliseconds;
    return 0;
}

// Keeps the body, as a poller must.
struct body {
    char *bytes;
    size_t count, room;
};

static size_t on_body(char *bytes, size_t size, size_t count, void *context) {
    struct body *body = context;
    size_t more = size * count;
    if (body->count + more > body->room) {
        body->room = (body->count + more) * 2;
        body->bytes = realloc(body->bytes, body->room);
        check(body->bytes != NULL, "no memory");
    }
    memcpy(body->bytes + body->count, bytes, more);
    body->count += more;
    return more;
}

int main(int argc, char **argv) {
    check(argc == 4 || argc == 5, "usage: reference URL SECONDS CONCURRENT [ETAG]");
    double seconds = atof(argv[2]);
    int concurrent = atoi(argv[3]);
    long wanted = argc == 5 ? 304 : 200;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    epoll_fd = epoll_create1(0);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, multi);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    struct curl_slist *headers = curl_slist_append(NULL, "Accept: application/json");
    if (argc == 5) {
        char line[512];
        snprintf(line, sizeof line, "If-None-Match: %s", argv[4]);
        headers = curl_slist_append(headers, line);
    }
    struct body *bodies = calloc(concurrent, sizeof *bodies);
    for (int i = 0; i < concurrent; i++) {
        CURL *handle = curl_easy_init();
        curl_easy_setopt(handle, CURLOPT_URL, argv[1]);
        curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(handle, CURLOPT_USERAGENT, "feedbus-reference");
        curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
        curl_easy_setopt(handle, CURLOPT_WRITEDATA, &bodies[i]);
        curl_easy_setopt(handle, CURLOPT_PRIVATE, &bodies[i]);
        curl_multi_add_handle(multi, handle);
    }
    long polls = 0;
    double start = now(), cpu_start = cpu();
    while (now() - start < seconds) {
        struct epoll_event events[256];
        int running, count = epoll_wait(epoll_fd, events, 256, timeout_ms < 0 ? 1000 : (int)timeout_ms);
        if (count == 0) {
            timeout_ms = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        for (int i = 0; i < count; i++) {
            int mask = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
            curl_multi_socket_action(multi, events[i].data.fd, mask, &running);
        }
        CURLMsg *message;
        int left;
        while ((message = curl_multi_info_read(multi, &left))) {
            CURL *handle = message->easy_handle;
            long status = 0;
            struct body *body;
            check(message->data.result == CURLE_OK, curl_easy_strerror(message->data.result));
            curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
            check(status == wanted, "another status than was wanted");
            curl_easy_getinfo(handle, CURLINFO_PRIVATE, &body);
            received += body->count;
            body->count = 0;
            polls++;
            // The next poll of this feed.
            curl_multi_remove_handle(multi, handle);
            curl_multi_add_handle(multi, handle);
        }
    }
    printf("{\"polls\": %ld, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"bytes\": %zu}\n", polls, now() - start,
           cpu() - cpu_start, received);
    return 0;
}
