// captures a pointer to the previous one's slot
#include <thread>
#include <vector>
#include <atomic>
#include <memory>
#include <cassert>
int main(){ std::vector<std::unique_ptr<std::atomic<int>>> s; for(int i=0;i<4;i++) s.push_back(std::make_unique<std::atomic<int>>(i==0)); std::vector<std::thread> ts; for(int i=0;i<3;i++){ auto *a=s[i].get(); auto *b=s[i+1].get(); ts.emplace_back([a,b]{ if(a->load()) b->store(1); }); } for(auto&t:ts) t.join(); assert(*s[3]==0); }
