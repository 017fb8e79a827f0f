// Futures: which thread comes first tells the results apart.
#include <future>
#include <vector>
#include <atomic>
#include <cassert>
int main(){ std::atomic<int> n{0}; std::vector<std::future<int>> f; for(int i=0;i<2;i++) f.push_back(std::async(std::launch::async,[&n]{ return n.fetch_add(1); })); int a=f[0].get(), b=f[1].get(); assert(a!=b); assert(a<b); }
