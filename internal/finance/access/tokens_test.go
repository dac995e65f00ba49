package access_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/access"
)

func TestATokenIsRandomAndItsLineReadsBack(t *testing.T) {
	t.Parallel()
	expires, err := access.EndOf("2027-01-31")
	if err != nil {
		t.Fatal(err)
	}
	text, kept := access.NewToken("maria", access.Finance, expires)
	if !regexp.MustCompile(`^ipn_[A-Za-z0-9_-]{43}$`).MatchString(text) {
		t.Errorf("got %q, want 32 bytes in base64url behind ipn_", text)
	}
	if again, _ := access.NewToken("maria", access.Finance, expires); again == text {
		t.Error("two tokens are one")
	}
	want := fmt.Sprintf("maria finance sha256:%x expires=2027-01-31", access.HashOf(text))
	if kept.Line() != want || strings.Contains(kept.Line(), text) {
		t.Errorf("got %q, want %q", kept.Line(), want)
	}
	tokens, err := access.ParseTokens(kept.Line())
	if err != nil || len(tokens.All()) != 1 || tokens.All()[0] != kept {
		t.Errorf("got %+v, %v, want %+v", tokens.All(), err, kept)
	}
}

func TestATokensFileMayHaveWordsAndBlankLines(t *testing.T) {
	t.Parallel()
	file := "# who may ask\r\n\r\n  " + line("maria", access.Finance, "one") + "\t" + strings.TrimSpace(line("erp.eu-1@night", access.Viewer, "two")) + " # the nightly job\n\n"
	tokens, err := access.ParseTokens(file)
	if err != nil || len(tokens.All()) != 2 {
		t.Fatalf("got %+v, %v", tokens.All(), err)
	}
	for _, empty := range []string{"", "\n# nobody yet\n"} {
		if tokens, err := access.ParseTokens(empty); err != nil || len(tokens.All()) != 0 {
			t.Errorf("got %+v, %v", tokens.All(), err)
		}
	}
}

func TestALineThatIsWrongIsNamedByItsNumberAndNeverShown(t *testing.T) {
	t.Parallel()
	const canary = "ipn_canary-0123456789-canary-0123456789-canar"
	good := strings.TrimSpace(line("maria", access.Finance, "one"))
	hash := strings.Fields(good)[2]
	for name, bad := range map[string]string{
		"the token as the name":    canary + " finance " + hash,
		"the token as the role":    "erp " + canary + " " + hash,
		"the token for its hash":   "erp finance " + canary,
		"the token as the hash":    "erp finance sha256:" + canary,
		"the token at the end":     good + " " + canary,
		"one word":                 canary,
		"five words":               good + " expires=2027-01-31 " + canary,
		"a hash cut short":         "erp finance " + hash[:len(hash)-1],
		"a hash without its name":  "erp finance " + strings.TrimPrefix(hash, "sha256:"),
		"a day that is none":       "erp finance " + hash + " expires=2027-02-30",
		"a time":                   "erp finance " + hash + " expires=2027-01-31T12:00:00Z",
		"a role that is none":      "erp root " + hash,
		"a name that is none":      "e/rp finance " + hash,
		"a name that begins odd":   "-erp finance " + hash,
		"a name as long as a tale": strings.Repeat("e", 65) + " finance " + hash,
		"a name twice":             good[:1] + "aria finance " + strings.Fields(line("x", access.Viewer, "two"))[2],
		"a name twice in capitals": "MARIA finance " + strings.Fields(line("x", access.Viewer, "two"))[2],
		"a token twice":            "erp finance " + hash,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := access.ParseTokens("# first\n" + good + "\n\n" + bad + "\n")
			if err == nil || !strings.HasPrefix(err.Error(), "line 4: ") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v, want line 4 and no other", err)
			}
			for _, secret := range []string{"canary", hash[7:20], "0123456789"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error shows %q: %v", secret, err)
				}
			}
		})
	}
}

func TestEveryLineThatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	_, err := access.ParseTokens("one\n" + line("maria", access.Viewer, "one") + "two\n")
	if err == nil || !strings.Contains(err.Error(), "line 1: ") || !strings.Contains(err.Error(), "line 3: ") {
		t.Errorf("got %v", err)
	}
}

func TestATokenIsGoodThroughItsLastDay(t *testing.T) {
	t.Parallel()
	d := newDoor(t, strings.TrimSpace(line("maria", access.Finance, "one"))+" expires=2027-01-31")
	for at, want := range map[string]string{
		"2026-11-21T12:00:00Z": "api:maria finance", "2027-01-31T00:00:00Z": "api:maria finance", "2027-01-31T23:59:59Z": "api:maria finance",
		"2027-02-01T00:59:00+02:00": "api:maria finance", "2027-02-01T00:00:00Z": "", "2029-01-01T00:00:00Z": "",
	} {
		var err error
		if d.now, err = time.Parse(time.RFC3339, at); err != nil {
			t.Fatal(err)
		}
		if got := d.who("Authorization", "Bearer one"); got != want {
			t.Errorf("%s: got %q, want %q", at, got, want)
		}
	}
}
