// feedbus: the pipeline benchmarks as somebody would write them by hand in C++ on simdjson: the mark to compare with.
//
//     reference W1|W2|W3|W4|W5 INPUT OUTPUT [OUTPUT_A OUTPUT_B]
//
// W1 parses every line and forwards its bytes. W2 keeps two types. W3 projects five fields. W4 leaves out ids that came
// before. W5 writes three files: all, pushes, issues. Input is read in blocks into aligned memory with the left-over tail
// moved in front of the next block; output is written with writev from where it was read.

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <sys/uio.h>
#include <unistd.h>
#include <unordered_set>
#include <vector>

namespace {

[[noreturn]] void fail(const char *what) {
    std::perror(what);
    std::exit(1);
}

/// Slices of memory that are written together; neighbours become one.
struct output {
    int fd;
    std::vector<iovec> pieces;

    explicit output(const char *path) : fd(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644)) {
        if (fd < 0) { fail(path); }
    }
    void add(const char *bytes, size_t count) {
        if (!pieces.empty()) {
            iovec &last = pieces.back();
            if (static_cast<const char *>(last.iov_base) + last.iov_len == bytes) {
                last.iov_len += count;
                return;
            }
        }
        pieces.push_back({const_cast<char *>(bytes), count});
    }
    void flush() {
        size_t first = 0;
        while (first < pieces.size()) {
            const size_t count = std::min<size_t>(pieces.size() - first, 1024);
            ssize_t written = writev(fd, &pieces[first], int(count));
            if (written < 0) {
                if (errno == EINTR) { continue; }
                fail("writev");
            }
            while (first < pieces.size() && size_t(written) >= pieces[first].iov_len) {
                written -= ssize_t(pieces[first++].iov_len);
            }
            if (written > 0) {
                pieces[first].iov_base = static_cast<char *>(pieces[first].iov_base) + written;
                pieces[first].iov_len -= size_t(written);
            }
        }
        pieces.clear();
    }
};

void append_string(std::string &out, std::string_view text) {
    out += '"';
    for (char c : text) {
        if (c == '"' || c == '\\') { out += '\\'; }
        out += c;
    }
    out += '"';
}

constexpr size_t block = size_t(1) << 20;

}  // namespace

int main(int argc, char **argv) {
    if (argc < 4) {
        std::fprintf(stderr, "reference W1|W2|W3|W4|W5 INPUT OUTPUT [OUTPUT_A OUTPUT_B]\n");
        return 2;
    }
    const int work = argv[1][1] - '0';
    const int in = open(argv[2], O_RDONLY);
    if (in < 0) { fail(argv[2]); }
    std::vector<output> outputs;
    for (int i = 3; i < argc; ++i) { outputs.emplace_back(argv[i]); }

    // Blocks are read to `memory + block`, which stays aligned; the tail of the last one goes in front of it.
    char *const memory = static_cast<char *>(std::aligned_alloc(64, 2 * block + 4096));
    char *const target = memory + block;
    size_t tail = 0;
    simdjson::dom::parser parser;
    std::unordered_set<std::string> seen;
    std::string projected;

    while (true) {
        const ssize_t got = read(in, target, block);
        if (got < 0) { fail(argv[2]); }
        char *start = target - tail;
        char *const end = target + got;
        projected.clear();
        while (start < end) {
            char *stop = static_cast<char *>(std::memchr(start, '\n', size_t(end - start)));
            if (!stop && got > 0) { break; }
            const size_t length = size_t((stop ? stop : end) - start);
            simdjson::dom::element line;
            if (parser.parse(start, length, false).get(line)) {
                std::fprintf(stderr, "a line is not JSON\n");
                return 1;
            }
            const size_t whole = length + (stop ? 1 : 0);
            switch (work) {
            case 1: outputs[0].add(start, whole); break;
            case 2: {
                const std::string_view type = line["type"];
                if (type == "PullRequestEvent" || type == "IssuesEvent") { outputs[0].add(start, whole); }
                break;
            }
            case 3:
                projected += "{\"id\":";
                append_string(projected, line["id"]);
                projected += ",\"type\":";
                append_string(projected, line["type"]);
                projected += ",\"login\":";
                append_string(projected, line["actor"]["login"]);
                projected += ",\"name\":";
                append_string(projected, line["repo"]["name"]);
                projected += ",\"created_at\":";
                append_string(projected, line["created_at"]);
                projected += "}\n";
                break;
            case 4:
                if (seen.emplace(std::string_view(line["id"])).second) { outputs[0].add(start, whole); }
                break;
            case 5: {
                const std::string_view type = line["type"];
                outputs[0].add(start, whole);
                if (type == "PushEvent") { outputs[1].add(start, whole); }
                if (type == "IssuesEvent") { outputs[2].add(start, whole); }
                break;
            }
            }
            start += whole;
        }
        if (work == 3) { outputs[0].add(projected.data(), projected.size()); }
        for (output &out : outputs) { out.flush(); }
        if (got == 0) { break; }
        tail = size_t(end - start);
        if (tail > block) {
            std::fprintf(stderr, "a line is too long\n");
            return 1;
        }
        std::memmove(target - tail, start, tail);
    }
    return 0;
}
