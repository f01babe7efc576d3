// SPDX-License-Identifier: BSD-3-Clause
// The carried form of allocations: see allocation.hpp. Numbers are 4 bytes, most significant first.
#include "components/pnet/tcp/allocation.hpp"

#include "framework/base/endian.hpp"

namespace muster::pnet_tcp {
namespace {

constexpr std::string_view kMagic = "pnet.tcp.1";
constexpr size_t kNumber = 4;  // bytes
constexpr size_t kMaxPorts = 65535;

class Writer {
  public:
    void number(size_t value) { store_be32(bytes_.extend(kNumber), static_cast<uint32_t>(value)); }
    void text(std::string_view text) {
        number(text.size());
        bytes_.append(text.data(), text.size());
    }
    Bytes take() { return std::move(bytes_); }

  private:
    Bytes bytes_;
};

class Reader {
  public:
    explicit Reader(ByteView bytes) : in_(bytes) {}

    uint32_t number() {
        ByteView bytes;
        return read(kNumber, bytes) ? load_be32(bytes.data()) : 0;
    }
    std::string text() {
        ByteView bytes;
        return read(number(), bytes) ? std::string(bytes.begin(), bytes.end()) : std::string();
    }
    /// A count of elements with at least `least` bytes each: it cannot exceed the bytes that are left.
    size_t count(size_t least) {
        const size_t count = number();
        if (count > in_.remaining() / least) fail();
        return failed_ ? 0 : count;
    }
    void fail() { failed_ = true; }
    bool whole() const { return !failed_ && in_.at_end(); }

  private:
    bool read(size_t count, ByteView& bytes) {
        failed_ = failed_ || !in_.read(count, bytes);
        return !failed_;
    }

    ByteReader in_;
    bool failed_ = false;
};

Allocation read_allocation(Reader& in) {
    Allocation one;
    one.id = in.text();
    one.type = in.text();
    one.plane = in.text();
    one.per_process = in.number();
    one.per_node = in.number();
    for (size_t left = in.count(kNumber); left > 0; --left) {
        const uint32_t range = in.number();
        const PortRange ports{static_cast<uint16_t>(range >> 16), static_cast<uint16_t>(range)};
        if (ports.first == 0 || ports.last < ports.first) in.fail();
        one.ports.push_back(ports);
    }
    if (one.per_process > kMaxPorts || one.per_node > kMaxPorts || count_of(one.ports) > kMaxPorts) in.fail();
    one.key = in.text();
    for (size_t left = in.count(3 * kNumber); left > 0; --left) {
        NodeAddress& node = one.addresses.emplace_back();
        node.node = in.text();
        node.device = in.text();
        node.address = in.text();
    }
    return one;
}

}  // namespace

Bytes write(const Carried& carried) {
    Writer out;
    out.text(kMagic);
    out.number(carried.variables.size());
    for (const auto& [name, value] : carried.variables) {
        out.text(name);
        out.text(value);
    }
    out.number(carried.allocations.size());
    for (const Allocation& one : carried.allocations) {
        out.text(one.id);
        out.text(one.type);
        out.text(one.plane);
        out.number(one.per_process);
        out.number(one.per_node);
        out.number(one.ports.size());
        for (const PortRange& range : one.ports)
            out.number(size_t{range.first} << 16 | range.last);
        out.text(one.key);
        out.number(one.addresses.size());
        for (const NodeAddress& node : one.addresses) {
            out.text(node.node);
            out.text(node.device);
            out.text(node.address);
        }
    }
    return out.take();
}

bool read(ByteView bytes, Carried& carried) {
    carried = {};
    Reader in(bytes);
    if (in.text() != kMagic) return false;
    for (size_t left = in.count(2 * kNumber); left > 0; --left) {
        std::string name = in.text();
        carried.variables.emplace_back(std::move(name), in.text());
    }
    for (size_t left = in.count(8 * kNumber); left > 0; --left)
        carried.allocations.push_back(read_allocation(in));
    if (in.whole()) return true;
    carried = {};
    return false;
}

}  // namespace muster::pnet_tcp
