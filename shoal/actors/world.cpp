// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/actor_layer.hpp>
#include <shoal/actors/world.hpp>

namespace shoal::actors {

std::uint32_t World::pes() const noexcept { return runtime::this_pe().process().shape.pes(); }

std::uint32_t World::processes() const noexcept {
  return runtime::this_pe().process().shape.processes;
}

std::span<const std::string> World::args() const noexcept {
  return static_cast<ActorLayer*>(runtime::this_pe().process().layer)->arguments();
}

void World::exit(int code) const { runtime::this_pe().exit(code); }

namespace detail {
void create_collection(Pe& pe, const CollectionInfo& info, const EntryInfo& constructor,
                       SharedBytes* arguments) {
  Local::of(pe).add_branch(info, constructor.actor_class);  // so that sends from here have a route
  runtime::Envelope envelope;
  envelope.kind = runtime::Kind::create;
  envelope.collection = info.id;
  envelope.entry = constructor.id;
  spread(pe, envelope, arguments);
}

void create_single(Pe& pe, std::uint64_t element, const EntryInfo& constructor,
                   SharedBytes* arguments) {
  runtime::Envelope envelope;
  envelope.kind = runtime::Kind::create;
  envelope.collection = kSingles;
  envelope.element = element;
  envelope.entry = constructor.id;
  spread_to(pe, comm::PeId{static_cast<std::uint32_t>(element >> kHomeShift)}, envelope, arguments);
}
}  // namespace detail

}  // namespace shoal::actors
