package locate

import "testing"

// TestDefinitionName: runners print a test's name with its class, file or parameters.
func TestDefinitionName(t *testing.T) {
	for name, want := range map[string]string{
		"TestCart/empty": "TestCart", "TestSuite/TestAdd/x": "TestAdd",
		"tests/test_cart.py::TestCart::test_add[1-2]": "test_add",
		"com.example.CartTest.addsItem":               "addsItem", "addsItem(com.example.CartTest)": "addsItem",
		"test_total (tests.test_cart.CartTest.test_total)": "test_total",
		"Cart › adds an item (twice)":                      "adds an item (twice)",
	} {
		if got := definitionName(name); got != want {
			t.Errorf("%s is defined as %q, want %q", name, got, want)
		}
	}
}
