// Calls without declarations.
struct node {
    struct node *next;
    int value;
};

int main(void) {
    struct node *first = malloc(sizeof(struct node)), *second = calloc(1, sizeof(struct node));
    first->next = second;
    first->value = nondet_bool();
    assert(first->next->value == 0);
    assert(strlen("four") == 4 && strchr("ab", 'b') != 0);
    free(second);
    free(first);
    return 0;
}
