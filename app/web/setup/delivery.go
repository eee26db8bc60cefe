package setup

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/app/github"
)

// DeliveryResult describes the result of a failed delivery.
func DeliveryResult(d github.DeliveryAttempt) string {
	switch {
	case d.Code == 0 && d.Status == "":
		return "no answer"
	case d.Code == 0:
		return d.Status
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", d.Code, d.Status))
}

// DeliveryFix says what to do about a failed delivery.
func DeliveryFix(d github.DeliveryAttempt) string {
	switch d.Code {
	case 401:
		return "the secret is not the same on both sides: set that of --webhook-secret, or webhook_secret in " + File +
			", under Webhook in the app's settings on GitHub"
	case 404, 405:
		return "something answers there that is not SIA's webhook: check address and path, which ends in /webhook"
	case 0, 502, 503, 504:
		return "GitHub does not reach SIA: check the address, the firewall and the certificate, and that SIA runs " +
			"behind it"
	case 413:
		return "something in front of SIA limits how large a request may be: allow 25 MB"
	}
	return "look at the answer under Advanced → Recent Deliveries in the app's settings on GitHub"
}
