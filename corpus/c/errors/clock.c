// Time is the same in every execution.
#include <assert.h>
#include <time.h>

int main(void) {
    struct timespec now, later;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_MONOTONIC, &later);
    assert(now.tv_sec < later.tv_sec || (now.tv_sec == later.tv_sec && now.tv_nsec <= later.tv_nsec));
    assert(time(0) == time(0) || time(0) > 0);
}
