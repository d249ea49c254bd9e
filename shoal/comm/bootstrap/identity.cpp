// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/identity.hpp>

#include <shoal/comm/build_info.hpp>
#include <shoal/comm/descriptor.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace shoal::comm {

namespace {

std::string first_line(const char* path) {
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  std::array<char, 128> text;
  const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : -1;
  if (size <= 0) return "?";
  const std::string_view all(text.data(), static_cast<std::size_t>(size));
  return std::string(all.substr(0, all.find('\n')));
}

std::string link_target(const char* path) {
  std::array<char, 128> text;
  const ssize_t size = ::readlink(path, text.data(), text.size());
  return size <= 0 ? "?" : std::string(text.data(), static_cast<std::size_t>(size));
}

std::string host_name() {
  std::array<char, 256> text{};
  return ::gethostname(text.data(), text.size() - 1) == 0 ? text.data() : "?";
}

std::set<std::string_view> lines_of(std::string_view text) {
  std::set<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end != 0) lines.insert(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// Adds what only `mine` holds, as long as `room` lasts; returns how many did not fit.
std::size_t add_missing(std::string& text, ProcessId process,
                        const std::set<std::string_view>& mine,
                        const std::set<std::string_view>& other, std::size_t& room) {
  std::size_t left_out = 0;
  for (const std::string_view line : mine) {
    if (other.contains(line)) continue;
    if (room == 0) {
      ++left_out;
      continue;
    }
    --room;
    text += fmt::format("\n  only in process {}: {}", number(process), line);
  }
  return left_out;
}

}  // namespace

void Identity::complete() {
  if (version.empty()) version = comm::version();
  if (build.empty()) build = build_id();
  if (node.empty()) node = host_name();
  if (pid == 0) pid = static_cast<std::uint32_t>(::getpid());
  if (!host.empty()) return;
  struct stat shared_memory {};
  ::stat("/dev/shm", &shared_memory);  // its own in a container or a mount namespace
  host = fmt::format("{} {} {} {}", first_line("/proc/sys/kernel/random/boot_id"),
                     link_target("/proc/self/ns/pid"), link_target("/proc/self/ns/ipc"),
                     shared_memory.st_dev);
}

std::vector<std::byte> encode_hello(const Identity& identity) {
  FrameWriter writer(FrameType::hello);
  writer.u32(identity.pid).u32(identity.pes).u32(identity.usable);
  writer.u32(identity.heartbeat_ms).bytes(identity.entry_digest);
  for (const std::string* text : {&identity.version, &identity.build, &identity.ucx, &identity.host,
                                  &identity.node, &identity.processors}) {
    writer.text(*text, kMaxIdentityText);
  }
  return writer.finish();
}

Expected<Identity> decode_hello(std::span<const std::byte> payload) {
  PayloadReader reader(payload);
  Identity identity;
  identity.pid = reader.u32();
  identity.pes = reader.u32();
  identity.usable = reader.u32();
  identity.heartbeat_ms = reader.u32();
  const auto digest = reader.bytes(identity.entry_digest.size());
  if (digest.size() != identity.entry_digest.size()) {
    return make_error(ErrorCode::bad_data, "a hello holds no entry digest");
  }
  std::copy(digest.begin(), digest.end(), identity.entry_digest.begin());
  for (std::string* text : {&identity.version, &identity.build, &identity.ucx, &identity.host,
                            &identity.node, &identity.processors}) {
    *text = reader.text(kMaxIdentityText);
  }
  if (!reader.finished()) return make_error(ErrorCode::bad_data, "a hello does not parse");
  return identity;
}

std::string differences(Named first, Named second) {
  const auto compare = [&](const char* what, const std::string& a, const std::string& b) {
    return a == b ? std::string()
                  : fmt::format("\n  {}: process {} has \"{}\", process {} has \"{}\"", what,
                                number(first.process), a, number(second.process), b);
  };
  return compare("version", first.identity.version, second.identity.version) +
         compare("build", first.identity.build, second.identity.build) +
         compare("UCX", first.identity.ucx, second.identity.ucx);
}

std::string entry_differences(Named first, Named second) {
  const auto a = lines_of(first.identity.entries);
  const auto b = lines_of(second.identity.entries);
  std::string text;
  // Half the room for each side; what the first does not use goes to the second.
  std::size_t room = kMaxDiffLines / 2;
  std::size_t left_out = add_missing(text, first.process, a, b, room);
  room += kMaxDiffLines / 2;
  left_out += add_missing(text, second.process, b, a, room);
  if (left_out > 0) text += fmt::format("\n  and {} more", left_out);
  return text;
}

}  // namespace shoal::comm
