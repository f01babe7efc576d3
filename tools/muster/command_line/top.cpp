// SPDX-License-Identifier: BSD-3-Clause
// The table of processes: see top.hpp. Plain ANSI sequences: another screen while it runs, the cursor home,
// the rest of a line cleared.
#include "tools/muster/command_line/top.hpp"

#include <fmt/format.h>
#include <pmix/muster.h>
#include <pmix_tool.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "tools/muster/command_line/connection.hpp"
#include "tools/muster/exchange/attributes.hpp"

namespace muster::launcher {
namespace {

/// KiB that the process has in memory; muster's processes are on this machine.
long memory_of(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/statm", pid));
    long all = 0, resident = 0;
    if (pid <= 0 || !(file >> all >> resident)) return -1;
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/// The servers of the nodes, each connected to when its first process is seen.
class Servers {
  public:
    Servers() {
        pmix_proc_t* servers = nullptr;
        size_t count = 0;
        check(PMIx_tool_get_servers(&servers, &count), "the server is lost");
        if (count > 0) first_ = servers[0];
        free(servers);
    }
    /// Calls `ask` with each server of these nodes as the primary one.
    template <class Ask>
    void for_each(const std::vector<std::string>& nodes, Ask ask) {
        for (const std::string& node : nodes) {
            if (by_node_.count(node) == 0) by_node_[node] = attach(node);
        }
        std::vector<pmix_proc_t> all = {first_};
        for (const auto& [node, server] : by_node_) {
            if (server && server->rank != first_.rank) all.push_back(*server);
        }
        for (const pmix_proc_t& server : all) {
            if (PMIx_tool_set_server(&server, nullptr, 0) == PMIX_SUCCESS) ask();
        }
        check(PMIx_tool_set_server(&first_, nullptr, 0), "muster has ended");
    }

  private:
    std::optional<pmix_proc_t> attach(const std::string& node) {
        InfoList info;
        info.text(PMIX_SERVER_NSPACE, first_.nspace).text(PMIX_SERVER_HOSTNAME, node);
        info.u32(PMIX_CONNECT_MAX_RETRIES, 1);
        pmix_proc_t server;
        PMIX_PROC_CONSTRUCT(&server);
        if (PMIx_tool_attach_to_server(nullptr, &server, info.data(), info.size()) != PMIX_SUCCESS)
            return std::nullopt;
        return server;
    }
    pmix_proc_t first_{};
    std::map<std::string, std::optional<pmix_proc_t>> by_node_;
};

/// Queries the waits of the primary server's processes.
void read_waits(std::map<ProcName, std::string>& waits) {
    Found found;
    if (query(MUSTER_WAITS, "", found) != PMIX_SUCCESS || found.count == 0) return;
    const Infos entries = Infos::of(found.info[0].value).value_or(Infos());
    for (const pmix_info_t& entry : entries) {
        const Infos facts = Infos::of(entry.value).value_or(Infos());
        for (const ProcName& name : facts.procs(PMIX_PROCID))
            waits[name] = facts.text(MUSTER_WAIT);
    }
}

std::vector<TopRow> look(Servers& servers) {
    std::vector<TopRow> rows;
    std::vector<std::string> nodes;
    for (const std::string& job : jobs()) {
        for_each_process(job, [&](const pmix_proc_info_t& process) {
            TopRow& row = rows.emplace_back();
            row.job = job;
            row.rank = process.proc.rank;
            row.node = text_of(process.hostname);
            row.pid = process.pid;
            row.state = PMIx_Proc_state_string(process.state);
            row.memory = process.state < PMIX_PROC_STATE_UNTERMINATED ? memory_of(process.pid) : -1;
            row.program = text_of(process.executable_name);
            if (std::ranges::find(nodes, row.node) == nodes.end()) nodes.push_back(row.node);
        });
    }
    std::map<ProcName, std::string> waits;
    servers.for_each(nodes, [&] { read_waits(waits); });
    for (TopRow& row : rows) {
        if (const auto wait = waits.find({row.job, row.rank}); wait != waits.end()) row.wait = wait->second;
    }
    return rows;
}

std::string memory_text(long kib) {
    if (kib < 0) return "-";
    if (kib < 10000) return fmt::format("{}K", kib);
    if (kib < 10000L * 1024) return fmt::format("{}M", kib / 1024);
    return fmt::format("{}G", kib / (1024L * 1024));
}

std::string json_of(const std::vector<TopRow>& rows) {
    nlohmann::json processes = nlohmann::json::array();
    for (const TopRow& row : rows) {
        nlohmann::json one = {{"job", row.job},   {"rank", row.rank},   {"node", row.node},
                              {"pid", row.pid},   {"state", row.state}, {"program", row.program},
                              {"waits", row.wait}};
        if (row.memory >= 0) one["memory_kib"] = row.memory;
        processes.push_back(std::move(one));
    }
    // Names of programs may be of any bytes.
    return nlohmann::json{{"processes", processes}}.dump(2, ' ', false,
                                                         nlohmann::json::error_handler_t::replace);
}

volatile sig_atomic_t ended = 0;

void write_all(const std::string& text) {
    for (size_t at = 0; at < text.size();) {
        const ssize_t wrote = write(STDOUT_FILENO, text.data() + at, text.size() - at);
        if (wrote > 0) at += static_cast<size_t>(wrote);
        if (wrote < 0 && errno != EINTR) throw std::runtime_error("the table has no reader any more");
    }
}

/// The terminal as top uses it; as it was before, afterwards.
class Screen {
  public:
    Screen() {
        struct sigaction action {};
        action.sa_handler = [](int) { ended = 1; };
        for (const int number : {SIGINT, SIGTERM, SIGHUP})
            sigaction(number, &action, nullptr);
        action.sa_handler = [](int) {};  // wakes poll(), and the table is redrawn
        sigaction(SIGWINCH, &action, nullptr);
        if (tcgetattr(STDIN_FILENO, &before_) == 0) {
            termios now = before_;
            now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
            changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0;
        }
        write_all("\033[?1049h\033[?25l");
    }
    ~Screen() {
        static constexpr std::string_view kBack = "\033[?25h\033[?1049l";
        [[maybe_unused]] const ssize_t wrote = write(STDOUT_FILENO, kBack.data(), kBack.size());
        if (changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    void draw(const std::vector<TopRow>& rows) const {
        winsize size{};
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
            size = {24, 80, 0, 0};
        const std::string table = top_table(rows, size.ws_row - 1U, size.ws_col);
        std::string text = "\033[H";
        for (const char c : table)
            text += c == '\n' ? "\033[K\n" : std::string(1, c);
        write_all(text + "\033[J");
    }
    /// Waits; false when it is time to end.
    bool wait(int milliseconds) {
        pollfd input{STDIN_FILENO, POLLIN, 0};
        if (ended != 0) return false;
        if (poll(&input, listens_ ? 1 : 0, milliseconds) <= 0 || input.revents == 0) return ended == 0;
        char key = 0;
        const ssize_t got = read(STDIN_FILENO, &key, 1);
        if (got == 0) listens_ = false;
        return !(got == 1 && (key == 'q' || key == 'Q')) && ended == 0;
    }

  private:
    termios before_{};
    bool changed_ = false;
    bool listens_ = true;
};

}  // namespace

std::string top_table(const std::vector<TopRow>& rows, unsigned lines, unsigned columns) {
    std::vector<std::string> text;
    size_t job_width = 3, node_width = 4, state_width = 5;
    for (const TopRow& row : rows) {
        job_width = std::max(job_width, row.job.size());
        node_width = std::max(node_width, row.node.size());
        state_width = std::max(state_width, row.state.size());
    }
    const auto line = [&](const auto& job, const auto& rank, const auto& node, const auto& pid,
                          const auto& state, const auto& memory, const auto& program, const auto& wait) {
        text.push_back(fmt::format("{:<{}} {:>5} {:<{}} {:>8} {:<{}} {:>7} {:<14} {}", job, job_width, rank,
                                   node, node_width, pid, state, state_width, memory, program, wait));
    };
    line("JOB", "RANK", "NODE", "PID", "STATE", "MEMORY", "PROGRAM", "WAITS IN");
    const size_t most = lines == 0 ? rows.size() : lines > 2 ? lines - 1 : 1;
    const size_t shown = rows.size() <= most ? rows.size() : most - 1;
    for (size_t i = 0; i < shown; ++i) {
        const TopRow& row = rows[i];
        line(row.job, row.rank, row.node, row.pid, row.state, memory_text(row.memory),
             row.program.substr(row.program.rfind('/') + 1), row.wait);
    }
    if (shown < rows.size()) text.push_back(fmt::format("and {} more", rows.size() - shown));
    std::string table;
    for (std::string& one : text) {
        for (char& c : one)
            if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
        if (columns != 0 && one.size() > columns) one.resize(columns);
        one.erase(one.find_last_not_of(' ') + 1);
        table += one + "\n";
    }
    return table;
}

int top(const std::vector<std::string>& arguments) {
    bool once = isatty(STDOUT_FILENO) == 0, json = false;
    double delay = 2;
    std::optional<std::string> server;
    for (size_t i = 1; i < arguments.size(); ++i) {
        const std::string& word = arguments[i];
        if (word == "--once") {
            once = true;
        } else if (word == "--json") {
            once = json = true;
        } else if (word == "-d") {
            char* end = nullptr;
            delay = ++i < arguments.size() ? strtod(arguments[i].c_str(), &end) : 0;
            if (end == nullptr || *end != '\0' || !(delay >= 0.1) || delay > 86400)
                throw std::invalid_argument("-d takes a number of seconds, 0.1 or more");
        } else if (word[0] == '-' || server) {
            throw std::invalid_argument(server ? "top takes one server" : word + " is not an option of top");
        } else {
            server = word;
        }
    }
    const Connection connection(server.value_or(""));
    Servers servers;
    if (once) {
        const std::vector<TopRow> rows = look(servers);
        fmt::print("{}", json ? json_of(rows) + "\n" : top_table(rows, 0, 0));
        return 0;
    }
    Screen screen;
    do {
        screen.draw(look(servers));
    } while (screen.wait(static_cast<int>(std::lround(delay * 1000))));
    return 0;
}

}  // namespace muster::launcher
