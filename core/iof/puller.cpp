// SPDX-License-Identifier: BSD-3-Clause
// The readers in this process: see puller.hpp.
#include "core/iof/puller.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/iof/forwarder.hpp"
#include "core/iof/forwarding.hpp"

namespace muster {
namespace {

/// Limit of a handler that buffers only by time.
constexpr size_t kMostBuffered = size_t{1} << 20;
/// Channels of different processes that one handler keeps something of.
constexpr size_t kMostStreams = 65536;

}  // namespace

struct Puller::Stream {
    pmix_proc_t source{};
    pmix_iof_channel_t channel = 0;
    std::unique_ptr<LineFormatter> formatter;  ///< null: bytes as they come
    std::string buffer;
};

struct Puller::Handler {
    size_t id = 0;
    pmix_iof_cbfunc_t function = nullptr;
    bool own_host = false;  ///< asked of our own host, else of `server`
    pmix_proc_t server{};
    size_t remote_id = 0;  ///< the number that it gave
    bool gone = false;
    OutputStyle style;
    size_t buffer_size = 0;
    std::chrono::seconds buffer_time{0};
    std::unique_ptr<OutputSink> sink;  ///< where a file, stdout or stderr gets it
    std::map<std::pair<Proc, pmix_iof_channel_t>, Stream> streams;
    std::unique_ptr<Watch> timer;

    bool keeps_something() const { return style.marks() || buffer_size > 0 || buffer_time.count() > 0; }

