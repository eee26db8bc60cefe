package text

import (
	"fmt"
	"math"
)

// Percent formats a share from 0 to 1 for people, with two digits below 10 %.
func Percent(share float64) string {
	if share > 0 && share < 0.1 {
		return fmt.Sprintf("%.2g %%", share*100)
	}
	return fmt.Sprintf("%d %%", int(math.Round(share*100)))
}
