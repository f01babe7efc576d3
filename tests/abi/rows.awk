# SPDX-License-Identifier: BSD-3-Clause
# Turns a table of data/ into lines ROW(...) for the preprocessor. The first `lead` columns are passed on as they
# are; those behind them, if any, are what 4.2.2, 5.0.11, 6.1.0 and 7.0.0rc1 have: one line each, none for "-".
BEGIN { FS = "\t"; split("4.2.2 5.0.11 6.1.0 7.0.0rc1", version, " ") }
/^#/ || NF == 0 { next }
{
    row = $1
    for (i = 2; i <= lead; ++i) row = row ", " $i
    if (NF == lead) print "ROW(" row ")"
    for (i = 1; lead + i <= NF; ++i)
        if ($(lead + i) != "-") print "ROW(" row ", \"" version[i] "\", " $(lead + i) ")"
}
