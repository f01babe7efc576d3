# SPDX-License-Identifier: BSD-3-Clause
# The other libraries of maps and tools (source it; not a command): `libraries` has NAME|LIBDIR|INCLUDE|BINDIR of the distribution's
# OpenPMIx and of each prefix in MUSTER_INTEROP_PREFIXES (colon list). Without any, the script is skipped: status 77.
for variable in $(compgen -e | grep -E '^(PMIX|PMI)_' || true); do unset "$variable"; done
unset LD_LIBRARY_PATH
multiarch=$(gcc -print-multiarch)
libraries=()
[ -e "/usr/lib/$multiarch/libpmix.so.2" ] && [ -e "/usr/lib/$multiarch/pmix2/include/pmix.h" ] &&
    libraries+=("debian|/usr/lib/$multiarch|/usr/lib/$multiarch/pmix2/include|${MUSTER_DEBIAN_TOOLS:-/usr/bin}")
IFS=: read -r -a prefixes <<<"${MUSTER_INTEROP_PREFIXES:-}"
for prefix in "${prefixes[@]:+${prefixes[@]}}"; do
    [ -n "$prefix" ] && libraries+=("$prefix|$prefix/lib|$prefix/include|$prefix/bin")
done
[ ${#libraries[@]} -gt 0 ] || { echo "SKIPPED: no other PMIx library"; exit 77; }
