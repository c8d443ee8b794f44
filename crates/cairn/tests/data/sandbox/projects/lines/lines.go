// Package lines counts lines.
package lines

import "strings"

// Count says how many lines a text has. A last line needs no end.
func Count(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}
