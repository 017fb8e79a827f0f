// each thread gets its own vector by value; equal contents
#include <thread>
#include <vector>
#include <atomic>
#include <cassert>
int main(){ std::atomic<int> x{0}; std::vector<std::thread> ts; for(int i=0;i<3;i++){ std::vector<int> v{1,2,3}; ts.emplace_back([&x,v]{ int s=0; for(int k:v) s+=k; int o=x.load(); x.store(o+s); }); } for(auto&t:ts) t.join(); assert(x>=6); }
