package page_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/ipn-receiver/ipn-receiver/internal/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner(m)) }
