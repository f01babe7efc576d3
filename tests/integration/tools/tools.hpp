// SPDX-License-Identifier: BSD-3-Clause
// The fixture of the tests of tools: processes of tool.cpp, servers and tools, with their own folder.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace muster::tests {

namespace fs = std::filesystem;

/// Generous, for loaded machines and slow sanitizers.
inline constexpr double kPatience = 60;

class Process {
  public:
    Process(const std::vector<std::string>& words, const std::vector<std::string>& variables = {}) {
        int in[2], out[2];
        EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
        EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
        std::vector<char*> arguments = {const_cast<char*>(INTEGRATION_TOOL)};
        for (const std::string& word : words)
            arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        pid_ = fork();
        if (pid_ == 0) {
            dup2(in[0], 0);
            dup2(out[1], 1);
            for (const std::string& variable : variables)
                putenv(const_cast<char*>(variable.c_str()));
            execv(arguments[0], arguments.data());
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        input_ = in[1];
        output_ = out[0];
    }
    Process(const Process&) = delete;
    ~Process() {
        if (pid_ > 0 && wait(0) == -1) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
        end_input();
        close(output_);
    }
    pid_t pid() const { return pid_; }
    std::string line(double seconds = kPatience) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        for (;;) {
            if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
                std::string line = buffer_.substr(0, end);
                buffer_.erase(0, end + 1);
                return line;
            }
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                                  until - std::chrono::steady_clock::now())
                                  .count();
            pollfd entry{output_, POLLIN, 0};
            if (left <= 0 || poll(&entry, 1, static_cast<int>(left)) <= 0) return "(silence)";
            char chunk[512];
            const ssize_t got = read(output_, chunk, sizeof chunk);
            if (got <= 0) return "(end)";
            buffer_.append(chunk, static_cast<size_t>(got));
        }
    }
    void go_on() { EXPECT_EQ(write(input_, "\n", 1), 1); }
    void end_input() {
        if (input_ >= 0) close(input_);
        input_ = -1;
    }
    /// Its exit status, or -1 while it runs.
    int wait(double seconds = kPatience) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        for (;;) {
            int status = 0;
            if (waitpid(pid_, &status, WNOHANG) == pid_) {
                pid_ = -1;
                return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            }
            if (std::chrono::steady_clock::now() >= until) return -1;
            usleep(1000);
        }
    }
    void kill_it() {
        kill(pid_, SIGKILL);
        wait();
    }

  private:
    pid_t pid_ = -1;
    int input_ = -1;
    int output_ = -1;
    std::string buffer_;
};

inline std::string host_name() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

class Tools : public testing::Test {
  protected:
    Tools() {
        char name[] = "/tmp/muster-tools-XXXXXX";
        const char* tmp = getenv("TMPDIR");
        std::string pattern = tmp == nullptr ? name : std::string(tmp) + "/muster-tools-XXXXXX";
        EXPECT_NE(mkdtemp(pattern.data()), nullptr);
        dir_ = pattern;
    }
    ~Tools() override { fs::remove_all(dir_); }

    /// A ready server with its files below the test's folder.
    std::unique_ptr<Process> server(const std::string& nspace, std::vector<std::string> words = {"tools"}) {
        std::vector<std::string> all = {"serve", nspace, "tmpdir=" + dir_, "systemdir=" + dir_};
        all.insert(all.end(), words.begin(), words.end());
        auto process = std::make_unique<Process>(all, environment());
        EXPECT_EQ(process->line(), "READY " + std::to_string(process->pid()));
        return process;
    }
    std::unique_ptr<Process> tool(std::vector<std::string> steps, std::vector<std::string> more = {}) {
        steps.insert(steps.begin(), "run");
        std::vector<std::string> variables = environment();
        variables.insert(variables.end(), more.begin(), more.end());
        return std::make_unique<Process>(steps, variables);
    }
    /// Returns a tool's output of one step, and checks its exit.
    std::string outcome(const std::string& step, std::vector<std::string> more = {}) {
        auto process = tool({step}, std::move(more));
        std::string line = process->line();
        EXPECT_EQ(process->wait(), 0);
        return line;
    }
    std::vector<std::string> environment() const {
        return {"TMPDIR=" + dir_, "PMIX_SERVER_TMPDIR=" + dir_, "PMIX_SYSTEM_TMPDIR=" + dir_};
    }
    std::string session_file(const std::string& what = {}) const {
        return dir_ + "/pmix." + short_host() + ".tool" + (what.empty() ? "" : "." + what);
    }
    std::string system_file() const { return dir_ + "/pmix.sys." + short_host(); }
    static std::string short_host() { return host_name().substr(0, host_name().find('.')); }
    static std::string text_of(const std::string& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void write_file(const std::string& path, const std::string& text, mode_t mode = 0600) {
        std::ofstream(path) << text;
        chmod(path.c_str(), mode);
    }

    std::string dir_;
};

inline bool begins(const std::string& text, const std::string& with) {
    return text.compare(0, with.size(), with) == 0;
}

}  // namespace muster::tests
