/* Preloaded, this lets fsync and fdatasync take as many microseconds longer as the file SLOW_SYNC_FILE says. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void delay(void) {
    char text[16] = {0};
    const char *path = getenv("SLOW_SYNC_FILE");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (read(file, text, sizeof text - 1) > 0)
        usleep(atoi(text));
    close(file);
}

static int after_delay(const char *name, int file) {
    int (*function)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    delay();
    return function(file);
}

int fsync(int file) { return after_delay("fsync", file); }

int fdatasync(int file) { return after_delay("fdatasync", file); }
