/* Functions of the C++ library that touch memory which threads share: how a thread starts, and what containers are
   made of. The library has them compiled, so without hooks; here they are compiled like the program. Their names are
   those that the compiler gives them. (Cormen et al., *Introduction to Algorithms*, has the trees.) */

typedef unsigned long size_t;

extern "C" {

/* Threads. The first entries of the state's table are its destructors, then comes what it runs. */

int pthread_create(unsigned long *thread, const void *attributes, void *(*function)(void *), void *argument);

struct State {
    void (**functions)(State *);
};

static void *run_state(void *argument) {
    State *state = (State *)argument;
    state->functions[2](state);
    state->functions[1](state);
    return 0;
}

void _ZSt20__throw_system_errori(int error);

void __wrap__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    unsigned long *thread, State **state, void (*)()) {
    int error = pthread_create(thread, 0, run_state, *state);
    if (error)
        _ZSt20__throw_system_errori(error);
    *state = 0;
}

/* Things that happen once. If the function throws an exception, the next one may try. */

int raddle_once_begin(void *once, void *caller);
void raddle_once_end(void *once, int done);

struct Attempt {
    void *once;
    int done;
    ~Attempt() { raddle_once_end(once, done); }
};

int pthread_once(void *once, void (*function)()) {
    if (raddle_once_begin(once, __builtin_return_address(0))) {
        Attempt attempt = {once, 0};
        function();
        attempt.done = 1;
    }
    return 0;
}

/* Exceptions of the library with a text. They are objects with a table and the text, which copies share. */

void *malloc(size_t size);
void free(void *block);
size_t strlen(const char *text);
void *memcpy(void *to, const void *from, size_t size);

struct Text {
    long owners;
    char bytes[8];
};

struct Exception {
    void **table;
    Text *text;
};

struct String {
    const char *bytes;
};

static void make(Exception *exception, void **table, const char *bytes) {
    size_t size = strlen(bytes) + 1;
    Text *text = (Text *)malloc(sizeof(long) + size);
    text->owners = 1;
    memcpy(text->bytes, bytes, size);
    exception->table = table + 2;
    exception->text = text;
}

static void copy(Exception *exception, void **table, const Exception *from) {
    __atomic_fetch_add(&from->text->owners, 1, __ATOMIC_RELAXED);
    exception->table = table + 2;
    exception->text = from->text;
}

static void drop(Exception *exception) {
    if (__atomic_fetch_sub(&exception->text->owners, 1, __ATOMIC_ACQ_REL) == 1)
        free(exception->text);
}

static Exception *assign(Exception *exception, const Exception *from) {
    __atomic_fetch_add(&from->text->owners, 1, __ATOMIC_RELAXED);
    drop(exception);
    exception->text = from->text;
    return exception;
}

#define STRING "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

/* Constructors from texts and strings, and destructors. */
#define MADE(name)                                                                                        \
    extern void *_ZTVSt##name[];                                                                          \
    void _ZNSt##name##C1EPKc(Exception *e, const char *text) { make(e, _ZTVSt##name, text); }             \
    void _ZNSt##name##C2EPKc(Exception *e, const char *text) { make(e, _ZTVSt##name, text); }             \
    void make_1_##name(Exception *e, String *text) __asm__("_ZNSt" #name "C1E" STRING);                        \
    void make_1_##name(Exception *e, String *text) { make(e, _ZTVSt##name, text->bytes); }                     \
    void make_2_##name(Exception *e, String *text) __asm__("_ZNSt" #name "C2E" STRING);                        \
    void make_2_##name(Exception *e, String *text) { make(e, _ZTVSt##name, text->bytes); }                     \
    void _ZNSt##name##D1Ev(Exception *e) { drop(e); }                                                     \
    void _ZNSt##name##D2Ev(Exception *e) { drop(e); }                                                     \
    void _ZNSt##name##D0Ev(Exception *e) {                                                                \
        drop(e);                                                                                          \
        free(e);                                                                                          \
    }

/* And copies. */
#define COPIED(name)                                                                                      \
    void _ZNSt##name##C1ERKS_(Exception *e, const Exception *from) { copy(e, _ZTVSt##name, from); }       \
    void _ZNSt##name##C2ERKS_(Exception *e, const Exception *from) { copy(e, _ZTVSt##name, from); }       \
    void _ZNSt##name##C1EOS_(Exception *e, const Exception *from) { copy(e, _ZTVSt##name, from); }        \
    void _ZNSt##name##C2EOS_(Exception *e, const Exception *from) { copy(e, _ZTVSt##name, from); }        \
    Exception *_ZNSt##name##aSERKS_(Exception *e, const Exception *from) { return assign(e, from); }      \
    Exception *_ZNSt##name##aSEOS_(Exception *e, const Exception *from) { return assign(e, from); }       \
    const char *_ZNKSt##name##4whatEv(const Exception *e) { return e->text->bytes; }

