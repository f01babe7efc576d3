// SPDX-License-Identifier: BSD-3-Clause
// The files of /proc, and their fields: see usage.hpp.
#include "core/monitor/usage.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <charconv>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace muster {
namespace {

constexpr size_t kMaxFile = size_t{1} << 20;  // limit of bytes read from one file

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text;
    char piece[4096];
    while (text.size() < kMaxFile && (file.read(piece, sizeof piece), file.gcount() > 0))
        text.append(piece, static_cast<size_t>(file.gcount()));
    return text;
}

std::vector<std::string> words(const std::string& text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

uint64_t number(const std::string& word) {
    uint64_t value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    return value;
}

/// Lines of the form "Name:  123 kB", by name.
std::map<std::string, float> megabytes_by_name(const std::string& text) {
    std::map<std::string, float> sizes;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        const size_t colon = line.find(':');
        const auto values = words(line.substr(colon == std::string::npos ? line.size() : colon + 1));
        if (!values.empty()) sizes[line.substr(0, colon)] = static_cast<float>(number(values[0])) / 1024.0F;
    }
    return sizes;
}

/// One subject's statistics.
class Sample {
  public:
    explicit Sample(const TextSet& keys) : keys_(keys) {}

    bool wants(const char* key) const { return keys_.empty() || keys_.contains(key); }
    template <class T>
    void add(const char* key, const T& value) {
        if (wants(key)) info.add(key, value);
    }
    void add(const char* key, Value value) {
        if (wants(key)) info.add(key, std::move(value));
    }
    void add_size(const char* key, const std::map<std::string, float>& sizes, const char* name) {
        if (const auto found = sizes.find(name); found != sizes.end()) add(key, found->second);
    }
    void finish(Info& samples, const char* key, const char* time_key) {
        const time_t now = time(nullptr);
        info.add(time_key, Value::of(PMIX_TIME, &now));
        samples.add(key, std::move(info).to_value());
    }

    Info info;

  private:
    const TextSet& keys_;
};

void measure_process(const UsageRequest& request, const UsageRequest::Process& process, Info& samples) {
    const std::string folder = request.root + "/" + std::to_string(process.pid) + "/";
    const std::string stat = contents(folder + "stat");
    // The name of the program, in parentheses, may have any character.
    const size_t name_end = stat.rfind(')');
    const auto fields = words(stat.substr(name_end == std::string::npos ? stat.size() : name_end + 1));
    // By proc(5) they are counted from 1; the first one here is the third, the state.
    constexpr size_t kFirst = 3, kUserTime = 14, kSystemTime = 15, kPriority = 18, kThreads = 20,
                     kStartTime = 22, kProcessor = 39;
    if (fields.size() <= kProcessor - kFirst) return;
    const auto field = [&](size_t at) -> const std::string& { return fields[at - kFirst]; };

    Sample sample(request.keys);
    sample.info.add(PMIX_PROCID, process.proc);
    sample.info.add(PMIX_PROC_PID, Value::pid(process.pid));
    sample.info.add(PMIX_HOSTNAME, request.hostname.c_str());
    if (sample.wants(PMIX_CMD_LINE)) {
        std::string command = contents(folder + "cmdline");
        while (!command.empty() && command.back() == '\0')
            command.pop_back();
        for (char& letter : command) {
            if (letter == '\0') letter = ' ';
        }
        sample.add(PMIX_CMD_LINE, command.c_str());
    }
    sample.add(PMIX_PROC_OS_STATE, field(kFirst).c_str());
    const uint64_t per_second = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
    const uint64_t ticks = number(field(kUserTime)) + number(field(kSystemTime));
    const timeval used{static_cast<time_t>(ticks / per_second),
                       static_cast<suseconds_t>(ticks % per_second * 1000000 / per_second)};
    sample.add(PMIX_PROC_TIME, Value::of(PMIX_TIMEVAL, &used));
    if (sample.wants(PMIX_PROC_PERCENT_CPU)) {
        double up = 0;
        std::istringstream(contents(request.root + "/uptime")) >> up;
        const double lived =
            up * static_cast<double>(per_second) - static_cast<double>(number(field(kStartTime)));
        sample.add(PMIX_PROC_PERCENT_CPU,
                   lived <= 0 ? 0.0F : static_cast<float>(100 * static_cast<double>(ticks) / lived));
    }
    int32_t priority = 0;
    std::from_chars(field(kPriority).data(), field(kPriority).data() + field(kPriority).size(), priority);
    sample.add(PMIX_PROC_PRIORITY, Value::of(PMIX_INT32, &priority));
    sample.add(PMIX_PROC_NUM_THREADS, static_cast<uint16_t>(number(field(kThreads))));
    sample.add(PMIX_PROC_CPU, static_cast<uint16_t>(number(field(kProcessor))));
    const auto sizes = megabytes_by_name(contents(folder + "status"));
    sample.add_size(PMIX_PROC_PEAK_VSIZE, sizes, "VmPeak");
    sample.add_size(PMIX_PROC_VSIZE, sizes, "VmSize");
    sample.add_size(PMIX_PROC_RSS, sizes, "VmRSS");
    // The kernel scans all mappings of the process for it.
    if (sample.wants(PMIX_PROC_PSS))
        sample.add_size(PMIX_PROC_PSS, megabytes_by_name(contents(folder + "smaps_rollup")), "Pss");
    sample.finish(samples, PMIX_PROC_RESOURCE_USAGE, PMIX_PROC_SAMPLE_TIME);
}

