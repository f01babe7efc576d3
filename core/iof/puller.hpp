// SPDX-License-Identifier: BSD-3-Clause
// The readers of forwarded output in this process: what PMIx_IOF_pull registered, and the way of what arrives
// to the callback, or to this process's own stdout and stderr, buffered and marked as asked (Standard: IO
// Forwarding). Belongs to the loop.
#pragma once

#include <pmix_tool.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/iof/messages.hpp"
#include "core/iof/sink.hpp"
#include "core/service/exchange.hpp"

namespace muster {

class Client;
class Runtime;

class Puller {
  public:
    using OnPulled = std::function<void(pmix_status_t status, size_t id)>;

    explicit Puller(Runtime& runtime);
    ~Puller();

    /// From now on what `client` receives is for us. Before it connects.
    void attach(Client& client);

    /// PMIx_IOF_pull. `function`: null for stdout and stderr of this process.
    void pull(std::vector<pmix_proc_t> procs, Info directives, pmix_iof_channel_t channels,
              pmix_iof_cbfunc_t function, OnPulled done);
    /// PMIx_IOF_deregister. PMIX_ERR_BAD_PARAM for an unknown number. What is buffered is delivered first.
    void deregister(size_t id, Info directives, HostDone done);
    /// Output that nobody here asked for (reference 0) is shown, where the process wants that
    /// (PMIX_IOF_LOCAL_OUTPUT of its init).
    void set_style(InfoView directives);
    /// Whether output of a job that is spawned with these directives is to be shown without a pull. What the
    /// job does not say, the init's directives do.
    bool shows_spawned(InfoView directives) const;
    /// The job has this name: what comes of it is shown as they say, or not at all.
    void spawned(const std::string& nspace, InfoView directives);
    /// The process ends: what is buffered is delivered.
    void finish();

  private:
    struct Handler;
    using HandlerPtr = std::shared_ptr<Handler>;
    struct Stream;

    void receive(const Frame& frame);
    void lost(const pmix_proc_t& server);
    void take(const HandlerPtr& handler, const OutputPiece& piece);
    void buffer(const HandlerPtr& handler, Stream& stream, std::string_view bytes);
    void flush(const HandlerPtr& handler, Stream& stream, InfoView info);
    void flush(const HandlerPtr& handler);
    void call(const HandlerPtr& handler, const pmix_proc_t& source, pmix_iof_channel_t channel,
              std::string_view bytes, InfoView info);
    void slow_down();
    OutputStyle style_of(InfoView directives) const;
    std::unique_ptr<OutputSink> make_sink(OutputStyle style);

    Runtime& runtime_;
    bool slowed_ = false;  ///< our servers are not read
    size_t next_id_ = 1;
    std::unordered_map<size_t, HandlerPtr> handlers_;
    OutputStyle style_;  ///< of the init
    std::unique_ptr<OutputSink> unasked_;
    /// Of jobs that are shown in another style than the init's; null: not shown.
    std::unordered_map<std::string, std::unique_ptr<OutputSink>> spawned_;
};

}  // namespace muster
