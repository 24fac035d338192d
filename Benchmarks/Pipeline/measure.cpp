// feedbus: runs a program and says what it used: wall and processor time, and the most memory that it had.
//
//     measure PROGRAM [ARGUMENT...]      prints {"wall_s":…,"cpu_s":…,"rss_kb":…,"status":…} to descriptor 3
//
// A small program of its own, because the kernel counts the memory of whoever starts a program as the program's.

#include <cstdio>
#include <ctime>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 2) { return 2; }
    timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    const pid_t child = fork();
    if (child == 0) {
        close(3);
        execvp(argv[1], argv + 1);
        std::perror(argv[1]);
        _exit(127);
    }
    int status = 0;
    rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) != child) { return 1; }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    const auto seconds = [](const timeval &t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
    dprintf(
        3, "{\"wall_s\":%.6f,\"cpu_s\":%.6f,\"rss_kb\":%ld,\"status\":%d}\n",
        double(ended.tv_sec - began.tv_sec) + double(ended.tv_nsec - began.tv_nsec) * 1e-9,
        seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss,
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
