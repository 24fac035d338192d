// feedbus: measures how long a line takes through a program: from the write to its stdin to the read of its output.
//
//     pace RATE COUNT FIFO > the program's stdin
//
// Writes COUNT lines of about 1 KB to stdout, RATE of them a second (0: as fast as they are taken), and reads them back
// from the named pipe FIFO. Prints {"rate":…,"events":…,"seconds":…,"p50_us":…,"p99_us":…,"max_us":…} to descriptor 3.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace {

int64_t now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

void write_all(const char *bytes, size_t count) {
    while (count > 0) {
        const ssize_t done = write(STDOUT_FILENO, bytes, count);
        if (done < 0) { std::exit(1); }
        bytes += done;
        count -= size_t(done);
    }
}

/// Writes the lines, each with the moment of its writing.
void produce(int64_t rate, int64_t count) {
    const std::string padding(950, 'x');
    const int64_t began = now();
    char line[1200];
    for (int64_t i = 0; i < count; ++i) {
        if (rate > 0) {
            const int64_t due = began + i * 1000000000 / rate;
            const timespec until = {time_t(due / 1000000000), long(due % 1000000000)};
            while (now() < due) { clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr); }
        }
        const int length = std::snprintf(
            line, sizeof line, "{\"t\":%lld,\"n\":%lld,\"text\":\"%s\"}\n", static_cast<long long>(now()),
            static_cast<long long>(i), padding.c_str());
        write_all(line, size_t(length));
    }
    close(STDOUT_FILENO);
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 4) { return 2; }
    const int64_t rate = std::atoll(argv[1]), count = std::atoll(argv[2]);
    const int in = open(argv[3], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (in < 0) { std::perror(argv[3]); return 1; }
    const int64_t began = now();
    std::thread producer(produce, rate, count);
    std::vector<int64_t> latencies;
    latencies.reserve(size_t(count));
    std::vector<char> buffer(1 << 20);
    size_t held = 0;
    while (int64_t(latencies.size()) < count) {
        pollfd watched = {in, POLLIN, 0};
        poll(&watched, 1, 10000);
        const ssize_t got = read(in, buffer.data() + held, buffer.size() - held);
        if (got <= 0) {
            // Before the program has opened it the pipe has no writer.
            if (now() - began > 60000000000) { std::fprintf(stderr, "nothing came back\n"); std::_Exit(1); }
            const timespec moment = {0, 1000000};
            nanosleep(&moment, nullptr);
            continue;
        }
        const int64_t arrived = now();
        char *start = buffer.data(), *const end = start + held + got;
        while (char *stop = static_cast<char *>(std::memchr(start, '\n', size_t(end - start)))) {
            latencies.push_back(arrived - std::atoll(start + 5));
            start = stop + 1;
        }
        held = size_t(end - start);
        std::memmove(buffer.data(), start, held);
    }
    const double seconds = double(now() - began) * 1e-9;
    producer.join();
    // The first ones wait for the program to start.
    const size_t warm = std::min<size_t>(latencies.size() / 10, size_t(rate > 0 ? rate / 2 : 1000));
    std::sort(latencies.begin() + long(warm), latencies.end());
    const auto at = [&](double share) {
        const size_t n = latencies.size() - warm;
        return double(latencies[warm + std::min(n - 1, size_t(double(n) * share))]) / 1000;
    };
    dprintf(
        3, "{\"rate\":%lld,\"events\":%lld,\"seconds\":%.3f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f}\n",
        static_cast<long long>(rate), static_cast<long long>(count), seconds, at(0.5), at(0.99), at(1));
    return 0;
}
