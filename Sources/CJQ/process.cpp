// feedbus: starts the jq process, talks to it, and finds out how it ended.

#include "cjq.h"

#include "protocol.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace feedbus_jq;

extern char **environ;

struct cjq_process {
    std::string program;
    compile_request rules = {};
    std::string reason;
    bool was_killed = false;

    /// Guards `pid`, so that nobody kills a process that has been waited for: its number may be another's by then.
    std::mutex lock;
    pid_t pid = -1;

    int socket = -1;
    int page_file = -1;
    /// What the process writes on its standard error: the text of an assertion.
    int errors = -1;
    shared_page *page = nullptr;
    /// Inputs that were begun before the last batch.
    uint64_t begun_before = 0;

    std::vector<uint64_t> lengths;
    std::string texts;
    /// What came and was not asked for yet, from `taken` on.
    std::string received;
    size_t taken = 0;
};

namespace {

constexpr size_t read_size = size_t(256) << 10;

bool send_all(int socket, const void *bytes, size_t length) {
    auto *at = static_cast<const char *>(bytes);
    while (length > 0) {
        const ssize_t count = send(socket, at, length, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) { continue; }
        if (count <= 0) { return false; }
        at += count;
        length -= size_t(count);
    }
    return true;
}

/// The last line that the process wrote on standard error, without the name of the program in front.
std::string last_words(int errors) {
    char bytes[1024];
    const off_t end = lseek(errors, 0, SEEK_END);
    if (end <= 0) { return ""; }
    const off_t start = end > off_t(sizeof bytes) ? end - off_t(sizeof bytes) : 0;
    const ssize_t count = pread(errors, bytes, sizeof bytes, start);
    std::string text(bytes, count > 0 ? size_t(count) : 0);
    while (!text.empty() && text.back() == '\n') { text.pop_back(); }
    text = text.substr(text.rfind('\n') + 1);
    for (const char *prefix : {process_name, "jq", "error"}) {
        const std::string name = std::string(prefix) + ": ";
        if (text.compare(0, name.size(), name) == 0) { text.erase(0, name.size()); }
    }
    return text.substr(0, 300);
}

/// Waits for the end of the process and says how it was.
void reap(cjq_process &process) {
    int status = 0;
    {
        const std::lock_guard<std::mutex> guard(process.lock);
        if (process.pid < 0) { return; }
        kill(process.pid, SIGKILL);
        while (waitpid(process.pid, &status, 0) < 0 && errno == EINTR) {}
        process.pid = -1;
    }
    close(process.socket);
    process.socket = -1;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    process.was_killed = signal == SIGKILL;
    const std::string words = last_words(process.errors);
    char text[400];
    if (signal != 0) {
        const char *const name = sigabbrev_np(signal);
        std::snprintf(text, sizeof text, "SIG%s%s%s", name ? name : "?", words.empty() ? "" : ": ", words.c_str());
    } else {
        std::snprintf(
            text, sizeof text, "exit code %d%s%s", WEXITSTATUS(status), words.empty() ? "" : ": ", words.c_str());
    }
    process.reason = text;
}

bool fail(cjq_process &process, const char *what, int error) {
    process.reason = std::string(what) + ": " + strerror(error);
    return false;
}

/// Starts the process, without a word to it.
bool spawn(cjq_process &process) {
    if (ftruncate(process.errors, 0) != 0 || lseek(process.errors, 0, SEEK_SET) != 0) {
        return fail(process, "no memory for the jq process", errno);
    }
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
        return fail(process, "no socket for the jq process", errno);
    }
    const int room = 1 << 20;
    for (const int socket : sockets) { setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &room, sizeof room); }
    process.page->begun.store(0, std::memory_order_release);
    process.begun_before = 0;
    process.received.clear();
    process.taken = 0;

    // Above those that the process gets, so that none is closed by another one put in its place.
    const int theirs = fcntl(sockets[1], F_DUPFD_CLOEXEC, 10);
    const int page_file = fcntl(process.page_file, F_DUPFD_CLOEXEC, 10);
    const int errors = fcntl(process.errors, F_DUPFD_CLOEXEC, 10);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs, socket_descriptor);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, errors, 2);
    posix_spawn_file_actions_adddup2(&actions, page_file, page_descriptor);
    posix_spawn_file_actions_addclosefrom_np(&actions, page_descriptor + 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    char name[sizeof process_name];
    std::memcpy(name, process_name, sizeof name);
    char *arguments[] = {name, nullptr};
    // Where the libraries are, and what time it is here, may be known by the environment only. jq's own `$ENV` is empty
    // whatever is there.
    char no_backtrace[] = "SWIFT_BACKTRACE=enable=no";
    std::vector<char *> environment = {no_backtrace};
    for (char **variable = environ; variable && *variable; ++variable) {
        for (const char *wanted : {"LD_LIBRARY_PATH=", "TZ="}) {
            if (std::strncmp(*variable, wanted, std::strlen(wanted)) == 0) { environment.push_back(*variable); }
        }
    }
    environment.push_back(nullptr);
    pid_t pid = -1;
    int error = theirs < 0 || page_file < 0 || errors < 0 ? EMFILE : 0;
    if (error == 0) {
        error = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, arguments, environment.data());
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    for (const int descriptor : {sockets[1], theirs, page_file, errors}) {
        if (descriptor >= 0) { close(descriptor); }
    }
    if (error != 0) {
        close(sockets[0]);
        return fail(process, "the jq process cannot be started", error);
    }
    process.socket = sockets[0];
    const std::lock_guard<std::mutex> guard(process.lock);
    process.pid = pid;
    return true;
}

