package failure

import (
	"sync"
	"unicode/utf8"
)

// PowerShell writes what a program prints to a file in UTF-16, and takes the program's UTF-8 for text in the console's
// code page: "❌" becomes "Γ¥î". That is how gh run view --log > FILE comes out on Windows.

// codePages are what consoles take the bytes from 128 on for: 437 in America, 850 in Western Europe.
var codePages = [][]rune{
	[]rune("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀" +
		"αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0"),
	[]rune("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀" +
		"ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0"),
}

// codePageBytes are the same the other way round.
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

// unmistaken is a run of characters beyond ASCII as the program printed it. Text that nobody mistook is hardly ever
// valid UTF-8 when it is written in a code page.
func unmistaken(run []rune) string {
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
