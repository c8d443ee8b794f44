// Prints how many lines its input has.
package main

import (
	"fmt"
	"io"
	"os"

	"example.org/lines"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(lines.Count(string(text)))
}
