// Contexts with stacks of their own.
#include <assert.h>
#include <ucontext.h>

static ucontext_t m, c;
static char st[16384];
static int k;
void f(void) {
    k = 1;
    swapcontext(&c, &m);
    k = 2;
}

int main(void) {
    getcontext(&c);
    c.uc_stack.ss_sp = st;
    c.uc_stack.ss_size = sizeof st;
    c.uc_link = &m;
    makecontext(&c, f, 0);
    swapcontext(&m, &c);
    assert(k == 1);
    swapcontext(&m, &c);
    assert(k == 2);
    return 0;
}
