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
static inline int sem_trywait(sem_t *s) {
    unsigned value = __atomic_load_n(&s->__value, 5);
    while (value)
        if (__atomic_compare_exchange_n(&s->__value, &value, value - 1, 0, 5, 5))
            return 0;
    return -1;
}
static inline int sem_getvalue(sem_t *s, int *value) {
    *value = __atomic_load_n(&s->__value, 5);
    return 0;
}
