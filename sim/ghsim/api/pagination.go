package api

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/payload"
)

// page answers one page of a list, with Link headers.
// https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
// Only the items of the page are built. With wrap the answer is an object with
// total_count and the list under that name.
func page[T any](c *call, items []T, wrap string, build func(T) object) (answer, error) {
	per, number := 30, 1
	if n, err := strconv.Atoi(c.query.Get("per_page")); err == nil && n > 0 {
		per = min(n, 100)
	}
	if n, err := strconv.Atoi(c.query.Get("page")); err == nil && n > 0 {
		number = n
	}
	last := max(1, (len(items)+per-1)/per)
	from := min((number-1)*per, len(items))
	out := payload.List(items[from:min(from+per, len(items))], build)
	a := ok(out)
	if wrap != "" {
		a.value = object{"total_count": len(items), wrap: out}
	}
	if link := c.links(number, last); link != "" {
		a.header = map[string]string{"Link": link}
	}
	return a, nil
}

func (c *call) links(number, last int) string {
	var links []string
	add := func(n int, rel string) {
		q := url.Values{}
		for k, v := range c.query {
			q[k] = v
		}
		q.Set("page", strconv.Itoa(n))
		links = append(links, fmt.Sprintf("<%s%s?%s>; rel=%q", c.world.URL(), c.r.URL.EscapedPath(), q.Encode(), rel))
	}
	if number > 1 {
		add(number-1, "prev")
	}
	if number < last {
		add(number+1, "next")
		add(last, "last")
	}
	if number > 1 {
		add(1, "first")
	}
	return strings.Join(links, ", ")
}
