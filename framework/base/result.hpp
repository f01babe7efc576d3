// SPDX-License-Identifier: BSD-3-Clause
// The outcome of an operation: a value, or the Standard's status code with one sentence for a person.
#pragma once

#include <pmix_common.h>

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace muster {

/// A failure: the code for the caller, and a sentence that says what happened, to what, and what to do.
struct Error {
    pmix_status_t code = PMIX_ERROR;
    std::string text;
};

/// Either a T or an Error. Ignoring a Result is a mistake.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::move(value)) {}     // NOLINT(google-explicit-constructor)
    Result(Error error) : error_(std::move(error)) {  // NOLINT(google-explicit-constructor)
        assert(error_.code != PMIX_SUCCESS);
    }

    bool ok() const { return value_.has_value(); }
    explicit operator bool() const { return ok(); }
    pmix_status_t status() const { return ok() ? PMIX_SUCCESS : error_.code; }
    const Error& error() const { return error_; }

    T& operator*() & { return *value_; }
    const T& operator*() const& { return *value_; }
    T&& operator*() && { return std::move(*value_); }
    T* operator->() { return &*value_; }
    const T* operator->() const { return &*value_; }

  private:
    std::optional<T> value_;
    Error error_;
};

/// The same for an operation that has nothing to give back.
template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)), failed_(true) {}  // NOLINT(google-explicit-constructor)

    bool ok() const { return !failed_; }
    explicit operator bool() const { return ok(); }
    pmix_status_t status() const { return failed_ ? error_.code : PMIX_SUCCESS; }
    const Error& error() const { return error_; }

  private:
    Error error_;
    bool failed_ = false;
};

}  // namespace muster
