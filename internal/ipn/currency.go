package ipn

import "strings"

// otherScales are the ISO 4217 currencies that do not have two decimals.
var otherScales = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0,
	"RWF": 0, "UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"CLF": 4, "UYW": 4,
}

// noScale are the codes of metals, funds and tests, which have no minor unit.
const noScale = "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX"

// scaleOf returns how many decimals a currency has, in any letter case. known
// is false for text that is no three-letter code and for codes without a minor
// unit. A code that is well formed and not listed has two: new currencies do,
// and the sender's list is open.
func scaleOf(currency string) (scale int, known bool) {
	if len(currency) != 3 {
		return 0, false
	}
	var code [3]byte
	for i := range code {
		c := currency[i] &^ 0x20 // upper case, if it is a letter
		if c < 'A' || c > 'Z' {
			return 0, false
		}
		code[i] = c
	}
	if strings.Contains(noScale, string(code[:])) {
		return 0, false
	}
	if scale, listed := otherScales[string(code[:])]; listed {
		return scale, true
	}
	return 2, true
}
