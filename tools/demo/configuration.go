package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// A looked is what the receiver tells of the configuration.
type looked struct {
	ipn.ConfigurationState
	Pushes []ipn.ConfigurationPush
}

// inSync waits until the receiver has made its latest look, and found or made the configuration as desired, after enough
// pushes.
func inSync(ctx context.Context, s *stage, replaced int) (looked, error) {
	return inTheBooks(ctx, s, "configuration", func(l looked) bool {
		n := 0
		for _, push := range l.Pushes {
			if push.Result == ipn.ConfigurationReplaced {
				n++
			}
		}
		return l.InSync != nil && *l.InSync && n == replaced
	})
}

// pushed waits for the push at the start, and compares what the payment service holds.
func pushed(ctx context.Context, s *stage) error {
	if _, err := inSync(ctx, s, 1); err != nil {
		return err
	}
	held, err := s.payments.NotificationConfiguration(ctx)
	if err != nil {
		return err
	}
	if len(held.Destinations) != 1 || held.Destinations[0].URL != s.destination {
		return fmt.Errorf("the payment service holds %+v", held)
	}
	for _, flag := range payments.NotificationFlags() {
		if !held.Destinations[0].Send[flag] {
			return fmt.Errorf("%s is off", flag)
		}
	}
	say("pushed: %d flags on, to %s", len(payments.NotificationFlags()), s.destination)
	return nil
}

// changed switches a flag off behind the receiver's back.
func changed(ctx context.Context, s *stage) error {
	held, err := s.payments.NotificationConfiguration(ctx)
	if err != nil {
		return err
	}
	const flag = "sendRefund"
	held.Destinations[0].Send[flag] = false
	if err := s.control.call(ctx, http.MethodPut, "/portal/configuration", held, nil); err != nil {
		return err
	}
	say("%s was switched off in the portal", flag)
	seen, err := inSync(ctx, s, 2)
	if err != nil {
		return err
	}
	for _, push := range seen.Pushes { // newest first
		if push.Result == ipn.ConfigurationReplaced {
			say("the receiver saw it at its next look, and pushed again: %s from %s to %s", push.Changes[0].Setting, push.Changes[0].From, push.Changes[0].To)
			break
		}
	}
	held, err = s.payments.NotificationConfiguration(ctx)
	if err == nil && !held.Destinations[0].Send[flag] {
		err = fmt.Errorf("%s is still off", flag)
	}
	return err
}
