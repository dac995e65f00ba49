package notice

// Encode writes the body: name=value pairs with & between them (specification section 6), in the manner of Java's
// URLEncoder. Letters, digits and "*-_." stand for themselves, a space is a plus, and every other byte of the UTF-8 text is
// a percent sign with two upper-case hexadecimal digits.
func (n Notice) Encode() []byte {
	return n.encode(func(text string) string { return text })
}

// EncodeWindows1252 writes the body as a sender does who takes the wrong charset: like Encode, but of the text in code page
// 1252. What that cannot write is a question mark.
func (n Notice) EncodeWindows1252() []byte { return n.encode(windows1252) }

func (n Notice) encode(charset func(string) string) []byte {
	body := make([]byte, 0, 4096) // most are shorter
	for i, f := range n.Fields {
		if i > 0 {
			body = append(body, '&')
		}
		body = append(escape(body, charset(f.Name)), '=')
		body = escape(body, charset(f.Value))
	}
	return body
}

func escape(body []byte, text string) []byte {
	const upperHex = "0123456789ABCDEF"
	for _, c := range []byte(text) {
		switch {
		case c == ' ':
			body = append(body, '+')
		case free[c]:
			body = append(body, c)
		default:
			body = append(body, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return body
}

// free are the bytes that stand for themselves.
var free = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*-_.") {
		set[c] = true
	}
	return set
}()

// windows1252 returns text with a byte of code page 1252 for each letter.
func windows1252(text string) string {
	var encoded []byte
	for _, r := range text {
		switch special, ok := codePage[r]; {
		case ok:
			encoded = append(encoded, special)
		case r < 0x80 || 0xA0 <= r && r <= 0xFF:
			encoded = append(encoded, byte(r))
		default:
			encoded = append(encoded, '?')
		}
	}
	return string(encoded)
}

// codePage is where code page 1252 differs from Latin-1.
var codePage = map[rune]byte{
	'€': 0x80, '‚': 0x82, 'ƒ': 0x83, '„': 0x84, '…': 0x85, '†': 0x86, '‡': 0x87, 'ˆ': 0x88, '‰': 0x89, 'Š': 0x8A, '‹': 0x8B,
	'Œ': 0x8C, 'Ž': 0x8E, '‘': 0x91, '’': 0x92, '“': 0x93, '”': 0x94, '•': 0x95, '–': 0x96, '—': 0x97, '˜': 0x98, '™': 0x99,
	'š': 0x9A, '›': 0x9B, 'œ': 0x9C, 'ž': 0x9E, 'Ÿ': 0x9F,
}
