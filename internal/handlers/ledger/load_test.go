package ledger_test

import (
	"strings"
	"testing"

	"github.com/ipn-receiver/ipn-receiver/internal/handlers/ledger"
)

// TestTheOtherEventsOfABatchAreFoundWithoutComparingEachWithEach looks at the plan that a connection keeps: the planner
// takes every array for one of ten, and a join of thousands with a thousand then costs more than all the rest.
func TestTheOtherEventsOfABatchAreFoundWithoutComparingEachWithEach(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.execute("set plan_cache_mode = force_generic_plan")
	d.execute("prepare others (text[], boolean[], text[], boolean[], bigint[]) as" + ledger.LoadOthers)
	plan := strings.Join(d.column("explain (costs off) execute others ('{}', '{}', '{}', '{}', '{}')"), "\n")
	if strings.Contains(plan, "Join Filter") || !strings.Contains(plan, "hashed SubPlan") {
		t.Errorf("the batch is no hash:\n%s", plan)
	}
}
