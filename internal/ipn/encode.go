package ipn

// Encode writes fields as the sender does, in the manner of Java's URLEncoder:
// letters, digits and "*-_." stand for themselves, a space is '+', every other
// byte of the UTF-8 text is a percent sign and two upper-case hexadecimal
// digits. Every pair has its equals sign.
func Encode(f Fields) []byte {
	dst := make([]byte, 0, encodedSize(f))
	for i := range f {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(appendEncoded(dst, f[i].Name), '=')
		dst = appendEncoded(dst, f[i].Value)
	}
	return dst
}

func appendEncoded(dst []byte, s string) []byte {
	const upperHex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case unreserved[c]:
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

// encodedSize is the exact length of Encode's result.
func encodedSize(f Fields) int {
	size := 0
	for i := range f {
		size += encodedLen(f[i].Name) + encodedLen(f[i].Value) + len("=&")
	}
	return max(0, size-len("&"))
}

func encodedLen(s string) int {
	size := len(s)
	for i := 0; i < len(s); i++ {
		if c := s[i]; !unreserved[c] && c != ' ' {
			size += 2
		}
	}
	return size
}

// unreserved marks the bytes that stand for themselves.
var unreserved = byteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789*-_.")

func byteSet(members string) (set [256]bool) {
	for i := 0; i < len(members); i++ {
		set[members[i]] = true
	}
	return set
}
