// pthread_exit runs destructors.
#include <atomic>
#include <cassert>
#include <pthread.h>

std::atomic<int> d;
struct G {
    ~G() {
        d = 1;
    }
};

static void deep() {
    G g;
    pthread_exit((void*)7);
}

static void* t(void*) {
    deep();
    return 0;
}

int main() {
    pthread_t a;
    pthread_create(&a, 0, t, 0);
    void* r;
    pthread_join(a, &r);
    assert(d == 1 && r == (void*)7);
}
