// feedbus: makes the data set of the pipeline benchmarks: JSON lines like those of GitHub's events, from a seed.
//
//     generate LINES FILE [--seed N] [--duplicates]
//
// The same arguments give the same bytes on every machine. With --duplicates half of the lines repeat an earlier one.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

/// SplitMix64.
struct random_numbers {
    uint64_t state;
    uint64_t next() {
        uint64_t z = (state += 0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
    uint64_t below(uint64_t bound) { return next() % bound; }
};

const char *const words[] = {
    "fix", "the", "build", "on", "linux", "add", "tests", "for", "parser", "remove", "unused", "code", "update", "docs",
    "bump", "version", "merge", "branch", "main", "into", "feature", "handle", "empty", "input", "cache", "speed", "up",
    "refactor", "naïve", "größe", "日本語", "emoji 🚀", "caf\\u00e9", "\\\"quoted\\\"", "line\\nbreak", "C:\\\\path",
    "\\ud83d\\ude80", "tab\\there", "a/b", "50%", "\xE2\x80\xA8",
};
const char *const names[] = {
    "octo", "swift", "rust", "data", "cloud", "river", "stone", "pixel", "nova", "delta", "green", "lambda", "mono",
};

struct event_maker {
    random_numbers random;
    std::string &out;

    void text(const char *literal) { out += literal; }
    void number(uint64_t value) { out += std::to_string(value); }

    void sentence(uint64_t least, uint64_t more) {
        const uint64_t count = least + random.below(more);
        for (uint64_t i = 0; i < count; ++i) {
            if (i) { out += ' '; }
            out += words[random.below(sizeof words / sizeof *words)];
        }
    }
    std::string name() {
        std::string made = names[random.below(sizeof names / sizeof *names)];
        made += '-';
        made += names[random.below(sizeof names / sizeof *names)];
        made += std::to_string(random.below(100000));
        return made;
    }
    void hex(int digits) {
        for (int i = 0; i < digits; ++i) { out += "0123456789abcdef"[random.below(16)]; }
    }
    void time() {
        char buffer[32];
        std::snprintf(
            buffer, sizeof buffer, "2024-%02d-%02dT%02d:%02d:%02dZ", int(1 + random.below(12)), int(1 + random.below(28)),
            int(random.below(24)), int(random.below(60)), int(random.below(60)));
        out += buffer;
    }
    void user(const std::string &login, bool is_actor) {
        const std::string id = std::to_string(1000 + random.below(90000000));
        out += "{\"id\":" + id + ",\"login\":\"" + login + "\",";
        if (is_actor) { out += "\"display_login\":\"" + login + "\","; }
        out += "\"gravatar_id\":\"\",\"url\":\"https://api.github.com/users/" + login + "\",\"avatar_url\":"
            "\"https://avatars.githubusercontent.com/u/" + id + (is_actor ? "?\"}" : "?v=4\",\"type\":\"User\",\"site_admin\":false}");
    }
    void push(const std::string &repo) {
        text("{\"repository_id\":");
        number(random.below(800000000));
        text(",\"push_id\":");
        number(10000000000 + random.below(9000000000));
        const uint64_t size = 1 + random.below(3);
        text(",\"size\":");
        number(size);
        text(",\"distinct_size\":");
        number(size);
        text(",\"ref\":\"refs/heads/main\",\"head\":\"");
        hex(40);
        text("\",\"before\":\"");
        hex(40);
        text("\",\"commits\":[");
        for (uint64_t i = 0; i < size; ++i) {
            if (i) { out += ','; }
            text("{\"sha\":\"");
            hex(40);
            const std::string author = name();
            out += "\",\"author\":{\"email\":\"" + author + "@example.org\",\"name\":\"" + author + "\"},\"message\":\"";
            sentence(2, 7);
            out += "\",\"distinct\":true,\"url\":\"https://api.github.com/repos/" + repo + "/commits/";
            hex(40);
            text("\"}");
        }
        text("]}");
    }
    void issue(const std::string &repo, bool is_pull) {
        const std::string base = "https://api.github.com/repos/" + repo + (is_pull ? "/pulls/" : "/issues/");
        const std::string number_text = std::to_string(1 + random.below(9000));
        out += "{\"url\":\"" + base + number_text + "\",\"id\":";
        number(2000000000 + random.below(900000000));
        out += ",\"number\":" + number_text + ",\"title\":\"";
        sentence(3, 8);
        text("\",\"user\":");
        user(name(), false);
        text(",\"labels\":[");
        for (uint64_t i = 0, count = random.below(3); i < count; ++i) {
            if (i) { out += ','; }
            text("{\"id\":");
            number(random.below(1000000000));
            text(",\"name\":\"");
            text(words[random.below(20)]);
            text("\",\"color\":\"");
            hex(6);
            text("\",\"default\":false}");
        }
        text("],\"state\":\"open\",\"locked\":false,\"assignee\":null,\"comments\":");
        number(random.below(40));
        text(",\"created_at\":\"");
        time();
        text("\",\"closed_at\":null,\"score\":");
        // Numbers that a program must not rewrite.
        static const char *const scores[] = {"1.0", "0.934", "-0", "1e3", "2.50", "12345678901234567890", "1E-7", "0.1"};
        text(scores[random.below(8)]);
        text(",\"body\":\"");
        sentence(10, 50);
        text("\"}");
    }

    /// Appends event number `index` of the data set and a line break.
    void event(uint64_t index) {
        const std::string login = name();
        const std::string repo = name() + "/" + name();
        static const struct { const char *type; int share; } kinds[] = {
            {"PushEvent", 50}, {"CreateEvent", 12}, {"PullRequestEvent", 10}, {"WatchEvent", 8}, {"IssueCommentEvent", 7},
            {"IssuesEvent", 5}, {"DeleteEvent", 4}, {"ForkEvent", 3}, {"ReleaseEvent", 1},
        };
        int place = int(random.below(100)), kind = 0;
        while (place >= kinds[kind].share) { place -= kinds[kind++].share; }
        out += "{\"id\":\"" + std::to_string(30000000000 + index) + "\",\"type\":\"" + kinds[kind].type + "\",\"actor\":";
        user(login, true);
        text(",\"repo\":{\"id\":");
        number(random.below(800000000));
        out += ",\"name\":\"" + repo + "\",\"url\":\"https://api.github.com/repos/" + repo + "\"},\"payload\":";
        switch (kind) {
        case 0: push(repo); break;
        case 1: case 6:
            text("{\"ref\":\"");
            out += name();
            text("\",\"ref_type\":\"branch\",\"master_branch\":\"main\",\"description\":\"");
            sentence(30, 55);
            text("\",\"pusher_type\":\"user\"}");
            break;
        case 2:
            text("{\"action\":\"opened\",\"number\":");
            number(random.below(9000));
            text(",\"pull_request\":");
            issue(repo, true);
            text("}");
            break;
        case 3: text("{\"action\":\"started\"}"); break;
        case 4:
            text("{\"action\":\"created\",\"issue\":");
            issue(repo, false);
            text(",\"comment\":{\"id\":");
            number(random.below(2000000000));
            text(",\"user\":");
            user(name(), false);
            text(",\"body\":\"");
            sentence(5, 60);
            text("\"}}");
            break;
        case 5:
            text("{\"action\":\"opened\",\"issue\":");
            issue(repo, false);
            text("}");
            break;
        default:
            text("{\"description\":\"");
            sentence(40, 80);
            text("\",\"fork\":true,\"size\":0.0,\"owner\":");
            user(name(), false);
            text("}");
        }
        text(",\"public\":true,\"created_at\":\"");
        time();
        text("\"}\n");
    }
};

void append_event(std::string &out, uint64_t seed, uint64_t index) {
    event_maker maker{random_numbers{seed * 0xD1342543DE82EF95 + index * 0x2545F4914F6CDD1D}, out};
    maker.event(index);
}

}  // namespace

int main(int argc, char **argv) {
    uint64_t seed = 1;
    bool duplicates = false;
    for (int i = 3; i < argc; ++i) {
        if (!std::strcmp(argv[i], "--duplicates")) {
            duplicates = true;
        } else if (!std::strcmp(argv[i], "--seed") && i + 1 < argc) {
            seed = std::strtoull(argv[++i], nullptr, 10);
        }
    }
    if (argc < 3) {
        std::fprintf(stderr, "generate LINES FILE [--seed N] [--duplicates]\n");
        return 2;
    }
    const uint64_t lines = std::strtoull(argv[1], nullptr, 10);
    std::FILE *file = std::fopen(argv[2], "w");
    if (!file) { std::perror(argv[2]); return 1; }
    std::string out;
    random_numbers choice{seed ^ 0xABCDEF};
    uint64_t made = 0;
    for (uint64_t line = 0; line < lines; ++line) {
        // Exactly half are new: the rest of the lines is shared out between new ones and repeats.
        const uint64_t fresh_left = duplicates ? lines - lines / 2 - made : 1;
        const bool is_fresh = !duplicates || made == 0 || choice.below(lines - line) < fresh_left;
        append_event(out, seed, is_fresh ? made++ : choice.below(made));
        if (out.size() > (size_t(1) << 20) || line + 1 == lines) {
            if (std::fwrite(out.data(), 1, out.size(), file) != out.size()) { std::perror(argv[2]); return 1; }
            out.clear();
        }
    }
    if (std::fclose(file)) { std::perror(argv[2]); return 1; }
    return 0;
}
