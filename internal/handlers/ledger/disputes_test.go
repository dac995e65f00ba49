package ledger_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// argued is a dispute in one line: number, state, path by day, amount, days when it opened and ended.
func argued(d ipn.DisputeBook) string {
	var path []string
	for _, step := range d.Path {
		path = append(path, fmt.Sprintf("%d:%s", step.At.Day(), step.Status))
	}
	line := fmt.Sprintf("%s %s [%s] %s%s opened=%d", d.ReversalReference, d.State, strings.Join(path, " "), optional("", d.Amount), d.Currency, d.OpenedAt.Day())
	if d.EndedAt != nil {
		line += fmt.Sprintf(" ended=%d", d.EndedAt.Day())
	}
	return strings.TrimSpace(line)
}

func TestADisputeStandsWhereItsNewsPutIt(t *testing.T) {
	const opening = "01 CHARGEBACK rev=D1 status=New amount=-9"
	for _, tt := range []struct{ name, story, want string }{
		{"opened", opening, "D1 open [1:NEW] 9EUR opened=1"},
		{"opened without a status", "01 CHARGEBACK rev=D1 amount=-9", "D1 open [] 9EUR opened=1"},
		{"challenged", opening + "; 02 " + news + "WORKING; 03 " + news + "completed_pending", "D1 open [1:NEW 2:WORKING 3:COMPLETED_PENDING] 9EUR opened=1"},
		{"won", opening + "; 04 " + news + "COMPLETED_WON", "D1 won [1:NEW 4:COMPLETED_WON] 9EUR opened=1 ended=4"},
		{"lost", opening + "; 04 " + news + "COMPLETED_LOST", "D1 lost [1:NEW 4:COMPLETED_LOST] 9EUR opened=1 ended=4"},
		{"expired", opening + "; 04 " + news + "CLOSED", "D1 closed [1:NEW 4:CLOSED] 9EUR opened=1 ended=4"},
		{"opened again after a verdict", opening + "; 04 " + news + "COMPLETED_LOST; 05 " + news + "WORKING", "D1 open [1:NEW 4:COMPLETED_LOST 5:WORKING] 9EUR opened=1"},
		{"settled in one minute, by the worse verdict", "01 " + news + "COMPLETED_LOST; 01 " + news + "COMPLETED_WON; 01 " + news + "WORKING; " + opening, "D1 lost [1:NEW 1:WORKING 1:COMPLETED_WON 1:COMPLETED_LOST] 9EUR opened=1 ended=1"},
		{"known by its news", "04 " + news + "WORKING amount=-7", "D1 open [4:WORKING] 7EUR opened=4"},
		{"valued by its opening", "04 " + news + "WORKING amount=-7; 05 CHARGEBACK rev=D1 amount=-9", "D1 open [4:WORKING] 9EUR opened=4"},
		{"resolved at once", "04 RDR rev=D1 amount=-7", "D1 lost [] 7EUR opened=4 ended=4"},
		{"resolved after an opening", opening + "; 04 RDR rev=D1 amount=-9", "D1 lost [1:NEW] 9EUR opened=1 ended=4"},
		{"without a number, one of the reference number", "01 CHARGEBACK amount=-9; 02 CHARGEBACK_STATUS_CHANGED status=COMPLETED_WON", "won [2:COMPLETED_WON] 9EUR opened=1 ended=2"},
		{"two of one charge", opening + "; 02 CHARGEBACK rev=D2 amount=-5", "D1 open [1:NEW] 9EUR opened=1, D2 open [] 5EUR opened=2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, d := range ledger.Fold(story(lines(tt.story)...)).Disputes {
				got = append(got, argued(d))
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}
