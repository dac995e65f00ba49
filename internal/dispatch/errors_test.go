package dispatch_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/dispatch"
)

func TestAWishSpeaksAsItsCause(t *testing.T) {
	t.Parallel()
	for name, wish := range map[string]error{
		"after":     dispatch.After(time.Second, errBoom),
		"permanent": dispatch.Permanent(errBoom),
		"halt":      dispatch.Halt(errBoom),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if wrapped := fmt.Errorf("send: %w", wish); !errors.Is(wrapped, errBoom) || wrapped.Error() != "send: boom" {
				t.Errorf("got %q", wrapped)
			}
		})
	}
	if text := dispatch.Permanent(nil).Error(); text != "no reason given" {
		t.Errorf("without a cause: got %q", text)
	}
}