/// More of what the process sends. False where it has ended.
bool receive_more(cjq_process &process, size_t wanted) {
    if (process.taken > 0) {
        process.received.erase(0, process.taken);
        process.taken = 0;
    }
    if (process.received.capacity() > 16 * read_size && wanted < read_size) { process.received.shrink_to_fit(); }
    const size_t before = process.received.size();
    process.received.resize(before + (wanted > read_size ? wanted : read_size));
    ssize_t count;
    do {
        count = recv(process.socket, process.received.data() + before, process.received.size() - before, 0);
    } while (count < 0 && errno == EINTR);
    process.received.resize(before + (count > 0 ? size_t(count) : 0));
    return count > 0;
}

bool compile(cjq_process &process) {
    if (!spawn(process)) { return false; }
    // Where it ends now, that is found when its answer is read.
    (void)(send_all(process.socket, &process.rules, sizeof process.rules)
        && send_all(process.socket, process.program.data(), process.program.size()));
    const char *text = nullptr;
    size_t length = 0;
    switch (cjq_receive(&process, &text, &length)) {
    case cjq_done: return true;
    case cjq_ended:
        process.reason = "jq ended by itself while it compiled it (" + process.reason + ")";
        return false;
    default: {
        const std::string message(text, length);
        reap(process);
        process.reason = message;
        return false;
    }
    }
}

}  // namespace

extern "C" {

cjq_process *cjq_start_process(
    const char *program, uint64_t output_limit, uint32_t maximum_outputs, uint32_t maximum_depth, char **message) {
    *message = nullptr;
    auto *process = new (std::nothrow) cjq_process;
    if (!process) { return nullptr; }
    process->program = program;
    process->rules = {process->program.size(), output_limit, maximum_outputs, maximum_depth};
    process->page_file = memfd_create("feedbus-jq", MFD_CLOEXEC);
    process->errors = memfd_create("feedbus-jq-errors", MFD_CLOEXEC);
    void *page = MAP_FAILED;
    if (process->page_file >= 0 && process->errors >= 0 && ftruncate(process->page_file, sizeof(shared_page)) == 0) {
        page = mmap(nullptr, sizeof(shared_page), PROT_READ | PROT_WRITE, MAP_SHARED, process->page_file, 0);
    }
    if (page == MAP_FAILED) {
        fail(*process, "no memory for the jq process", errno);
    } else {
        process->page = static_cast<shared_page *>(page);
        if (compile(*process)) { return process; }
    }
    *message = strdup(process->reason.c_str());
    cjq_free_process(process);
    return nullptr;
}

void cjq_free_process(cjq_process *process) {
    if (!process) { return; }
    reap(*process);
    if (process->page) { munmap(process->page, sizeof(shared_page)); }
    for (const int descriptor : {process->page_file, process->errors}) {
        if (descriptor >= 0) { close(descriptor); }
    }
    delete process;
}

void cjq_free_message(char *message) { std::free(message); }

void cjq_add(cjq_process *process, const void *text, size_t length) {
    process->lengths.push_back(length);
    process->texts.append(static_cast<const char *>(text), length);
}

bool cjq_send(cjq_process *process, bool asks_if_holds) {
    const batch_request batch = {uint32_t(process->lengths.size()), asks_if_holds, process->texts.size()};
    bool is_there = process->socket >= 0 || compile(*process);
    if (is_there) {
        process->begun_before = process->page->begun.load(std::memory_order_acquire);
        // Where it ends now, that is found when its answers are read.
        (void)(send_all(process->socket, &batch, sizeof batch)
            && send_all(process->socket, process->lengths.data(), process->lengths.size() * sizeof(uint64_t))
            && send_all(process->socket, process->texts.data(), process->texts.size()));
    }
    process->lengths.clear();
    process->texts.clear();
    if (process->texts.capacity() > 16 * read_size) { process->texts.shrink_to_fit(); }
    return is_there;
}

cjq_answer cjq_receive(cjq_process *process, const char **text, size_t *length) {
    answer head;
    while (true) {
        const size_t there = process->received.size() - process->taken;
        size_t wanted = sizeof head;
        if (there >= sizeof head) {
            std::memcpy(&head, process->received.data() + process->taken, sizeof head);
            wanted += head.length;
            if (there >= wanted) {
                *text = process->received.data() + process->taken + sizeof head;
                *length = head.length;
                process->taken += wanted;
                return cjq_answer(head.kind);
            }
        }
        if (process->socket < 0 || !receive_more(*process, wanted - there)) {
            reap(*process);
            return cjq_ended;
        }
    }
}

const char *cjq_reason(cjq_process *process) { return process->reason.c_str(); }

bool cjq_was_killed(cjq_process *process) { return process->was_killed; }

uint64_t cjq_begun(cjq_process *process) {
    return process->page->begun.load(std::memory_order_acquire) - process->begun_before;
}

uint64_t cjq_progress(cjq_process *process) { return process->page->begun.load(std::memory_order_relaxed); }

void cjq_kill(cjq_process *process) {
    const std::lock_guard<std::mutex> guard(process->lock);
    if (process->pid >= 0) { kill(process->pid, SIGKILL); }
}

}  // extern "C"
