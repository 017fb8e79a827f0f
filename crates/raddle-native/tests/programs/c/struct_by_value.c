// Structures of every class of the calling convention, as arguments and results.
#include <stdio.h>

struct small { int a; char b; };
struct pair { long a; double b; };
struct floats { float a, b, c; };
struct large { long v[6]; };
struct mixed { float f; int i; };
struct odd { char text[13]; };
union either { double d; long l; };

static struct small f1(struct small s) { s.a += s.b; return s; }
static struct pair f2(struct pair p, struct pair q) { p.a += q.a; p.b *= q.b; return p; }
static struct floats f3(struct floats f, int k) { f.a += k; f.c -= f.b; return f; }
static struct large f4(struct large l, struct small s) { for (int i = 0; i < 6; i++) l.v[i] *= s.a; return l; }
static struct mixed f5(struct mixed m) { m.f += m.i; return m; }
static struct odd f6(struct odd o) { o.text[0]++; return o; }
static union either f7(union either e) { e.d = -e.d; return e; }
static long double f8(long double x, struct large l) { return x + l.v[5]; }

int main(void) {
    struct small (*volatile g1)(struct small) = f1;
    struct large (*volatile g4)(struct large, struct small) = f4;
    struct small s = g1((struct small){ 5, 3 });
    struct pair p = f2((struct pair){ 1, 2.5 }, (struct pair){ 10, 4 });
    struct floats f = f3((struct floats){ 1, 2, 3 }, 4);
    struct large l = g4((struct large){ { 1, 2, 3, 4, 5, 6 } }, s);
    struct mixed m = f5((struct mixed){ 1.5f, 2 });
    struct odd o = f6((struct odd){ "hello" });
    union either e = f7((union either){ 2.0 });
    printf("%d %d %ld %g %g %g %g %ld %g %s %lx %Lg\n", s.a, s.b, p.a, p.b, f.a, f.b, f.c, l.v[5], m.f, o.text, e.l, f8(0.5L, l));
    return 0;
}
