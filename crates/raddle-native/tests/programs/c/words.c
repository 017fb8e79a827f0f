// A large program-like mix: count words with a binary tree, print in order.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree { struct tree *left, *right; int count; char word[]; };

static struct tree *insert(struct tree *t, const char *word) {
    if (!t) {
        t = calloc(1, sizeof *t + strlen(word) + 1);
        strcpy(t->word, word);
    }
    int order = strcmp(word, t->word);
    if (order < 0) t->left = insert(t->left, word);
    else if (order > 0) t->right = insert(t->right, word);
    else t->count++;
    return t;
}
static void print(struct tree *t) {
    if (!t) return;
    print(t->left);
    printf("%-8s%3d\n", t->word, t->count);
    print(t->right);
    free(t);
}

int main(void) {
    const char *text = "it was the best of times it was the worst of times it was the age of wisdom it was the age of foolishness";
    struct tree *root = NULL;
    char word[32];
    int n = 0;
    for (const char *p = text;; p++) {
        if (isalpha((unsigned char)*p)) word[n++] = *p;
        else { word[n] = 0; if (n) root = insert(root, word); n = 0; }
        if (!*p) break;
    }
    print(root);
    return 0;
}
