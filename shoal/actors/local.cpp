// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/local.hpp>
#include <shoal/actors/spread.hpp>
#include <shoal/runtime/exit_codes.hpp>

#include <algorithm>
#include <cstdlib>

namespace shoal::actors {

namespace {
constexpr std::size_t kParkedShown = 20;
// Ids of collections below this are indices into a table; beyond, they are hashed.
constexpr std::uint64_t kDirect = 4096;
}  // namespace

SlotArray make_slots(std::uint64_t count) {
  void* memory = std::calloc(count, sizeof(Element*));
  SHOAL_CHECK(memory != nullptr, "no memory for {} elements", count);
  return SlotArray(static_cast<Element**>(memory));
}

Element::Element() noexcept {
  Birth& birth = Local::of(runtime::this_pe()).birth;
  branch_ = birth.branch;
  id_ = birth.id;
  birth.element = this;
}

Local::Local(Pe& on) : pe(on) { add_branch({kSingles, 0, CollectionKind::singles, 0}, nullptr); }

Local::~Local() {
  for (const auto& branch : branches_) {
    branch->for_each_element([](Element& element) { element.class_->destroy(&element); });
  }
  for (const Parked& parked : parked_) {
    pe.release_hold(true);
    parked.message->type->drop(pe, parked.message);
  }
  calls.drop_all();
}

Branch& Local::add_branch(const CollectionInfo& info, const ActorClass* actor_class) {
  if (Branch* known = branch(info.id)) return *known;
  Branch& made = *branches_.emplace_back(std::make_unique<Branch>());
  made.info = info;
  made.actor_class = actor_class;
  made.map = BlockMap(info.extent, pe.process().shape.pes());
  if (info.kind == CollectionKind::array) {
    made.first = made.map.first(number(pe.id()));
    made.count = made.map.first(number(pe.id()) + 1) - made.first;
  } else if (info.kind == CollectionKind::group) {
    made.first = number(pe.id());
    made.count = 1;
  } else {
    made.home_of_singles = number(pe.id());
  }
  if (made.count != 0) made.slots = make_slots(made.count);
  if (info.id < kDirect) {
    if (info.id >= direct_count_) grow_direct(info.id + 1);
    direct_[info.id] = &made;
  } else {
    others_.insert(info.id, &made);
  }
  retry([&](const Parked& parked) { return parked.collection == info.id; });
  return made;
}

void Local::grow_direct(std::uint64_t count) {
  const std::uint64_t larger = std::max(count, std::min(direct_count_ * 2, kDirect));
  auto table = std::make_unique<Branch*[]>(larger);
  std::copy_n(direct_.get(), direct_count_, table.get());
  direct_ = std::move(table);
  direct_count_ = larger;
}

std::uint64_t Local::new_collection() noexcept {
  return std::uint64_t{number(pe.id())} << kCreatorShift | ++collections_made_;
}

std::uint64_t Local::new_single(comm::PeId home) {
  Branch& singles = *branch(kSingles);
  if (home == pe.id() && singles.count < kSingleSlots) {
    if (singles.slots == nullptr) {
      singles.slots = make_slots(kSingleSlots);
      singles.first = std::uint64_t{number(home)} << kHomeShift | kHasSlot;
    }
    return singles.first + singles.count++;
  }
  // home | 0 | creator (20 bits) | number (19 bits): unique without asking anybody
  constexpr std::uint64_t kNumbers = std::uint64_t{1} << 19U;
  SHOAL_CHECK(singles_made_ + 1 < kNumbers, "PE {} has created {} actors for other PEs, its limit",
              number(pe.id()), singles_made_);
  return std::uint64_t{number(home)} << kHomeShift |
         (std::uint64_t{number(pe.id())} & 0xfffffU) << 19U | ++singles_made_;
}

void Local::constructed(Branch& branch, Element* element) {
  const std::uint64_t id = element->id_;
  const std::uint64_t at = id - branch.first;
  if (at < branch.count) {
    branch.slots[at] = element;
  } else {
    branch.sparse.insert(id, element);
  }
  if (parked_.empty()) return;
  retry([&](const Parked& parked) {
    return parked.collection == branch.info.id && parked.element == id;
  });
}

void Local::populated(Branch& branch) {
  branch.populated = true;
  retry([&](const Parked& parked) {
    return parked.collection == branch.info.id && parked.element == kToAll;
  });
}

template <class Select>
void Local::retry(const Select& select) {
  const auto from = std::stable_partition(parked_.begin(), parked_.end(),
                                          [&](const Parked& parked) { return !select(parked); });
  const std::vector<Parked> again(from, parked_.end());
  parked_.erase(from, parked_.end());
  for (const Parked& parked : again) {
    pe.release_hold(true);
    if (!fits(parked)) {
      pe.fail(comm::kCheckFailed,
              fmt::format("a message for {} is not of the class of its target", describe(parked)));
      parked.message->type->drop(pe, parked.message);
      continue;
    }
    pe.send_here(parked.message);
  }
}

bool Local::fits(const Parked& parked) {
  if (parked.message->type->describe != &describe_actor_message) return true;
  const EntryInfo& entry = *static_cast<const ActorMessage*>(parked.message)->entry();
  return fit_of(pe, parked.collection, parked.element, entry) != Fit::no;
}

std::string Local::describe(const Parked& parked) const {
  const auto& describe_message = parked.message->type->describe;
  return pe.process().layer->describe(
      pe, describe_message != nullptr ? describe_message(*parked.message) : Activity{});
}

void Local::park(Message* message, std::uint64_t collection, std::uint64_t element) {
  pe.hold(true);
  parked_.push_back({message, collection, element, pe.now()});
}

void Local::report_parked() const {
  const comm::Nanoseconds now = pe.now();
  std::size_t shown = 0;
  for (const Parked& parked : parked_) {
    if (++shown > kParkedShown) {
      pe.process().host->say(
          fmt::format("  PE {}: and {} more", number(pe.id()), parked_.size() - kParkedShown));
      return;
    }
    pe.process().host->say(fmt::format(
        "  PE {}: a message for {} waits, for {:.1f} s: {}", number(pe.id()), describe(parked),
        static_cast<double>(now - parked.since) / 1e9, missing(parked)));
  }
}

std::string Local::missing(const Parked& parked) const {
  const Branch* branch = const_cast<Local*>(this)->branch(parked.collection);
  if (parked.element == kToAll || branch == nullptr) return "there is no such collection";
  if (branch->info.kind == CollectionKind::singles) return "there is no such element";
  return fmt::format("there is no such element, of {}", branch->info.extent);
}

Fit fit_of(Pe& pe, std::uint64_t collection, std::uint64_t element,
           const EntryInfo& entry) noexcept {
  Branch* branch = Local::of(pe).branch(collection);
  if (branch == nullptr) return Fit::unknown;
  const ActorClass* known = branch->actor_class;
  if (known == nullptr) {
    const Element* found = branch->find(element);
    if (found == nullptr) return Fit::unknown;
    known = ElementAccess::actor_class(*found);
  }
  const bool same = known == entry.actor_class || *known->type == *entry.actor_class->type;
  return same ? Fit::yes : Fit::no;
}

comm::PeId route(Pe& pe, std::uint64_t collection, std::uint64_t element) noexcept {
  const Branch* branch = Local::of(pe).branch(collection);
  if (branch == nullptr) return comm::kNoPe;
  const comm::PeId home = branch->home(element);
  return number(home) < pe.process().shape.pes() ? home : pe.id();
}

}  // namespace shoal::actors
