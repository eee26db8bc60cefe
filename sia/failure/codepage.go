package failure

import (
	"sync"
	"unicode/utf8"
)

// PowerShell writes a program's output to a file in UTF-16, and decodes the program's UTF-8 in the console's code page:
// "❌" becomes "Γ¥î". "gh run view --log > FILE" does so on Windows.

// codePages are the characters of bytes 128 and up in consoles' code pages: 437 in America, 850 in Western Europe.
var codePages = [][]rune{
	[]rune("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀" +
		"αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0"),
	[]rune("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀" +
		"ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0"),
}

// codePageBytes are the reverse mappings of codePages.
var codePageBytes = sync.OnceValue(func() (of []map[rune]byte) {
	for _, page := range codePages {
		b := make(map[rune]byte, len(page))
		for i, r := range page {
			b[r] = byte(0x80 + i)
		}
		of = append(of, b)
	}
	return of
})

// undoCodePage returns a run of non-ASCII characters as the program printed it. Text that was decoded correctly is
// hardly ever valid UTF-8 when it is encoded in a code page.
func undoCodePage(run []rune) string {
	for _, page := range codePageBytes() {
		b := make([]byte, 0, len(run))
		for _, r := range run {
			if c, ok := page[r]; ok {
				b = append(b, c)
			}
		}
		if len(b) == len(run) && utf8.Valid(b) {
			return string(b)
		}
	}
	return string(run)
}
