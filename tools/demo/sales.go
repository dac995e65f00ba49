package main

import (
	"context"
	"fmt"
	"net/url"

	"github.com/ipn-receiver/ipn-receiver/internal/payments"
)

var boston = payments.Address{Address: "10 Main St", City: "Boston", State: "MA", Zip: "02110", Country: "US"}

// purchase follows one transaction from the quote to the end of a dispute.
func purchase(ctx context.Context, s *stage) error {
	quote, err := s.payments.CreateTaxQuote(ctx, payments.TaxQuoteRequest{Currency: "USD", ShipTo: boston, Lines: []payments.TaxLine{
		{ItemCode: "blanket", Description: "Wool blanket", TaxCode: "P0000000", Quantity: 1, Amount: amount("89.00")},
		{ItemCode: "mug", Description: "Stoneware mug", TaxCode: "P0000000", Quantity: 2, Amount: amount("48.00")},
	}})
	if err != nil {
		return err
	}
	say("tax quote: %s and %s tax on a blanket and two mugs to Boston", quote.TotalAmount, quote.TotalTax)
	charged, err := s.payments.CreateCardTransaction(ctx, payments.CardTransactionRequest{
		CardTransactionType: payments.AuthCapture, Amount: quote.Total(), Currency: "USD", TaxReference: quote.Reference(),
		SoftDescriptor: "Demo shop", MerchantTransactionID: "demo-purchase", CreditCard: card(),
		CardHolderInfo: &payments.CardHolder{FirstName: "Ann", LastName: "Example", Zip: "02110", Country: "us", State: "MA"},
	})
	if err != nil {
		return err
	}
	books := "transactions/" + string(charged.TransactionID)
	of, err := inTheBooks(ctx, s, books, func(t transaction) bool { return t.State == "charged" })
	if err != nil {
		return err
	}
	if !of.Charged.Equal(quote.Total()) || !of.Tax.Equal(quote.TotalTax) {
		return fmt.Errorf("the books say %s with %s tax of transaction %s", of.Charged, of.Tax, charged.TransactionID)
	}
	say("charged: transaction %s is in the books with %s, %s of it tax", charged.TransactionID, of.Charged, of.Tax)
	if err := sendBack(ctx, s, string(charged.TransactionID), quote.Lines[1]); err != nil {
		return err
	}
	return dispute(ctx, s, string(charged.TransactionID))
}

// sendBack refunds one line of a purchase, with its tax.
func sendBack(ctx context.Context, s *stage, id string, line payments.TaxedLine) error {
	part := line.Amount.Add(line.Tax)
	_, err := s.payments.Refund(ctx, payments.RefundRequest{TransactionID: id, Amount: part, TaxAmount: line.Tax, Reason: "The mugs came broken"})
	if err != nil {
		return err
	}
	of, err := inTheBooks(ctx, s, "transactions/"+id, func(t transaction) bool { return t.State == "partially_refunded" })
	if err != nil {
		return err
	}
	if !of.Refunded.Equal(part) {
		return fmt.Errorf("the books say that %s was refunded, and it was %s", of.Refunded, part)
	}
	say("refunded: %s for the mugs, %s of it tax; the transaction is %s", of.Refunded, line.Tax, of.State)
	return nil
}

// dispute lets the shopper's bank take the money back, and then lose. Nobody can ask for that by the API: it is clicked.
func dispute(ctx context.Context, s *stage, id string) error {
	page := "/shop/orders/" + id
	if _, err := s.service.form(ctx, page+"/dispute", url.Values{"reason": {"Not received"}}); err != nil {
		return err
	}
	of, err := inTheBooks(ctx, s, "transactions/"+id, func(t transaction) bool { return t.State == "disputed" })
	if err != nil {
		return err
	}
	say("disputed: the shopper's bank holds %s", of.Disputed)
	told, err := s.payments.CardTransaction(ctx, id)
	if err != nil {
		return err
	}
	if len(told.Chargebacks.Chargeback) != 1 {
		return fmt.Errorf("the payment service tells of %d disputes", len(told.Chargebacks.Chargeback))
	}
	for _, status := range []string{"WORKING", "COMPLETED_PENDING", "COMPLETED_WON"} {
		to := page + "/dispute/" + string(told.Chargebacks.Chargeback[0].ChargebackTransactionID)
		if _, err := s.service.form(ctx, to, url.Values{"status": {status}}); err != nil {
			return err
		}
	}
	of, err = inTheBooks(ctx, s, "transactions/"+id, func(t transaction) bool { return t.Disputed.Decimal().IsZero() })
	if err != nil {
		return err
	}
	if of.State != "partially_refunded" { // as before the dispute
		return fmt.Errorf("the dispute was won, and the transaction is %s", of.State)
	}
	say("won: nothing is held any more, and the transaction is %s as before", of.State)
	return nil
}
