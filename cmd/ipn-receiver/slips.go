package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// claim is what is verified: a signature over timestamp and body, and the keys
// it may have been made with.
type claim struct {
	timestamp, signature string
	body                 []byte
	keys                 []ipn.Secret
	texts                []string // of the keys
}

// slips are the mistakes that signatures are usually made or carried with. undo
// returns the claims that would be good if the mistake was made: what was sent is
// never one of them.
var slips = []struct {
	sentence string
	undo     func(claim) []claim
}{
	{"timestamp and body were signed with '.' between them: the separator is wrong, there must be none.", separated(".")},
	{"timestamp and body were signed with a separator between them: there must be none.", separated(":", "\n", " ", ",", "|")},
	{"the body alone was signed: the timestamp must stand before it.", bodyOnly},
	{"the body was signed before the timestamp: the timestamp must stand first.", bodyFirst},
	{"the body had no newline at its end: whatever saved it has added one.", withoutNewline},
	{"the body had a newline at its end: whatever saved it has taken it away.", withNewline},
	{"the body's lines ended in LF alone: whatever saved it has changed them.", unixLines},
	{"the body was encoded as a form anew: something on its way has decoded it, and the raw bytes are what is signed.", reencoded},
	{"the timestamp had no blanks around it.", trimmedTimestamp},
	{"the secret was taken as text: its hexadecimal digits or base64 must not be decoded to sign.", decodedKeys},
	{"the secret had no newline at its end: whoever signed has read it with one.", newlineKeys},
	{"the signature was written in hexadecimal digits, not in base64.", fromBase64},
	{"the signature was written without 'sha256=' or blanks around it.", trimmedSignature},
}

// separated undoes separators between timestamp and body.
func separated(separators ...string) func(claim) []claim {
	return func(sent claim) []claim {
		var tried []claim
		for _, s := range separators {
			c := sent
			c.timestamp += s
			tried = append(tried, c)
		}
		return tried
	}
}

// bodyOnly signs nothing before the body. An empty timestamp is no timestamp, so
// the body's first byte stands in for it: what is signed is the same.
func bodyOnly(sent claim) []claim {
	return joined(sent, string(sent.body))
}

func bodyFirst(sent claim) []claim {
	return joined(sent, string(sent.body)+sent.timestamp)
}

// joined is the claim that text, as a whole, was signed.
func joined(sent claim, text string) []claim {
	if text == "" {
		return nil
	}
	sent.timestamp, sent.body = text[:1], []byte(text[1:])
	return []claim{sent}
}

func withoutNewline(sent claim) []claim {
	body, ok := bytes.CutSuffix(sent.body, []byte("\n"))
	if !ok {
		return nil
	}
	return sent.withBodies(body, bytes.TrimSuffix(body, []byte("\r")))
}

func withNewline(sent claim) []claim {
	body := string(sent.body)
	return sent.withBodies([]byte(body+"\n"), []byte(body+"\r\n"))
}

func unixLines(sent claim) []claim {
	return sent.withBodies(bytes.ReplaceAll(sent.body, []byte("\r\n"), []byte("\n")))
}

// reencoded tries the two ways to write a blank, with the fields in their order.
func reencoded(sent claim) []claim {
	var pairs []string
	for pair := range strings.SplitSeq(string(sent.body), "&") {
		key, value, _ := strings.Cut(pair, "=")
		plainKey, err1 := url.QueryUnescape(key)
		plainValue, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil {
			return nil
		}
		pairs = append(pairs, url.QueryEscape(plainKey)+"="+url.QueryEscape(plainValue))
	}
	plus := strings.Join(pairs, "&")
	java := ipn.Encode(fieldsOf(sent.body))
	return sent.withBodies([]byte(plus), []byte(strings.ReplaceAll(plus, "+", "%20")), java)
}

func fieldsOf(body []byte) ipn.Fields {
	var decoder ipn.Decoder
	return decoder.Decode(body, "").Fields
}

func (c claim) withBodies(bodies ...[]byte) []claim {
	var tried []claim
	for _, body := range bodies {
		c.body = body
		tried = append(tried, c)
	}
	return tried
}

func trimmedTimestamp(sent claim) []claim {
	sent.timestamp = strings.Trim(sent.timestamp, " \t\r\n\"'")
	return []claim{sent}
}

// decodedKeys are the keys that come of reading the secrets as bytes written down.
func decodedKeys(sent claim) []claim {
	var keys []ipn.Secret
	for _, text := range sent.texts {
		for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
			if value, err := decode(text); err == nil {
				keys = appendKey(keys, value)
			}
		}
	}
	return sent.withKeys(keys)
}

// newlineKeys doubles the newline, as the first one is not a part of a secret.
func newlineKeys(sent claim) []claim {
	var keys []ipn.Secret
	for _, text := range sent.texts {
		keys = appendKey(keys, []byte(text+"\n\n"))
	}
	return sent.withKeys(keys)
}

// appendKey leaves out what is no key, such as one too short.
func appendKey(keys []ipn.Secret, value []byte) []ipn.Secret {
	key, err := ipn.NewSecret("", value)
	if err != nil {
		return keys
	}
	return append(keys, key)
}

func (c claim) withKeys(keys []ipn.Secret) []claim {
	if len(keys) == 0 {
		return nil
	}
	c.keys = keys
	return []claim{c}
}

func fromBase64(sent claim) []claim {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if mac, err := encoding.DecodeString(strings.TrimSpace(sent.signature)); err == nil {
			sent.signature = hex.EncodeToString(mac)
			return []claim{sent}
		}
	}
	return nil
}

func trimmedSignature(sent claim) []claim {
	sent.signature = strings.TrimPrefix(strings.Trim(sent.signature, " \t\r\n\"'"), "sha256=")
	return []claim{sent}
}
