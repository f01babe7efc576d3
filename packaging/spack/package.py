# SPDX-License-Identifier: BSD-3-Clause
# A recipe for Spack: put the folder into a repository of packages as `muster`.
from spack.package import *


class Muster(CMakePackage):
    """An implementation of the PMIx Standard: process management for parallel programs."""

    homepage = "https://muster.example"
    url = "https://muster.example/muster-0.1.0.tar.xz"

    license("BSD-3-Clause")

    # `spack checksum muster` adds the hash of the tarball that scripts/release wrote.
    version("0.1.0")

    variant("munge", default=True, description="Build the component psec/munge")
    variant("zstd", default=True, description="Build the components pcompress/zstd and preg/zstd")
    variant("static_runtime", default=True, description="Link libstdc++ into the library and its components")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("fmt")
    depends_on("hwloc@2:")
    depends_on("libevent@2.1:+thread")
    depends_on("libtool")
    depends_on("libdeflate")
    depends_on("munge", when="+munge")
    depends_on("zstd", when="+zstd")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("MUSTER_BUILD_TESTS", self.run_tests),
            self.define("MUSTER_BUILD_BENCH", False),
            self.define("MUSTER_UNITY", True),
            self.define_from_variant("MUSTER_STATIC_RUNTIME", "static_runtime"),
        ]
