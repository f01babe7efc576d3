// SPDX-License-Identifier: BSD-3-Clause
// pmix_framework_names, which libopen-pal of Open MPI 5 and 6 refers to. The names are those of OpenPMIx 5 to
// 7, so that Open MPI passes on what its users have set for either library; "mca" stands for the parameters
// of all frameworks.
#include <pmix/src/include/pmix_frameworks.h>

#include <iterator>

namespace {

char names[][16] = {"bfrops",       "gds",     "pcompress", "pdl",  "pgpu", "pif",
                    "pinstalldirs", "plog",    "pmdl",      "pnet", "preg", "psec",
                    "psensor",      "psquash", "pstat",     "ptl",  "mca"};

}  // namespace

char* pmix_framework_names[] = {names[0],  names[1],  names[2],  names[3],  names[4],  names[5],
                                names[6],  names[7],  names[8],  names[9],  names[10], names[11],
                                names[12], names[13], names[14], names[15], names[16], nullptr};
static_assert(std::size(names) + 1 == std::size(pmix_framework_names));
