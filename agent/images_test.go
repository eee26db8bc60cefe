package agent

import "testing"

func TestImagesAsLinks(t *testing.T) {
	for text, want := range map[string]string{
		"See ![the page](https://x.test/a.png \"title\") here.": "See [image](https://x.test/a.png) here.",
		"![](https://x.test/a.png)![b](b.png)":                  "[image](https://x.test/a.png)[image](b.png)",
		"<IMG SRC=https://x.test/a.png>":                        "[image](https://x.test/a.png)",
		"![a](data:image/png;base64,AAAA) <img alt=b>": "[image] (it has no address " +
			"that can be linked to) [image] (it has no address that can be linked to)",
		"![x](javascript:alert)": "[image] (it has no address " +
			"that can be linked to)",
		"`![code](a.png)` and [a link](b) and <imgx>": "`![code](a.png)` and [a " +
			"link](b) and <imgx>",
		"<img width=\"300\" alt=\"A &amp; B [x]\"\n src='https://x.test/a(1).png' />": "[image](https://x.test/a%281%29.png)",
		"```md\n![in code](a.png)\n~~~\n```\n![out](b.png)\n": "```md\n![in code](a.png)\n~~~\n" +
			"```\n[image](b.png)\n",
		"~~~\n![never closed](a.png)":       "~~~\n![never closed](a.png)",
		"[![badge](a.svg)](https://x.test)": "[[image](a.svg)](https://x.test)",
	} {
		if got, _ := imagesAsLinks(text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
	if _, n := imagesAsLinks("![a](b) `![c](d)` <img src=e>"); n != 2 {
		t.Errorf("%d images, want 2", n)
	}
}

func FuzzImages(f *testing.F) {
	f.Add("![a](b \"c\") <img alt='x' src=y>\n```\n![a](b)")
	f.Fuzz(func(t *testing.T, text string) {
		got, n := imagesAsLinks(text)
		if n == 0 && got != text {
			t.Errorf("%q became %q without an image", text, got)
		}
	})
}
