// SPDX-License-Identifier: BSD-3-Clause
// A launcher for tests of its services: it records their answers, notices and output.
#pragma once

#include <gtest/gtest.h>
#include <pmix_common.h>

#include <map>

#include "tools/muster/services/service.hpp"

namespace muster::launcher {

inline Job job_of(unsigned ranks, unsigned nodes, const std::string& nspace = "job") {
    Job job;
    job.apps.emplace_back();
    job.apps[0].ranks = ranks;
    job.apps[0].argv = {"prog"};
    lay_out(job, nspace, node_names(nodes, "here"));
    return job;
}

/// A launcher that only records.
class FakeLauncher {
  public:
    struct Answer {
        int32_t status;
        Buffer body;
    };
    Loop loop;
    JobTable jobs;
    std::map<uint64_t, Answer> answers;
    std::vector<uint32_t> told;
    std::string shown;  ///< output
    std::string input;  ///< given to ranks, as "rank:bytes "
    std::string notes;  ///< words about jobs
    std::vector<std::pair<int, std::vector<ProcId>>> signals;
    Hub hub{
        .loop = loop,
        .jobs = jobs,
        .launcher = {"server", 0},
        .nodes = node_names(2, "here"),
        .ask = [](uint32_t, Topic, const Buffer&, Link::Done) {},
        .tell =
            [this](uint32_t node, Topic topic, const Buffer& body) {
                told.push_back(node);
                if (topic == Topic::Input) {
                    ProcId proc;
                    std::string bytes;
                    EXPECT_TRUE(Buffer(body).unpack(proc, bytes));
                    input += std::to_string(proc.rank) + ":" + bytes + " ";
                }
                if (topic != Topic::Signal || node != 0) return;
                auto& [number, procs] = signals.emplace_back();
                EXPECT_TRUE(Buffer(body).unpack(number, procs));
            },
        .give_answer =
            [this](Asker asker, int32_t status, const Buffer& body) {
                EXPECT_FALSE(answers.contains(asker.id)) << "answered twice";
                answers[asker.id] = {status, body};
            },
        .launch = [this](Job job, const Hub::Launched&) -> JobRecord& { return jobs.add(std::move(job)); },
        .end_job = [](JobRecord& job, int32_t, bool) { job.state = JobRecord::State::Ended; },
        .show_output = [this](std::optional<uint32_t>, ProcId, uint32_t, std::string_view bytes,
                              bool) { shown += bytes; },
        .note = [this](const JobRecord&, std::string_view text) { notes += text; },
        .show = [](bool, std::string_view) {}};
};

}  // namespace muster::launcher
