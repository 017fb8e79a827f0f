// Insertion sort and reversal of a linked list.
#include <stdio.h>
#include <stdlib.h>

struct node { int value; struct node *next; };

int main(void) {
    struct node *head = NULL;
    for (int i = 0; i < 60; i++) {
        struct node *n = malloc(sizeof *n), **p = &head;
        n->value = i * 53 % 61;
        while (*p && (*p)->value < n->value) p = &(*p)->next;
        n->next = *p;
        *p = n;
    }
    struct node *back = NULL;
    while (head) { struct node *n = head; head = n->next; n->next = back; back = n; }
    while (back) { struct node *n = back; printf("%d ", n->value); back = n->next; free(n); }
    putchar('\n');
    return 0;
}
