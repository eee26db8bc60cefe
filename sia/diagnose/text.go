package diagnose

import (
	"strings"

	"github.com/sia-bot/sia/sia/visible"
)

// cleanText is a text as a person sees it; see [visible.Text].
func cleanText(s string) string { return strings.TrimSpace(visible.Text(s)) }