MADE(11logic_error)
COPIED(11logic_error)
MADE(13runtime_error)
COPIED(13runtime_error)
MADE(12domain_error)
MADE(16invalid_argument)
MADE(12length_error)
MADE(12out_of_range)
MADE(11range_error)
MADE(14overflow_error)
MADE(15underflow_error)

/* Streams are refused where they are used, so nothing has to be made ready for them. */

void __wrap__ZNSt8ios_base4InitC1Ev(void *) {}

void __wrap__ZNSt8ios_base4InitD1Ev(void *) {}

/* Trees. */

struct Node {
    int is_black;
    Node *parent, *left, *right;
};

static Node *following(Node *node) {
    if (node->right) {
        for (node = node->right; node->left;)
            node = node->left;
        return node;
    }
    Node *parent = node->parent;
    while (node == parent->right) {
        node = parent;
        parent = parent->parent;
    }
    return node->right != parent ? parent : node;
}

static Node *preceding(Node *node) {
    if (!node->is_black && node->parent->parent == node)
        return node->right;
    if (node->left) {
        for (node = node->left; node->right;)
            node = node->right;
        return node;
    }
    Node *parent = node->parent;
    while (node == parent->left) {
        node = parent;
        parent = parent->parent;
    }
    return parent;
}

Node *_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(Node *node) { return following(node); }
Node *_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base(Node *node) { return following(node); }
Node *_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(Node *node) { return preceding(node); }
Node *_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base(Node *node) { return preceding(node); }

/* Puts `other` where the node is in its parent. */
static void replace(Node *node, Node *other, Node *header) {
    if (node == header->parent)
        header->parent = other;
    else if (node == node->parent->left)
        node->parent->left = other;
    else
        node->parent->right = other;
}

static void rotate_left(Node *node, Node *header) {
    Node *other = node->right;
    node->right = other->left;
    if (other->left)
        other->left->parent = node;
    other->parent = node->parent;
    replace(node, other, header);
    other->left = node;
    node->parent = other;
}

static void rotate_right(Node *node, Node *header) {
    Node *other = node->left;
    node->left = other->right;
    if (other->right)
        other->right->parent = node;
    other->parent = node->parent;
    replace(node, other, header);
    other->right = node;
    node->parent = other;
}

static void rebalance(Node *node, Node *header) {
    while (node != header->parent && !node->parent->is_black) {
        Node *parent = node->parent, *above = parent->parent;
        bool is_left = parent == above->left;
        Node *uncle = is_left ? above->right : above->left;
        if (uncle && !uncle->is_black) {
            parent->is_black = uncle->is_black = 1;
            above->is_black = 0;
            node = above;
            continue;
        }
        if (node == (is_left ? parent->right : parent->left)) {
            node = parent;
            is_left ? rotate_left(node, header) : rotate_right(node, header);
        }
        node->parent->is_black = 1;
        above->is_black = 0;
        is_left ? rotate_right(above, header) : rotate_left(above, header);
    }
    header->parent->is_black = 1;
}

void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(bool is_left, Node *node, Node *parent,
                                                                       Node *header) {
    node->parent = parent;
    node->left = node->right = 0;
    node->is_black = 0;
    if (is_left) {
        parent->left = node;
        if (parent == header) {
            header->parent = node;
            header->right = node;
        } else if (parent == header->left) {
            header->left = node;
        }
    } else {
        parent->right = node;
        if (parent == header->right)
            header->right = node;
    }
    rebalance(node, header);
}

static bool is_black(Node *node) { return !node || node->is_black; }

/* A path to `node`, whose parent is `parent`, has one black node too few. */
static void repair(Node *node, Node *parent, Node *header) {
    while (node != header->parent && is_black(node)) {
        bool is_left = node == parent->left;
        Node *other = is_left ? parent->right : parent->left;
        if (!other->is_black) {
            other->is_black = 1;
            parent->is_black = 0;
            is_left ? rotate_left(parent, header) : rotate_right(parent, header);
            other = is_left ? parent->right : parent->left;
        }
        if (is_black(other->left) && is_black(other->right)) {
            other->is_black = 0;
            node = parent;
            parent = parent->parent;
            continue;
        }
        if (is_black(is_left ? other->right : other->left)) {
            (is_left ? other->left : other->right)->is_black = 1;
            other->is_black = 0;
            is_left ? rotate_right(other, header) : rotate_left(other, header);
            other = is_left ? parent->right : parent->left;
        }
        other->is_black = parent->is_black;
        parent->is_black = 1;
        (is_left ? other->right : other->left)->is_black = 1;
        is_left ? rotate_left(parent, header) : rotate_right(parent, header);
        break;
    }
    if (node)
        node->is_black = 1;
}

