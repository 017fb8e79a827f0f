// Workers take tasks from a queue.
#include <pthread.h>
#include <assert.h>
#include <stdlib.h>
typedef struct task { int n; struct task *next; } task_t;
static struct { pthread_mutex_t m; pthread_cond_t c; task_t *head; int stop; int done; } pool = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0 };
static void *worker(void *arg) {
  for (;;) {
    pthread_mutex_lock(&pool.m);
    while (!pool.head && !pool.stop) pthread_cond_wait(&pool.c, &pool.m);
    if (!pool.head) { pthread_mutex_unlock(&pool.m); return 0; }
    task_t *t = pool.head; pool.head = t->next;
    pool.done += t->n;
    pthread_mutex_unlock(&pool.m);
    free(t);
  }
}
int main() {
  pthread_t w[2];
  for (int i = 0; i < 2; i++) pthread_create(&w[i], 0, worker, &pool);
  for (int i = 1; i <= 1; i++) { task_t *t = malloc(sizeof *t); t->n = i;
    pthread_mutex_lock(&pool.m); t->next = pool.head; pool.head = t; pthread_mutex_unlock(&pool.m); pthread_cond_signal(&pool.c); }
  pthread_mutex_lock(&pool.m); pool.stop = 1; pthread_mutex_unlock(&pool.m); pthread_cond_broadcast(&pool.c);
  for (int i = 0; i < 2; i++) pthread_join(w[i], 0);
  assert(pool.done == 1);
}