    pmix_status_t read(InfoView directives) {
        if (const pmix_status_t status = read_style(directives, style); status != PMIX_SUCCESS) return status;
        const auto size = directives.number<uint32_t>(PMIX_IOF_BUFFERING_SIZE);
        const auto time = directives.number<uint32_t>(PMIX_IOF_BUFFERING_TIME);
        if ((directives.has(PMIX_IOF_BUFFERING_SIZE) && !size) ||
            (directives.has(PMIX_IOF_BUFFERING_TIME) && !time))
            return PMIX_ERR_BAD_PARAM;
        buffer_size = size.value_or(0);
        buffer_time = std::chrono::seconds(time.value_or(0));
        return PMIX_SUCCESS;
    }
};

Puller::Puller(Exchange& exchange, Forwarding& forwarding) : exchange_(exchange), forwarding_(forwarding) {}
Puller::~Puller() = default;

void Puller::attach(Upstream& upstream) {
    upstream.on_message(tag::kIof, [this](const Frame& frame) { receive(frame); });
    upstream.on_lost([this](const pmix_proc_t& server) { lost(server); });
}

void Puller::set_style(InfoView directives) {
    OutputStyle style;
    if (read_style(directives, style) != PMIX_SUCCESS) return;
    style_ = style;
    if (!style.local.value_or(false)) return;
    exchange_.loop().need_driver();
    unasked_ = make_sink(std::move(style));
}

std::unique_ptr<OutputSink> Puller::make_sink(OutputStyle style) {
    return std::make_unique<OutputSink>(std::move(style), &forwarding_.console(), forwarding_.find_facts(),
                                        forwarding_.on_failure());
}

JobOutput Puller::output_of(InfoView directives) const {
    JobOutput output;
    output.channels = unasked_channels(directives);
    OutputStyle said;
    output.as_init = read_style(directives, said) != PMIX_SUCCESS || said == OutputStyle();
    OutputStyle& style = output.style = style_;
    if (!output.as_init) read_style(directives, style);
    // The server writes a job's files, and with PMIX_IOF_FILE_ONLY there is no other output.
    if (style.file_only && style.to_files()) style.local = false;
    style.file.clear();
    style.directory.clear();
    return output;
}

void Puller::spawned(const std::string& nspace, const JobOutput& output, const pmix_proc_t& server) {
    if (output.as_init || (!output.shown() && !unasked_)) return;
    Spawned& job = spawned_[nspace];
    job = {output.shown() ? make_sink(output.style) : nullptr, server, 0, 0};
    for (const pmix_iof_channel_t channel : {PMIX_FWD_STDOUT_CHANNEL, PMIX_FWD_STDERR_CHANNEL})
        job.channels += (output.channels & channel) != 0 ? 1 : 0;
}

/// Output under no handler's number: of a job that we have spawned, or of the server itself.
void Puller::take_unasked(const OutputPiece& piece) {
    const auto job = spawned_.find(std::string(nspace_view(piece.source.nspace)));
    OutputSink* sink = job != spawned_.end() ? job->second.sink.get() : unasked_.get();
    if (sink != nullptr) sink->write(piece);
    if (job == spawned_.end() || !piece.completes() || piece.channel == PMIX_FWD_STDDIAG_CHANNEL) return;
    // Hosts end stdout and stderr of each process, and mostly no stddiag.
    ++job->second.ended;
    const auto size = exchange_.store().job_size(piece.source.nspace);
    if (!size || job->second.ended < *size * job->second.channels) return;
    if (job->second.sink) job->second.sink->finish();
    spawned_.erase(job);
}

void Puller::pull(std::vector<pmix_proc_t> procs, Info directives, pmix_iof_channel_t channels,
                  pmix_iof_cbfunc_t function, OnPulled done) {
    auto handler = std::make_shared<Handler>();
    if (const pmix_status_t status = handler->read(directives); status != PMIX_SUCCESS)
        return done(status, 0);
    if (!exchange_.loop().need_driver()) return done(PMIX_ERR_NOMEM, 0);  // output is unsolicited
    handler->function = function;
    if (function == nullptr || handler->style.to_files()) {
        handler->sink = std::make_unique<OutputSink>(handler->style,
                                                     function == nullptr ? &forwarding_.console() : nullptr,
                                                     forwarding_.find_facts(), forwarding_.on_failure());
    }
    handler->id = next_id_++;
    handlers_[handler->id] = handler;
    const auto refuse = [this, handler, done](pmix_status_t status) {
        handlers_.erase(handler->id);
        done(status, 0);
    };
    PullRequest request;
    request.procs = std::move(procs);
    request.directives = std::move(directives);
    request.channels = channels;
    request.reference = handler->id;
    if (Upstream* client = exchange_.upstream()) {
        handler->server = client->server();
        Packer message = client->packer(Command::IofPull);
        request.write(message);
        if (const pmix_status_t error = message.error(); error != PMIX_SUCCESS) return refuse(error);
        client->request(std::move(message), [handler, refuse, done](Unpacker* reply) {
            if (reply == nullptr) return refuse(PMIX_ERR_LOST_CONNECTION);
            pmix_status_t status = PMIX_SUCCESS;
            if (!reply->status(status) || (status == PMIX_SUCCESS && !reply->size(handler->remote_id)))
                status = reply->error();
            if (status != PMIX_SUCCESS) return refuse(status);
            done(PMIX_SUCCESS, handler->id);
        });
    } else if (Forwarder* forwarder = forwarding_.forwarder()) {
        handler->own_host = true;
        forwarder->pull(
            std::move(request), [this, handler](const OutputPiece& piece) { take(handler, piece); },
            [handler, refuse, done](pmix_status_t status, size_t id) {
                if (status != PMIX_SUCCESS) return refuse(status);
                handler->remote_id = id;
                done(PMIX_SUCCESS, handler->id);
            });
    } else {
        refuse(PMIX_ERR_UNREACH);
    }
}

void Puller::deregister(size_t id, Info directives, HostDone done) {
    const auto found = handlers_.find(id);
    if (found == handlers_.end()) return done(answer_of(PMIX_ERR_BAD_PARAM));
    const HandlerPtr handler = found->second;
    handlers_.erase(found);
    flush(handler);
    handler->gone = true;
    handler->timer.reset();
    if (handler->own_host) {
        Forwarder* forwarder = forwarding_.forwarder();
        if (forwarder == nullptr) return done({});
        return forwarder->stop(nullptr, handler->remote_id, std::move(directives), done);
    }
    Upstream* client = exchange_.attached();
    // The registration ended with its server.
    if (client == nullptr || !client->connected_to(handler->server)) return done({});
    Packer message = client->packer(Command::IofDeregister);
    message.infos(directives).size(handler->remote_id);
    if (const pmix_status_t error = message.error(); error != PMIX_SUCCESS) return done(answer_of(error));
    client->request_to(handler->server, std::move(message), [done = std::move(done)](Unpacker* reply) {
        pmix_status_t status = PMIX_SUCCESS;
        if (reply != nullptr && !reply->status(status)) status = reply->error();
        done(answer_of(status));
    });
}

void Puller::receive(const Frame& frame) {
    const Upstream& client = *exchange_.attached();
    Unpacker in(client.format(), frame.payload.view());
    OutputPiece piece;
    size_t reference = 0;
    if (!read_output(in, piece, reference)) {
        MUSTER_LOG(exchange_.log(), Error, "server %s sent output that cannot be read (%zu bytes)",
                   proc_text(client.server()).c_str(), frame.payload.size());
        return;
    }
    if ((piece.channel & kOutputChannels) == 0) return;
    const auto found = handlers_.find(reference);
    if (found != handlers_.end() && !found->second->own_host) {
        const HandlerPtr handler = found->second;
        take(handler, piece);
    } else if (reference == 0) {
        take_unasked(piece);
    }
    slow_down();
}

/// While our own stdout is not read nothing more is read from the servers, which then wait, too.
void Puller::slow_down() {
    Console& console = forwarding_.console();
    if (slowed_ || !console.full()) return;
    slowed_ = true;
    exchange_.attached()->pause(true);
    console.on_room([this] {
        slowed_ = false;
        exchange_.attached()->pause(false);
    });
}

void Puller::lost(const pmix_proc_t& server) {
    const auto handlers = handlers_;
    for (const auto& [id, handler] : handlers) {
        if (!handler->own_host && proc_is(handler->server, server)) flush(handler);
    }
    std::erase_if(spawned_, [&](const auto& entry) {
        const Spawned& job = entry.second;
        if (!proc_is(job.server, server)) return false;
        if (job.sink) job.sink->finish();
        return true;
    });
}

void Puller::take(const HandlerPtr& handler, const OutputPiece& piece) {
    if (handler->gone) return;
    if (handler->sink) handler->sink->write(piece);
    if (handler->function == nullptr || (handler->style.file_only && handler->style.to_files())) return;
    const std::string_view bytes(reinterpret_cast<const char*>(piece.bytes.data()), piece.bytes.size());
    const pmix_iof_channel_t shown = handler->style.shown_on(piece.channel);
    if (!handler->keeps_something() && !piece.bytes.empty())
        return call(handler, piece.source, shown, bytes, piece.info);
    if (handler->keeps_something()) {
        if (handler->streams.size() >= kMostStreams) {
            flush(handler);
            handler->streams.clear();
        }
        Stream& stream = handler->streams[{Proc(piece.source), piece.channel}];
        if (stream.channel == 0) {
            stream.source = piece.source;
            stream.channel = piece.channel;
            if (handler->style.marks()) {
                stream.formatter = std::make_unique<LineFormatter>(handler->style, piece.source,
                                                                   piece.channel, forwarding_.find_facts());
            }
        }
        if (!stream.formatter) {
            buffer(handler, stream, bytes);
        } else {
            std::string shown_text;
            stream.formatter->feed(bytes, shown_text);
            buffer(handler, stream, shown_text);
        }
        if (!piece.completes()) return;
        flush(handler, stream, piece.bytes.empty() ? InfoView{} : piece.info);
        handler->streams.erase({Proc(piece.source), piece.channel});
        if (!piece.bytes.empty() || handler->gone) return;
    }
    // The end of the channel.
    Info info;
    info.add_copies(piece.info);
    if (!info.view().has(PMIX_IOF_COMPLETE)) info.add(PMIX_IOF_COMPLETE, true);
    call(handler, piece.source, shown, {}, info);
}

void Puller::buffer(const HandlerPtr& handler, Stream& stream, std::string_view bytes) {
    if (bytes.empty()) return;
    stream.buffer += bytes;
    const size_t size = handler->buffer_size > 0           ? handler->buffer_size
                        : handler->buffer_time.count() > 0 ? kMostBuffered
                                                           : 1;
    if (stream.buffer.size() >= size) {
        call(handler, stream.source, handler->style.shown_on(stream.channel),
             std::exchange(stream.buffer, {}), {});
    } else if (handler->buffer_time.count() > 0 && !handler->timer) {
        handler->timer =
            exchange_.loop().after(handler->buffer_time, [this, weak = std::weak_ptr<Handler>(handler)] {
                const HandlerPtr due = weak.lock();
                if (!due) return;
                due->timer.reset();
                for (auto& [key, waiting] : due->streams) {
                    if (waiting.buffer.empty()) continue;
                    call(due, waiting.source, due->style.shown_on(waiting.channel),
                         std::exchange(waiting.buffer, {}), {});
                    if (due->gone) return;
                }
            });
    }
}

void Puller::flush(const HandlerPtr& handler, Stream& stream, InfoView info) {
    if (stream.formatter) stream.formatter->finish(stream.buffer);
    if (stream.buffer.empty() && info.empty()) return;
    call(handler, stream.source, handler->style.shown_on(stream.channel), std::exchange(stream.buffer, {}),
         info);
}

void Puller::flush(const HandlerPtr& handler) {
    if (handler->sink) handler->sink->finish();
    for (auto& [key, stream] : handler->streams)
        flush(handler, stream, {});
}

void Puller::call(const HandlerPtr& handler, const pmix_proc_t& source, pmix_iof_channel_t channel,
                  std::string_view bytes, InfoView info) {
    pmix_proc_t from = source;
    pmix_byte_object_t payload{};
    if (!bytes.empty()) {
        payload.bytes = static_cast<char*>(std::malloc(bytes.size()));
        if (payload.bytes == nullptr) throw std::bad_alloc();
        std::memcpy(payload.bytes, bytes.data(), bytes.size());
        payload.size = bytes.size();
    }
    handler->function(handler->id, channel, &from, &payload, const_cast<pmix_info_t*>(info.data), info.size);
    // Ours again, unless the callback has taken it (docs/decisions: who frees forwarded output).
    std::free(payload.bytes);
}

void Puller::finish() {
    const auto handlers = handlers_;
    for (const auto& [id, handler] : handlers)
        flush(handler);
    if (unasked_) unasked_->finish();
    for (const auto& [nspace, job] : spawned_) {
        if (job.sink) job.sink->finish();
    }
}

}  // namespace muster
