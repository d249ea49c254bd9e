# SPDX-License-Identifier: Apache-2.0
# Installs headers, libraries, tools, and the package that find_package(shoal CONFIG) reads.
