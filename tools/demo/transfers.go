package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

// endings are what the sandbox makes of a bank transfer, by the suffix of the payer's first name (specification section
// 3.2): what the shopper comes back with, what it comes to, and the IPNs that tell.
var endings = []struct {
	suffix, back, end string
	types             []string
}{
	{"_APPROVE", payments.TransferSuccess, payments.TransferSuccess, []string{"CHARGE"}},
	{"_REJECT", payments.TransferFail, payments.TransferFail, []string{"DECLINE"}},
	{"_DELAYAP", payments.TransferPending, payments.TransferSuccess, []string{"CHARGE_PENDING", "CHARGE"}},
	{"_DELAYRJ", payments.TransferPending, payments.TransferFail, []string{"CHARGE_PENDING", "DECLINE"}},
}

// transfers pays four times by bank transfer, and clicks through the bank's page each time.
func transfers(ctx context.Context, s *stage) error {
	for _, ending := range endings {
		own := "demo-transfer" + strings.ToLower(strings.ReplaceAll(ending.suffix, "_", "-"))
		made, err := s.payments.CreateBankTransfer(ctx, payments.BankTransferRequest{
			Amount: amount("42.50"), Currency: "EUR", MerchantTransactionID: own, ReturnURL: s.service.base + "/shop/return",
			PayerInfo: &payments.PayerInfo{FirstName: "Jürgen" + ending.suffix, LastName: "Beispiel", Zip: "10115", Country: "de"},
		})
		if err != nil {
			return err
		}
		back, err := atTheBank(ctx, s, made.BankTransferURL)
		if err != nil {
			return err
		}
		if back.Status != ending.back || back.OrderID != made.OrderID || back.MerchantTransactionID != own {
			return fmt.Errorf("%s: the shopper came back with %+v", ending.suffix, back)
		}
		if err := s.advance(ctx, 15*time.Minute); err != nil {
			return err
		}
		settled, err := s.payments.ResolveBankTransfer(ctx, made.OrderID)
		if err != nil {
			return err
		}
		if settled.ProcessingInfo.ProcessingStatus != ending.end {
			return fmt.Errorf("%s: it came to %s", ending.suffix, settled.ProcessingInfo.ProcessingStatus)
		}
		if err := typesOf(ctx, s, own, ending.types...); err != nil {
			return err
		}
		say("%-8s  the shopper came back with %s; within 15 minutes it was %s; IPNs: %s", ending.suffix[1:], back.Status, ending.end, strings.Join(ending.types, ", "))
	}
	return nil
}

// atTheBank clicks through the bank's page, and reads what the shopper brings back.
func atTheBank(ctx context.Context, s *stage, address string) (payments.BankTransferReturn, error) {
	path := strings.TrimPrefix(address, s.service.base)
	link, err := s.service.form(ctx, path, url.Values{
		"country": {"DE"}, "bank": {"Musterbank Berlin"}, "step": {"account"}, "account": {"current"}, "decision": {"confirm"},
	})
	if err != nil {
		return payments.BankTransferReturn{}, err
	}
	back, err := url.Parse(link)
	if err != nil {
		return payments.BankTransferReturn{}, fmt.Errorf("read the return link: %w", err)
	}
	return payments.ParseBankTransferReturn(back.Query())
}