void measure_networks(const UsageRequest& request, Info& samples) {
    struct Column {
        const char* key;
        size_t at;
    };
    constexpr Column kColumns[] = {{PMIX_NET_RECVD_BYTES, 0}, {PMIX_NET_RECVD_PCKTS, 1},
                                   {PMIX_NET_RECVD_ERRS, 2},  {PMIX_NET_SENT_BYTES, 8},
                                   {PMIX_NET_SENT_PCKTS, 9},  {PMIX_NET_SENT_ERRS, 10}};
    std::istringstream in(contents(request.root + "/net/dev"));
    for (std::string line; std::getline(in, line);) {
        const size_t colon = line.find(':');
        if (colon == std::string::npos) continue;  // a heading
        const auto name = words(line.substr(0, colon));
        const auto fields = words(line.substr(colon + 1));
        if (name.empty() || fields.size() < 11) continue;
        if (!request.networks.empty() && !request.networks.contains(name[0])) continue;
        Sample sample(request.keys);
        sample.info.add(PMIX_NETWORK_ID, name[0].c_str());
        for (const Column& column : kColumns)
            sample.add(column.key, Value::uint64(number(fields[column.at])));
        sample.finish(samples, PMIX_NETWORK_RESOURCE_USAGE, PMIX_NET_SAMPLE_TIME);
    }
}

void measure_disks(const UsageRequest& request, Info& samples) {
    // In the order of the file, from its fourth field.
    constexpr const char* kKeys[] = {
        PMIX_DISK_READ_COMPLETED,  PMIX_DISK_READ_MERGED,  PMIX_DISK_READ_SECTORS,  PMIX_DISK_READ_MILLISEC,
        PMIX_DISK_WRITE_COMPLETED, PMIX_DISK_WRITE_MERGED, PMIX_DISK_WRITE_SECTORS, PMIX_DISK_WRITE_MILLISEC,
        PMIX_DISK_IO_IN_PROGRESS,  PMIX_DISK_IO_MILLISEC,  PMIX_DISK_IO_WEIGHTED};
    constexpr size_t kFirst = 3;
    std::istringstream in(contents(request.root + "/diskstats"));
    for (std::string line; std::getline(in, line);) {
        const auto fields = words(line);
        if (fields.size() < kFirst + std::size(kKeys)) continue;
        const std::string& name = fields[kFirst - 1];
        // Devices in memory are listed only if they are named.
        if (request.disks.empty() ? name.starts_with("loop") || name.starts_with("ram")
                                  : !request.disks.contains(name))
            continue;
        Sample sample(request.keys);
        sample.info.add(PMIX_DISK_ID, name.c_str());
        for (size_t i = 0; i < std::size(kKeys); ++i)
            sample.add(kKeys[i], Value::uint64(number(fields[kFirst + i])));
        sample.finish(samples, PMIX_DISK_RESOURCE_USAGE, PMIX_DISK_SAMPLE_TIME);
    }
}

bool any_begins_with(const TextSet& keys, const char* prefix) {
    for (const std::string& key : keys) {
        if (key.starts_with(prefix)) return true;
    }
    return keys.empty();
}

