// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/entry.hpp>
#include <shoal/comm/error.hpp>

#include <cxxabi.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace shoal::actors {

namespace {
// Constant-initialised: constructors of other translation units' statics link into it before main.
constinit EntryInfo* first_entry = nullptr;

using Digest = std::array<std::byte, 32>;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(const char* text) { EVP_DigestUpdate(context_.get(), text, std::strlen(text) + 1); }
  Digest finish() {
    Digest digest{};
    EVP_DigestFinal_ex(context_.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr);
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

std::uint64_t hash_of(const char* name) {
  Sha256 sum;
  sum.add(name);
  const Digest digest = sum.finish();
  std::uint64_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash;
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}
}  // namespace

EntryInfo::EntryInfo(const std::type_info& type, const ActorClass& actor, Receive receives,
                     Deliver delivers, EntryKind what) noexcept
    : name(type.name()),
      actor_class(&actor),
      receive(receives),
      deliver(delivers),
      kind(what),
      next(std::exchange(first_entry, this)) {}

const EntryTable& EntryTable::instance() {
  static const EntryTable table;
  return table;
}

EntryTable::EntryTable() {
  struct Named {
    std::uint64_t hash;
    EntryInfo* entry;
  };
  std::vector<Named> all;
  for (EntryInfo* entry = first_entry; entry != nullptr; entry = entry->next) {
    all.push_back({hash_of(entry->name), entry});
  }
  std::sort(all.begin(), all.end(), [](const Named& a, const Named& b) {
    return a.hash != b.hash ? a.hash < b.hash : std::strcmp(a.entry->name, b.entry->name) < 0;
  });
  Sha256 sum;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EntryInfo* entry = all[i].entry;
    if (i > 0 && all[i - 1].hash == all[i].hash) {
      const EntryInfo* before = all[i - 1].entry;
      SHOAL_CHECK(std::strcmp(before->name, entry->name) == 0,
                  "the entries {} and {} have one hash: rename one", readable_name(*before),
                  readable_name(*entry));
      entry->id = before->id;  // one entry, seen by several shared objects
      continue;
    }
    SHOAL_CHECK(entries_.size() < 0xffffU, "more than {} entries", entries_.size());
    entry->id = static_cast<std::uint16_t>(entries_.size());
    entries_.push_back(entry);
    sum.add(entry->name);
  }
  digest_ = sum.finish();
}

std::string EntryTable::list() const {
  std::string text;
  for (const EntryInfo* entry : entries_) text += demangled(entry->name) + "\n";
  return text;
}

namespace {
// Where `text`, from `from` on and outside of <>, has one of `marks`; its size: nowhere.
std::size_t find_outside_brackets(std::string_view text, std::size_t from, std::string_view marks) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (depth == 0 && marks.find(text[i]) != std::string_view::npos) return i;
    depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
  }
  return text.size();
}
}  // namespace

std::string readable_name(const EntryInfo& entry) {
  // …EntryName<void (Hello::*)(int), &(Hello::hi(int))> or …ConstructorName<Hello, int>. A template
  // is named with its result, "&(void Hello::hi<int>(int))", and some results leave a tag,
  // "Hello::hi[abi:cxx11]".
  std::string full = demangled(entry.name);
  if (const auto at = full.rfind(", &"); at != std::string::npos) {
    std::size_t from = at + 3;
    if (full[from] == '(') ++from;
    const std::size_t end = find_outside_brackets(full, from, "([");
    for (std::size_t space = from; (space = find_outside_brackets(full, from, " ")) < end;) {
      from = space + 1;
    }
    std::string name = full.substr(from, end - from);
    if (name.ends_with('>') && full.size() == end) name.pop_back();
    return name;
  }
  const auto at = full.find("ConstructorName<");
  if (at == std::string::npos) return full;
  const std::size_t from = at + 16;
  return "the constructor of " + full.substr(from, find_outside_brackets(full, from, ",>") - from);
}

}  // namespace shoal::actors
