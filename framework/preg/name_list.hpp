// SPDX-License-Identifier: BSD-3-Clause
// Lists of node names as text: reading them with ranges in brackets ("odin[009-012,102-107].org"), and
// shortening them to that form, the one that the Standard documents. Linear in the length of input and
// output.
#pragma once

#include <pmix/sdk/preg.h>

#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>

namespace muster::preg {

/// The default limit of names or ranks in one expression.
inline constexpr size_t kDefaultLimit = size_t{1} << 22;
/// ... and how many bytes of names for each of them, on average.
inline constexpr size_t kBytesPerName = 64;

/// Calls `call(object)` for a function of a C table, whose data is the object: no std::bad_alloc leaves.
template <class T, class Call>
pmix_status_t call_on(void* object, Call&& call) {
    try {
        return call(*static_cast<T*>(object));
    } catch (const std::bad_alloc&) {
        return PMIX_ERR_NOMEM;
    }
}

/// Names that differ in a number only: prefix, number with zeros in front up to `width` digits, suffix.
struct NameRow {
    std::string_view prefix;
    uint64_t first = 0;
    uint64_t count = 0;
    size_t width = 0;
    std::string_view suffix;

    /// Bytes of all its names; nothing if they are more than `limit`.
    std::optional<size_t> size(size_t limit) const;
};

/// The name at index `place` of the row; `place` is less than its count.
std::string nth_name(const NameRow& row, uint64_t place);
/// The number of names of the row before this one; nothing if it is not in the row.
std::optional<uint64_t> place_in(const NameRow& row, std::string_view name);

/// Appends all names of the row to a list with commas. bad_alloc.
void append_names(std::string& list, const NameRow& row);

/// The names of a row, one after the other, in one place.
class RowNames {
  public:
    explicit RowNames(const NameRow& row);
    std::string_view name() const { return text_; }
    void next();

  private:
    std::string text_;
    size_t begin_, end_;  ///< of the number in it
};

/// Whether a bracket that holds no ranges is an error, or part of the name.
enum class Brackets : bool { Lenient, Strict };

/// Reads a comma list of names; "[1-3,007]" in a name expands to each of the numbers, several brackets for
/// each combination, the last changing fastest; a number has at least as many digits as the first of its
/// range. Empty entries are skipped.
/// @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_OUT_OF_RESOURCE past `limit`; the sink's status.
/// `sink.row` may be null.
pmix_status_t parse_names(std::string_view text, size_t limit, const muster_preg_name_row_sink_t& sink,
                          Brackets brackets = Brackets::Lenient);
inline pmix_status_t parse_names(std::string_view text, size_t limit, const muster_preg_name_sink_t& sink,
                                 Brackets brackets = Brackets::Lenient) {
    return parse_names(text, limit, muster_preg_name_row_sink_t{sink, nullptr}, brackets);
}

/// The same for entries "prefix[DIGITS:ranges]suffix", where every number has DIGITS digits (OpenPMIx 4.2).
pmix_status_t parse_names_with_digits(std::string_view text, size_t limit,
                                      const muster_preg_name_row_sink_t& sink);

/// Appends the shortened list: neighbours that differ in one number become one entry, and such entries that
/// differ in one more number before it too ("rack[0-3]node[00-15]"). Order is kept.
/// @return false when the list cannot be written so (`out` is unspecified then).
bool shorten_names(std::string_view list, std::string& out);

}  // namespace muster::preg
