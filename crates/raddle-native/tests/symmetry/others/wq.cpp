// work queue with condition variable and std::function tasks
#include <thread>
#include <mutex>
#include <condition_variable>
#include <functional>
#include <vector>
#include <deque>
#include <atomic>
#include <cassert>
struct Pool { std::mutex m; std::condition_variable c; std::deque<std::function<void()>> q; bool stop=false; std::vector<std::thread> ts;
 Pool(int n){ for(int i=0;i<n;i++) ts.emplace_back([this]{ for(;;){ std::function<void()> f; { std::unique_lock<std::mutex> l(m); c.wait(l,[this]{return stop||!q.empty();}); if(q.empty()) return; f=std::move(q.front()); q.pop_front(); } f(); } }); }
 void add(std::function<void()> f){ { std::lock_guard<std::mutex> l(m); q.push_back(std::move(f)); } c.notify_one(); }
 ~Pool(){ { std::lock_guard<std::mutex> l(m); stop=true; } c.notify_all(); for(auto&t:ts) t.join(); } };
int main(){ std::atomic<int> x{0}; { Pool p(2); p.add([&]{x+=1;}); } assert(x==1); }
