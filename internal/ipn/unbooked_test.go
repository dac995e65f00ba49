package ipn_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

func TestEveryReasonNotToBookHasOneSentenceAndIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]ipn.UnbookedReason)
	for _, reason := range ipn.UnbookedReasons() {
		sentence := reason.Sentence()
		if !strings.HasSuffix(sentence, ".") || strings.Count(sentence, ".") != 1 {
			t.Errorf("%s: %q is not one sentence", reason, sentence)
		}
		if other := seen[sentence]; other != "" {
			t.Errorf("%s and %s have the same sentence", reason, other)
		}
		seen[sentence] = reason
		if !strings.Contains(string(page), "| `"+string(reason)+"` |") {
			t.Errorf("%s is not in docs/ledger.md", reason)
		}
	}
	if got := ipn.UnbookedReason("mood").Sentence(); got != "" {
		t.Errorf("an unknown reason: got %q", got)
	}
}
