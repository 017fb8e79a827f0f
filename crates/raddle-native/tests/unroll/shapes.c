// Loops whose rounds a limit counts: -DROUNDS=N runs each of them with N rounds.
#include <pthread.h>
#include <stdatomic.h>

#ifndef ROUNDS
#define ROUNDS 3
#endif

static atomic_int x;

static void called(void) {
    for (int i = 0; i < ROUNDS; i++) {
        x++;
    }
}

static int recursive(int depth) {
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        sum += i;
    }
    return depth == 0 ? sum : recursive(depth - 1) + sum;
}

int main(void) {
    // Each call enters the loop anew.
    called();
    called();
    called();
    called();
    // An inner loop begins again in each round of the outer one.
    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < ROUNDS; j++) {
            x++;
        }
        int k = 0;
        while (k < ROUNDS) {
            k++;
        }
        do {
            if (k == 2) {
                k--;
                continue;
            }
            k--;
        } while (k > 0);
    }
    // A loop after a loop.
    for (int i = 0; i < ROUNDS; i++) {
        called();
    }
    return recursive(4) == 5 * ROUNDS * (ROUNDS - 1) / 2 ? 0 : 1;
}
