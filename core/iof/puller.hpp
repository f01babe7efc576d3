// SPDX-License-Identifier: BSD-3-Clause
// The readers of forwarded output in this process: registrations of PMIx_IOF_pull, and the delivery of output
// to the callback, or to this process's own stdout and stderr, buffered and marked as requested (Standard: IO
// Forwarding). Belongs to the loop.
#pragma once

#include <pmix_tool.h>

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/exchange/exchange.hpp"
#include "core/iof/messages.hpp"
#include "core/iof/sink.hpp"
#include "framework/base/keyed_hash.hpp"

namespace muster {

class Forwarding;

/// How a tool shows the output of a job that it spawns.
struct JobOutput {
    OutputStyle style;
    bool as_init = true;  ///< the job's directives set no style
    pmix_iof_channel_t channels = 0;

    bool shown() const { return style.local.value_or(false); }
};

class Puller {
  public:
    using OnPulled = std::function<void(pmix_status_t status, size_t id)>;

    Puller(Exchange& exchange, Forwarding& forwarding);
    ~Puller();

    /// From now on the output that `upstream` receives is for us. Before it connects.
    void attach(Upstream& upstream);

    /// PMIx_IOF_pull. `function`: null for stdout and stderr of this process.
    void pull(std::vector<pmix_proc_t> procs, Info directives, pmix_iof_channel_t channels,
              pmix_iof_cbfunc_t function, OnPulled done);
    /// PMIx_IOF_deregister. PMIX_ERR_BAD_PARAM for an unknown number. Delivers buffered output first.
    void deregister(size_t id, Info directives, HostDone done);
    /// Output without a request of this process (reference 0) is shown, if the process requests that
    /// (PMIX_IOF_LOCAL_OUTPUT of its init).
    void set_style(InfoView directives);
    /// The output policy of a spawned job without a pull: these directives, with those of init as defaults.
    JobOutput output_of(InfoView directives) const;
    /// The job has this name, at that server: its output is shown in this style, or not at all.
    void spawned(const std::string& nspace, const JobOutput& output, const pmix_proc_t& server);
    /// The process ends: buffered output is delivered.
    void finish();

  private:
    struct Handler;
    using HandlerPtr = std::shared_ptr<Handler>;
    struct Stream;
    /// A job that is shown in another style than the init's.
    struct Spawned {
        std::unique_ptr<OutputSink> sink;  ///< null: not shown
        pmix_proc_t server{};
        size_t channels = 0;  ///< of each process, whose end is reported
        size_t ended = 0;     ///< of all processes together
    };

    void receive(const Frame& frame);
    void take_unasked(const OutputPiece& piece);
    void lost(const pmix_proc_t& server);
    void take(const HandlerPtr& handler, const OutputPiece& piece);
    void buffer(const HandlerPtr& handler, Stream& stream, std::string_view bytes);
    void flush(const HandlerPtr& handler, Stream& stream, InfoView info);
    void flush(const HandlerPtr& handler);
    void call(const HandlerPtr& handler, const pmix_proc_t& source, pmix_iof_channel_t channel,
              std::string_view bytes, InfoView info);
    void slow_down();
    std::unique_ptr<OutputSink> make_sink(OutputStyle style);

    Exchange& exchange_;
    Forwarding& forwarding_;
    bool slowed_ = false;  ///< our servers are not read
    size_t next_id_ = 1;
    std::unordered_map<size_t, HandlerPtr> handlers_;
    OutputStyle style_;  ///< of the init
    std::unique_ptr<OutputSink> unasked_;
    /// By namespace, until all of its output has come.
    TextMap<Spawned> spawned_;
};

}  // namespace muster
