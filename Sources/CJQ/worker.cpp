// feedbus: the jq process. It is the same executable as the one that starts it, under another name: libjq ends its process
// on some inputs by an assertion, by a bad access or for want of memory, and that must not be feedbus.

#include "program.h"
#include "protocol.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace feedbus_jq;

namespace {

/// Answers are sent when there are more bytes of them, and at the end of a batch.
constexpr size_t enough = size_t(256) << 10;

[[noreturn]] void leave() { _exit(0); }

/// Reads so many bytes; ends the process where the other side has gone.
void receive(void *target, size_t length) {
    auto *at = static_cast<char *>(target);
    while (length > 0) {
        const ssize_t count = read(socket_descriptor, at, length);
        if (count < 0 && errno == EINTR) { continue; }
        if (count <= 0) { leave(); }
        at += count;
        length -= size_t(count);
    }
}

struct answers {
    std::string bytes;

    void add(cjq_answer kind, const char *text = nullptr, size_t length = 0) {
        const answer head = {uint32_t(kind), 0, length};
        bytes.append(reinterpret_cast<const char *>(&head), sizeof head);
        bytes.append(text, length);
        if (bytes.size() > enough) { send(); }
    }

    void send() {
        size_t done = 0;
        while (done < bytes.size()) {
            const ssize_t count = write(socket_descriptor, bytes.data() + done, bytes.size() - done);
            if (count < 0 && errno == EINTR) { continue; }
            if (count <= 0) { leave(); }
            done += size_t(count);
        }
        if (bytes.capacity() > 4 * enough) { std::string().swap(bytes); }
        bytes.clear();
    }
};

void run(cjq *program, const compile_request &rules, const char *text, size_t length, bool asks_if_holds, answers &out) {
    if (!cjq_start(program, text, length, rules.maximum_depth)) { return out.add(cjq_unreadable); }
    uint64_t bytes = 0;
    for (uint32_t number = 0;; ++number) {
        const char *output = nullptr;
        size_t size = 0;
        const cjq_status status = cjq_next(program, !asks_if_holds, &output, &size);
        if (status == cjq_end) { return out.add(cjq_done); }
        if (status == cjq_error) { return out.add(cjq_failed, output, size); }
        bytes += size;
        if (number == rules.maximum_outputs || bytes > rules.output_limit) { return out.add(cjq_too_much); }
        if (!asks_if_holds) {
            out.add(cjq_output, output, size);
        } else if (status == cjq_true) {
            return out.add(cjq_holds);
        }
    }
}

[[noreturn]] void work() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "feedbus-jq");
    // What ends feedbus is feedbus's affair: it still needs this process for what is under way.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2}) { ::signal(signal, SIG_IGN); }
    // Swift's own handlers would look for a backtrace first.
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) { ::signal(signal, SIG_DFL); }
    const rlimit no_core = {0, 0}, memory = {memory_limit, memory_limit}, words = {1 << 16, 1 << 16};
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_FSIZE, &words);  // the only file is what takes its standard error
    setrlimit(RLIMIT_DATA, &memory);

    void *const mapped = mmap(nullptr, sizeof(shared_page), PROT_READ | PROT_WRITE, MAP_SHARED, page_descriptor, 0);
    if (mapped == MAP_FAILED) { _exit(1); }
    auto &begun = static_cast<shared_page *>(mapped)->begun;

    compile_request rules;
    receive(&rules, sizeof rules);
    std::string text(rules.length, '\0');
    receive(text.data(), text.size());
    answers out;
    char *message = nullptr;
    cjq *const program = cjq_make(text.c_str(), &message);
    if (program) {
        out.add(cjq_done);
    } else {
        const char *const reason = message ? message : "no memory";
        out.add(cjq_failed, reason, std::strlen(reason));
    }
    out.send();
    if (!program) { leave(); }

    std::vector<uint64_t> lengths;
    while (true) {
        batch_request batch;
        receive(&batch, sizeof batch);
        lengths.resize(batch.count);
        receive(lengths.data(), batch.count * sizeof(uint64_t));
        text.resize(batch.bytes);
        receive(text.data(), text.size());
        size_t at = 0;
        for (const uint64_t length : lengths) {
            begun.fetch_add(1, std::memory_order_release);
            run(program, rules, text.data() + at, length, batch.asks_if_holds != 0, out);
            at += length;
        }
        out.send();
        if (text.capacity() > 4 * enough) { std::string().swap(text); }
    }
}

/// Before `main`, and before anything of Swift: the process is nothing else.
__attribute__((constructor)) void begin(int count, char **arguments, char **) {
    if (count == 1 && arguments && arguments[0] && std::strcmp(arguments[0], process_name) == 0) { work(); }
}

}  // namespace
