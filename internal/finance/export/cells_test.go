package export_test

import (
	"encoding/csv"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ipn-receiver/ipn-receiver/internal/finance/export"
)

// read returns the cells of a line of CSV, as another program reads it.
func read(tb testing.TB, line string) []string {
	tb.Helper()
	reader := csv.NewReader(strings.NewReader(line))
	cells, err := reader.Read()
	if err != nil {
		tb.Fatalf("%q: %v", line, err)
	}
	if rest, err := reader.Read(); err == nil {
		tb.Fatalf("%q is more than a line: %q", line, rest)
	}
	return cells
}

// The fault S-78: a text that a spreadsheet would run. S-42: characters that turn the direction of writing.
func TestS78NoTextOfACellIsTakenForAFormula(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, want string }{
		{"plain", "1234567890", "1234567890"},
		{"a word", "order-77", "order-77"},
		{"equals", "=1+1", "'=1+1"},
		{"a command", "=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
		{"plus", "+1", "'+1"},
		{"minus", "-1+1", "'-1+1"},
		{"a text that looks like a negative number", "-5.00", "'-5.00"},
		{"at", "@SUM(1)", "'@SUM(1)"},
		{"tab", "\t=1", "'\t'=1"},
		{"carriage return", "\r=1", "'\r'=1"},
		{"line feed", "\n=1", "'\n'=1"},
		{"NUL", "\x00=1", "'\x00=1"},
		{"behind a quote", `"=1`, `'"=1`},
		{"behind an apostrophe", "'=1", "''=1"},
		{"behind quotes and space", `" "" =1`, `'" "" =1`},
		{"behind space", "   =1", "'   =1"},
		{"behind a space that does not break", "\u00a0=1", "'\u00a0=1"},
		{"behind what cannot be seen", "\u200b\ufeff=1", "'\u200b\ufeff=1"},
		{"behind what turns the direction", "\u202e=1", "'=1"},
		{"full-width equals", "＝1+1", "'＝1+1"},
		{"full-width plus", "＋1", "'＋1"},
		{"full-width minus", "－1", "'－1"},
		{"full-width at", "＠SUM(1)", "'＠SUM(1)"},
		{"behind a semicolon, which parts cells elsewhere", "x;=cmd|'/C_calc'!A0;", "x;'=cmd|'/C_calc'!A0;"},
		{"behind a semicolon and a quote", `a;"=1`, `a;'"=1`},
		{"in a second line", "a\n\n@b", "a\n\n'@b"},
		{"semicolons", "a;b; c", "a;b; c"},
		{"an operator inside", "a=1", "a=1"},
		{"commas and quotes", `a,"b",c`, `a,"b",c`},
		{"lines", "a\nb", "a\nb"},
		{"space around", " a ", " a "},
		{"nothing", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			line := "1," + string(export.AppendCell(nil, []byte(tc.text))) + ",2\r\n"
			if got := read(t, line); len(got) != 3 || got[1] != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// The fault S-42: hostile text. What turns the direction of writing is taken out; all else stays.
func TestS42NoTextOfACellTurnsTheDirectionOfWriting(t *testing.T) {
	t.Parallel()
	marks := strings.Repeat("a\u0301\u0302", 100)
	for _, tc := range []struct{ name, text, want string }{
		{"an override", "invoice\u202egpj.exe", "invoicegpj.exe"},
		{"embeddings", "\u202aa\u202bb\u202cc\u202d", "abc"},
		{"isolates", "\u2066a\u2067b\u2068c\u2069", "abc"},
		{"marks", "\u200ea\u200fb\u061c", "ab"},
		{"nothing else", "\u202e", ""},
		{"Hebrew and Arabic", "שלום, سلام", "שלום, سلام"},
		{"a letter of another alphabet", "аdmin", "аdmin"},
		{"a byte order mark", "\ufeffa", "\ufeffa"},
		{"combining marks", marks, marks},
		{"an emoji of several", "👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			line := "1," + string(export.AppendCell(nil, []byte(tc.text))) + ",2\r\n"
			if got := read(t, line); len(got) != 3 || got[1] != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// FuzzCell writes any text between two others: another program reads three cells, the second is the text but for the guard
// and what is taken out, and no spreadsheet finds a formula in it.
func FuzzCell(f *testing.F) {
	for _, text := range []string{"", "a", "=1", `"=`, ",", "\r\n", " ", "\u202e=", "＝", "\x00", "a\"\"b", "'", "\xff", "\r+", "a;=1", "a\t \"-1", "é,\"=\"\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cells := read(t, "1,"+string(export.AppendCell(nil, []byte(text)))+",2\r\n")
		if len(cells) != 3 || cells[0] != "1" || cells[2] != "2" {
			t.Fatalf("%q: got %q", text, cells)
		}
		kept := strings.ReplaceAll(text, "\r\n", "\n") // so it is read by encoding/csv, and by nothing else
		switch bidi := func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }; {
		case utf8.ValidString(text):
			kept = strings.Map(func(r rune) rune {
				if bidi(r) {
					return -1
				}
				return r
			}, kept)
		case strings.ContainsFunc(text, bidi):
			return // strings.Map would mend it: only without what is taken out can it be compared
		}
		cuts := regexp.MustCompile("[;\t\r\n]") // where some begin another cell
		want, got := cuts.Split(kept, -1), cuts.Split(cells[1], -1)
		if len(got) != len(want) {
			t.Fatalf("%q became %q", text, cells[1])
		}
		for i := range got {
			if got[i] != want[i] && got[i] != "'"+want[i] {
				t.Errorf("%q became %q", text, cells[1])
			}
			first := strings.TrimLeftFunc(got[i], func(r rune) bool { return r == '"' || r == ' ' || unicode.Is(unicode.Cf, r) })
			if r, _ := utf8.DecodeRuneInString(first); first != "" && strings.ContainsRune("=+-@\x00＝＋－＠", r) {
				t.Errorf("%q became the formula %q", text, got[i])
			}
		}
	})
}

// FuzzString writes any text as JSON: what is read is what was written.
func FuzzString(f *testing.F) {
	f.Add("")
	f.Add("a\"\\\x00\x1f\u2028é</script>")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // the record holds none
		}
		var got string
		if err := json.Unmarshal(export.AppendString(nil, []byte(text)), &got); err != nil || got != text {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	})
}
