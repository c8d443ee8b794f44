#!/bin/sh
# Prints degrees Celsius as whole degrees Fahrenheit: ./celsius.sh 100
echo $(( $1 * 5 / 9 + 32 ))
