// Threads compare their identifiers.
#include <thread>
#include <atomic>
#include <vector>
#include <cassert>
int main(){ std::atomic<std::thread::id> first{}; std::atomic<int> lower{0}; std::vector<std::thread> ts; for(int i=0;i<3;i++) ts.emplace_back([&]{ std::thread::id none{}; auto me=std::this_thread::get_id(); if(!first.compare_exchange_strong(none,me)) { if(me<none) lower++; } }); for(auto&t:ts) t.join(); assert(lower!=2); }
