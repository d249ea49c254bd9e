// SPDX-License-Identifier: Apache-2.0
// The problem: two processes must mean the same member function by the same number, without a list
// that somebody keeps. Offered: using an entry registers it. `Entry<M>` has a static description
// that links itself into a list before main; at start the list is sorted by a 64-bit hash of the
// entry's mangled name and numbered. The digest of all names is compared in the handshake, so a
// number means the same everywhere.
#pragma once

#include <shoal/actors/serialize/reader.hpp>
#include <shoal/runtime/envelope.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <typeinfo>
#include <vector>

namespace shoal::runtime {
class Pe;
}

namespace shoal::actors {

struct ActorMessage;
struct ActorClass;
struct Branch;

enum class EntryKind : std::uint8_t {
  method,
  method_that_receives,  ///< it starts the transfer of its bulk itself
  constructor,
};

/// What the runtime knows of one entry method, or of one way to construct an actor.
struct EntryInfo {
  /// Makes the message that `envelope` and the arguments in `reader` describe; nullptr if they do
  /// not parse.
  using Receive = ActorMessage* (*)(runtime::Pe& pe, const runtime::Envelope& envelope,
                                    Reader& reader);
  /// Queues one message for each element of `branch` on this PE. False: the arguments do not parse.
  using Deliver = bool (*)(runtime::Pe& pe, Branch& branch, Reader& reader);

  EntryInfo(const std::type_info& type, const ActorClass& actor, Receive receives, Deliver delivers,
            EntryKind what) noexcept;

  const char* name;  ///< mangled; EntryName<M> or ConstructorName<T, …>
  const ActorClass* actor_class;
  Receive receive;
  Deliver deliver;
  EntryKind kind;
  std::uint16_t id = 0;
  EntryInfo* next;  ///< in the list of all that registered
};

/// All entries of this program, numbered. Built once, before the first PE runs.
class EntryTable {
 public:
  /// Sorts and numbers all that registered. Equal hashes of different names end the job.
  static const EntryTable& instance();

  /// nullptr: there is no such entry.
  const EntryInfo* find(std::uint16_t id) const noexcept {
    return id < entries_.size() ? entries_[id] : nullptr;
  }
  /// SHA-256 over all names, in order.
  const std::array<std::byte, 32>& digest() const noexcept { return digest_; }
  /// A name a line, readable: what a mismatch is explained with.
  std::string list() const;

 private:
  EntryTable();
  std::vector<const EntryInfo*> entries_;
  std::array<std::byte, 32> digest_{};
};

/// "Hello::hi" of the mangled name of a tag.
std::string readable_name(const EntryInfo& entry);

/// Its mangled name is the entry's name: the type too, so that a changed return type is another
/// entry.
template <class Type, Type M>
struct EntryName {};
template <class T, class... Arguments>
struct ConstructorName {};

}  // namespace shoal::actors
