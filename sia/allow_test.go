//test:plain/...
package sia

import "testing"

func TestAllowList(t *testing.T) {
	list := AllowList{"acme/shop", "Ada/*"}
	for r, want := range map[Repo]bool{
		{Owner: "acme", Name: "shop"}: true, {Owner: "ACME", Name: "Shop"}: true, {Owner: "ada", Name: "anything"}: true,
		{Owner: "acme", Name: "shop2"}: false, {Owner: "acme", Name: "sho"}: false, {Owner: "adam", Name: "x"}: false,
		{Owner: "evil", Name: "shop"}: false, {}: false,
	} {
		if got := list.Has(r); got != want {
			t.Errorf("%s: %v", r, got)
		}
		if !AllowList(nil).Has(r) {
			t.Errorf("without a list %s is not allowed", r)
		}
	}
	if err := list.Check(); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"", "acme", "acme/", "/shop", "*/shop", "acme/sh*", "acme/a/b", "acme/a b"} {
		if (AllowList{wrong}).Check() == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