static Node *leftmost(Node *node) {
    while (node->left)
        node = node->left;
    return node;
}

static Node *rightmost(Node *node) {
    while (node->right)
        node = node->right;
    return node;
}

Node *_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(Node *node, Node *header) {
    Node *moved = node->left && node->right ? leftmost(node->right) : node;
    Node *below = moved->left ? moved->left : moved->right;
    Node *parent = moved->parent;
    int was_black = moved->is_black;
    if (moved == node) {
        if (below)
            below->parent = parent;
        replace(node, below, header);
        if (header->left == node)
            header->left = node->right ? leftmost(below) : parent;
        if (header->right == node)
            header->right = node->left ? rightmost(below) : parent;
    } else {
        node->left->parent = moved;
        moved->left = node->left;
        if (moved != node->right) {
            if (below)
                below->parent = parent;
            parent->left = below;
            moved->right = node->right;
            node->right->parent = moved;
        } else {
            parent = moved;
        }
        replace(node, moved, header);
        moved->parent = node->parent;
        moved->is_black = node->is_black;
        node->is_black = was_black;
    }
    if (was_black)
        repair(below, parent, header);
    return node;
}

/* Lists. */

struct Link {
    Link *next, *previous;
};

void _ZNSt8__detail15_List_node_base7_M_hookEPS0_(Link *link, Link *position) {
    link->next = position;
    link->previous = position->previous;
    position->previous->next = link;
    position->previous = link;
}

void _ZNSt8__detail15_List_node_base9_M_unhookEv(Link *link) {
    Link *next = link->next, *previous = link->previous;
    previous->next = next;
    next->previous = previous;
}

void _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(Link *link, Link *first, Link *last) {
    if (link == last)
        return;
    last->previous->next = link;
    first->previous->next = last;
    link->previous->next = first;
    Link *before = link->previous;
    link->previous = last->previous;
    last->previous = first->previous;
    first->previous = before;
}

void _ZNSt8__detail15_List_node_base10_M_reverseEv(Link *link) {
    Link *at = link;
    do {
        Link *next = at->next;
        at->next = at->previous;
        at->previous = next;
        at = next;
    } while (at != link);
}

static void adopt(Link *link, Link *from) {
    link->next = from->next;
    link->previous = from->previous;
    link->next->previous = link->previous->next = link;
}

void _ZNSt8__detail15_List_node_base4swapERS0_S1_(Link *one, Link *other) {
    bool one_has = one->next != one, other_has = other->next != other;
    Link first = *one;
    if (other_has)
        adopt(one, other);
    else
        one->next = one->previous = one;
    if (one_has) {
        other->next = first.next;
        other->previous = first.previous;
        other->next->previous = other->previous->next = other;
    } else {
        other->next = other->previous = other;
    }
}

/* Hash tables: how many buckets they have. */

struct Policy {
    float load;
    size_t limit;
};

struct Growth {
    size_t is_needed, buckets;
};

size_t _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm(Policy *policy, size_t wanted) {
    size_t buckets = wanted <= 1 ? 1 : wanted <= 2 ? 2 : wanted | 1;
    for (size_t divisor = 3; divisor * divisor <= buckets; divisor += 2) {
        if (buckets % divisor == 0) {
            buckets += 2;
            divisor = 1;
        }
    }
    policy->limit = (size_t)((double)buckets * policy->load);
    return buckets;
}

Growth _ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm(Policy *policy, size_t buckets, size_t elements,
                                                                 size_t added) {
    size_t all = elements + added;
    if (all <= policy->limit)
        return Growth{0, 0};
    double least = (double)(policy->limit || all > 11 ? all : 11) / policy->load;
    if (least < (double)buckets) {
        policy->limit = (size_t)((double)buckets * policy->load);
        return Growth{0, 0};
    }
    size_t wanted = (size_t)least + 1;
    if (wanted < 2 * buckets)
        wanted = 2 * buckets;
    return Growth{1, _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm(policy, wanted)};
}
}
