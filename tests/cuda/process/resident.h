// How much memory the process has in use, for programs that must not grow.
#pragma once

#include <cstdio>
#include <unistd.h>

static inline long resident_kilobytes() {
    long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
    if (file) fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}
