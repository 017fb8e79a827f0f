// Eight queens by backtracking.
#include <stdio.h>

static int place(int row, unsigned columns, unsigned left, unsigned right) {
    if (row == 8) return 1;
    int count = 0;
    for (int c = 0; c < 8; c++) {
        unsigned bit = 1u << c;
        if ((columns | left | right) & bit) continue;
        count += place(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}

int main(void) {
    printf("%d\n", place(0, 0, 0, 0));
    return place(0, 0, 0, 0);
}