void measure_node(const UsageRequest& request, Info& samples) {
    Sample sample(request.keys);
    sample.info.add(PMIX_HOSTNAME, request.hostname.c_str());
    std::istringstream loads(contents(request.root + "/loadavg"));
    for (const char* key : {PMIX_NODE_LOAD_AVG, PMIX_NODE_LOAD_AVG5, PMIX_NODE_LOAD_AVG15}) {
        if (float load = 0; loads >> load) sample.add(key, load);
    }
    const auto sizes = megabytes_by_name(contents(request.root + "/meminfo"));
    sample.add_size(PMIX_NODE_MEM_TOTAL, sizes, "MemTotal");
    sample.add_size(PMIX_NODE_MEM_FREE, sizes, "MemFree");
    sample.add_size(PMIX_NODE_MEM_BUFFERS, sizes, "Buffers");
    sample.add_size(PMIX_NODE_MEM_CACHED, sizes, "Cached");
    sample.add_size(PMIX_NODE_MEM_SWAP_CACHED, sizes, "SwapCached");
    sample.add_size(PMIX_NODE_SWAP_TOTAL, sizes, "SwapTotal");
    sample.add_size(PMIX_NODE_MEM_SWAP_FREE, sizes, "SwapFree");
    sample.add_size(PMIX_NODE_MEM_MAPPED, sizes, "Mapped");
    if (!request.networks.empty() || any_begins_with(request.keys, "pmix.net."))
        measure_networks(request, sample.info);
    if (!request.disks.empty() || any_begins_with(request.keys, "pmix.disk."))
        measure_disks(request, sample.info);
    sample.finish(samples, PMIX_NODE_RESOURCE_USAGE, PMIX_NODE_SAMPLE_TIME);
}

/// The texts of a PMIX_STRING, or of an array of them.
bool add_texts(const pmix_value_t& value, TextSet& texts) {
    if (value.type == PMIX_STRING && value.data.string != nullptr) {
        texts.insert(value.data.string);
        return true;
    }
    const pmix_data_array_t* array = value.type == PMIX_DATA_ARRAY ? value.data.darray : nullptr;
    if (array == nullptr) return value.type == PMIX_DATA_ARRAY;
    if (array->size != 0 && (array->type != PMIX_STRING || array->array == nullptr)) return false;
    for (size_t i = 0; i < array->size; ++i) {
        if (const char* text = static_cast<char* const*>(array->array)[i]) texts.insert(text);
    }
    return true;
}

struct Kind {
    const char* monitor;
    UsageRequest::Subject subject;
};
constexpr Kind kKinds[] = {{PMIX_MONITOR_PROC_RESOURCE_USAGE, UsageRequest::Subject::Processes},
                           {PMIX_MONITOR_NODE_RESOURCE_USAGE, UsageRequest::Subject::Node},
                           {PMIX_MONITOR_DISK_RESOURCE_USAGE, UsageRequest::Subject::Disks},
                           {PMIX_MONITOR_NET_RESOURCE_USAGE, UsageRequest::Subject::Networks}};

const Kind* kind_of(const char* key) {
    for (const Kind& kind : kKinds) {
        if (key_is(key, kind.monitor)) return &kind;
    }
    return nullptr;
}

}  // namespace

bool asks_for_usage(const char* key) {
    return kind_of(key) != nullptr;
}

pmix_status_t read_usage_request(const pmix_info_t& monitor, InfoView directives, UsageRequest& request) {
    const Kind* kind = kind_of(monitor.key);
    if (kind == nullptr) return PMIX_ERR_BAD_PARAM;
    request.subject = kind->subject;
    const bool all = monitor.value.type == PMIX_UNDEF || monitor.value.type == PMIX_BOOL;
    if (!all && monitor.value.type != PMIX_DATA_ARRAY) return PMIX_ERR_BAD_PARAM;
    if (!all && monitor.value.data.darray != nullptr && monitor.value.data.darray->size != 0 &&
        monitor.value.data.darray->type != PMIX_INFO)
        return PMIX_ERR_BAD_PARAM;
    for (const pmix_info_t& wanted : value_as_infos(&monitor.value)) {
        const bool disk = key_is(wanted.key, PMIX_DISK_ID), network = key_is(wanted.key, PMIX_NETWORK_ID);
        if (!disk && !network) {
            request.keys.insert(std::string(key_view(wanted.key)));
        } else if (!add_texts(wanted.value, disk ? request.disks : request.networks)) {
            return PMIX_ERR_BAD_PARAM;
        }
    }
    for (const pmix_info_t& directive : directives) {
        const bool disks = key_is(directive.key, PMIX_MONITOR_TARGET_DISKS);
        if (!disks && !key_is(directive.key, PMIX_MONITOR_TARGET_NETS)) continue;
        if (!add_texts(directive.value, disks ? request.disks : request.networks)) return PMIX_ERR_BAD_PARAM;
    }
    return PMIX_SUCCESS;
}

Info measure(const UsageRequest& request) {
    Info samples;
    switch (request.subject) {
        case UsageRequest::Subject::Processes:
            for (const UsageRequest::Process& process : request.processes)
                measure_process(request, process, samples);
            break;
        case UsageRequest::Subject::Node:
            measure_node(request, samples);
            break;
        case UsageRequest::Subject::Disks:
            measure_disks(request, samples);
            break;
        case UsageRequest::Subject::Networks:
            measure_networks(request, samples);
            break;
    }
    return samples;
}

}  // namespace muster
