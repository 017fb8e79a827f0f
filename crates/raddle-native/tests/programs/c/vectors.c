// GCC vector extensions and SSE2 intrinsics.
#include <emmintrin.h>
#include <stdio.h>

typedef int v4 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(16)));

int main(void) {
    v4 a = { 1, -2, 3, -4 }, b = { 10, 20, 30, 40 };
    v4 c = a * b + (a > b) - (b >> 1), d = __builtin_shuffle(a, b, (v4){ 0, 5, 2, 7 });
    f4 f = { 1.5f, 2.5f, -3.5f, 4 }, g = f * f - 1;
    for (int i = 0; i < 4; i++) printf("%d %d %g ", c[i], d[i], g[i]);
    __m128i x = _mm_set_epi16(1, 2, 3, 4, 5, 6, 7, 30000), y = _mm_set1_epi16(3000);
    short out[8];
    _mm_storeu_si128((__m128i *)out, _mm_adds_epi16(x, y));
    for (int i = 0; i < 8; i++) printf("%d ", out[i]);
    _mm_storeu_si128((__m128i *)out, _mm_packs_epi32(_mm_madd_epi16(x, y), _mm_srai_epi32(x, 3)));
    for (int i = 0; i < 8; i++) printf("%d ", out[i]);
    printf("%d %x %d\n", _mm_movemask_epi8(_mm_cmpgt_epi16(x, y)), _mm_movemask_epi8(x), _mm_cvtsd_si32(_mm_set_sd(2.5)));
    __m128d p = _mm_sqrt_pd(_mm_set_pd(2, 3));
    printf("%.17g %.17g %d\n", _mm_cvtsd_f64(p), _mm_cvtsd_f64(_mm_unpackhi_pd(p, p)), _mm_comilt_sd(p, p));
    return 0;
}
