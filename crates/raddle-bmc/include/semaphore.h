#pragma once
void __raddle_take(unsigned *);
typedef struct {
    unsigned __value;
} sem_t;
static inline int sem_init(sem_t *s, int shared, unsigned value) {
    s->__value = value;
    return 0;
}
static inline int sem_destroy(sem_t *s) { return 0; }
static inline int sem_post(sem_t *s) {
    __atomic_fetch_add(&s->__value, 1, 5);
    return 0;
}
static inline int sem_wait(sem_t *s) {
    __raddle_take(&s->__value);
    return 0;
}
