#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __raddle_assert_fail(#condition))
#endif
#ifndef __RADDLE_ASSERT_H
#define __RADDLE_ASSERT_H
void __raddle_assert_fail(const char *);
#define static_assert _Static_assert
#endif
