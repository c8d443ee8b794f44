#!/bin/sh
# Checks celsius.sh against a table; exits 1 when a line is wrong.
failed=0
while read -r celsius fahrenheit; do
    got=$(./celsius.sh "$celsius")
    if [ "$got" = "$fahrenheit" ]; then
        echo "ok    $celsius C is $fahrenheit F"
    else
        echo "FAIL  $celsius C should be $fahrenheit F, got $got"
        failed=1
    fi
done <<END
0 32
100 212
37 98
-40 -40
END
[ "$failed" = 0 ] && echo "all passed"
exit "$failed"
