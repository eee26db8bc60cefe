package diagnose

import (
	"strings"

	"github.com/sia-bot/sia/sia/visible"
)

// cleanText returns the visible text of s; see [visible.Text].
func cleanText(s string) string { return strings.TrimSpace(visible.Text(s)) }
