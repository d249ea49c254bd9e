// SPDX-License-Identifier: Apache-2.0
// The limit of `startup`: what the system takes to start and end a C++ program that does nothing.
int main() { return 0; }
