// Every thread takes an inode and looks for a block that is not busy.
#include "tables.h"

#ifndef N
#define N 14
#endif

static pthread_mutex_t inode_locks[32], block_locks[26];
static Int inodes[32], busy[26];

static int take(int inode, int block) {
    LOCK(block_locks[block]);
    int is_free = GET(busy[block]) == 0;
    if (is_free) {
        SET(busy[block], 1);
        SET(inodes[inode], block + 1);
    }
    UNLOCK(block_locks[block]);
    return is_free;
}

static void *run(void *argument) {
    int i = NUMBER(argument);
    LOCK(inode_locks[i]);
    if (GET(inodes[i]) == 0) {
        for (int step = 0; step < 10; step++) {
            if (take(i, (2 * i + step) % 26))
                break;
        }
    }
    UNLOCK(inode_locks[i]);
    return 0;
}

int main(void) {
    locks(inode_locks, 32);
    locks(block_locks, 26);
    threads(N, run);
}
