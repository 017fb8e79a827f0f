// a plain variable is written between the starts; only who comes second reads it
#include <pthread.h>
#include <stdatomic.h>
static int y; static atomic_int x;
static void *run(void *p){ if(atomic_fetch_add(&x,1)==1) { volatile int r=y; (void)r; } return 0; }
int main(){ pthread_t t[2]; pthread_create(&t[0],0,run,0); y=1; pthread_create(&t[1],0,run,0); for(int i=0;i<2;i++) pthread_join(t[i],0); }
