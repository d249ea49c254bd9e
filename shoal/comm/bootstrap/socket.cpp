// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/socket.hpp>

#include <shoal/comm/quiet_thread.hpp>

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>

namespace shoal::comm {

namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Expected<AddressList> parse(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int result = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (result != 0) {
    return make_error(ErrorCode::bad_argument,
                      fmt::format("'{}' port '{}' is no numeric address: {}", host, port,
                                  ::gai_strerror(result)));
  }
  return AddressList(found, &::freeaddrinfo);
}

void set_no_delay(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

struct Endpoint {
  std::string host;
  std::string port;

  std::string text() const {
    const bool v6 = host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
  }
};

std::optional<Endpoint> endpoint_of(const sockaddr* address, socklen_t size) {
  Endpoint found{std::string(NI_MAXHOST, '\0'), std::string(NI_MAXSERV, '\0')};
  if (::getnameinfo(address, size, found.host.data(), NI_MAXHOST, found.port.data(), NI_MAXSERV,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return std::nullopt;
  }
  found.host.resize(found.host.find('\0'));
  found.port.resize(found.port.find('\0'));
  return found;
}

// The host's IPv4 addresses, loopback last: it is right for processes of this host only.
std::string addresses_of_host(const std::string& port) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return "127.0.0.1:" + port;
  std::string text;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const bool serves = entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET &&
                        (entry->ifa_flags & (IFF_UP | IFF_LOOPBACK)) == IFF_UP;
    if (!serves) continue;
    if (const auto found = endpoint_of(entry->ifa_addr, sizeof(sockaddr_in))) {
      text += Endpoint{found->host, port}.text() + ",";
    }
  }
  ::freeifaddrs(list);
  return text + "127.0.0.1:" + port;
}

Expected<std::string> own_address(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return system_error("cannot read a socket's address", errno);
  }
  const auto found = endpoint_of(reinterpret_cast<sockaddr*>(&address), size);
  if (!found) return make_error(ErrorCode::system, "cannot read a socket's address");
  return found->host == kAnyHost ? addresses_of_host(found->port) : found->text();
}

}  // namespace

Expected<Listener> listen_at(const std::string& host) {
  auto addresses = parse(host, "0");
  if (!addresses) return addresses.error();
  const addrinfo& at = **addresses;
  Listener listener;
  listener.socket.reset(::socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.socket || ::bind(listener.socket.get(), at.ai_addr, at.ai_addrlen) != 0 ||
      ::listen(listener.socket.get(), SOMAXCONN) != 0) {
    return system_error(fmt::format("cannot listen at {}", host), errno);
  }
  auto address = own_address(listener.socket.get());
  if (!address) return address.error();
  listener.address = std::move(*address);
  return listener;
}

Expected<Descriptor> connect_to(const std::string& address, Nanoseconds limit) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    return make_error(ErrorCode::bad_argument, fmt::format("'{}' is not HOST:PORT", address));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  auto addresses = parse(host, address.substr(colon + 1));
  if (!addresses) return addresses.error();
  const addrinfo& at = **addresses;
  Descriptor socket(::socket(at.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_error("cannot make a socket", errno);
  int error = ::connect(socket.get(), at.ai_addr, at.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    if (!wait_for(socket.get(), POLLOUT, steady_clock().now() + limit)) {
      return make_error(ErrorCode::timed_out, fmt::format("no answer from {}", address));
    }
    socklen_t size = sizeof(error);
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0) return system_error(fmt::format("cannot connect to {}", address), error);
  set_no_delay(socket.get());
  return socket;
}

Descriptor accept_next(const Descriptor& listener) {
  Descriptor socket;
  do {
    socket.reset(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  } while (!socket && (errno == EINTR || errno == ECONNABORTED));
  if (socket) set_no_delay(socket.get());
  return socket;
}

bool wait_for(int fd, short events, Nanoseconds deadline) {
  pollfd entry{fd, events, 0};
  while (true) {
    const int ready = ::poll(&entry, 1, milliseconds_until(deadline));
    if (ready > 0) return true;
    if (ready == 0 && steady_clock().now() >= deadline) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

ReadResult read_some(int fd, std::span<std::byte> room) {
  ssize_t size;
  do {
    size = ::read(fd, room.data(), room.size());
  } while (size < 0 && errno == EINTR);
  if (size > 0) return {static_cast<std::size_t>(size), ReadEnd::more};
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {0, ReadEnd::blocked};
  return {0, ReadEnd::closed};
}

}  // namespace shoal::comm
