package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// Plans of the simulator.
const (
	monthly = 3000001
	yearly  = 3000002
)

const day = 24 * time.Hour

// subscription follows one from its first charge to its end, on a clock that is moved by months.
func subscription(ctx context.Context, s *stage) error {
	id, err := subscribe(ctx, s)
	if err != nil {
		return err
	}
	books := func(what string, wanted func(booked) bool) error {
		of, err := inTheBooks(ctx, s, "subscriptions/"+id, wanted)
		if err == nil {
			say("%s: %s, charged %d times, %d failures, plan %s", what, of.State, of.Charges, of.Failures, of.ContractID)
		}
		return err
	}
	steps := []struct {
		told   string
		do     func() error
		wanted func(booked) bool
	}{
		{"two months later", func() error { return s.advance(ctx, 60*day) }, func(b booked) bool { return b.State == "active" && b.Charges == 3 }},
		{"the bank refuses the third renewal", func() error {
			if _, err := s.service.form(ctx, "/shop/subscriptions/"+id+"/refuse", url.Values{"on": {"on"}}); err != nil {
				return err
			}
			return s.advance(ctx, 30*day)
		}, func(b booked) bool { return b.State == "past_due" && b.Failures == 1 }},
		{"a few days later it goes well", func() error { return s.advance(ctx, 7*day) }, func(b booked) bool { return b.State == "active" && b.Charges == 4 }},
		{"the plan is changed", func() error { return changePlan(ctx, s, id) }, func(b booked) bool { return b.ContractID == strconv.Itoa(yearly) }},
		{"cancelled", func() error {
			_, err := s.payments.UpdateSubscription(ctx, id, payments.SubscriptionUpdate{Status: "CANCELED"})
			return err
		}, func(b booked) bool { return b.State == "cancelled" }},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.told, err)
		}
		if err := books(step.told, step.wanted); err != nil {
			return fmt.Errorf("%s: %w", step.told, err)
		}
	}
	return nil
}

// subscribe begins a subscription. Its first charge and its renewals are equal: one quote serves both.
func subscribe(ctx context.Context, s *stage) (id string, err error) {
	quote, err := planQuote(ctx, s, "25.00")
	if err != nil {
		return "", err
	}
	made, err := s.payments.CreateSubscription(ctx, payments.SubscriptionRequest{
		PlanID: monthly, InitialTaxReference: quote.Reference(), MerchantTransactionID: "demo-subscription", SoftDescriptor: "Demo shop",
		PayerInfo:     &payments.PayerInfo{FirstName: "Łukasz", LastName: "Przykład", Zip: "02110", Country: "us", State: "MA"},
		PaymentSource: &payments.PaymentSource{CreditCardInfo: &payments.CreditCardInfo{CreditCard: card()}},
	})
	if err != nil {
		return "", err
	}
	say("subscribed: %s a month, %s of it tax, as subscription %s", quote.Total(), quote.TotalTax, made.SubscriptionID)
	return string(made.SubscriptionID), nil
}

// changePlan needs a new quote, as the amount is a new one.
func changePlan(ctx context.Context, s *stage, id string) error {
	quote, err := planQuote(ctx, s, "250.00")
	if err != nil {
		return err
	}
	_, err = s.payments.UpdateSubscription(ctx, id, payments.SubscriptionUpdate{
		PlanID: yearly, OverrideRecurringChargeAmount: quote.Total(), RecurringTaxReference: quote.Reference(),
	})
	return err
}

func planQuote(ctx context.Context, s *stage, price string) (payments.TaxQuote, error) {
	return s.payments.CreateTaxQuote(ctx, payments.TaxQuoteRequest{Currency: "USD", ShipTo: boston, Lines: []payments.TaxLine{
		{ItemCode: "plan", Description: "Yarn box", TaxCode: "P0000000", Quantity: 1, Amount: amount(price)},
	}})
}
