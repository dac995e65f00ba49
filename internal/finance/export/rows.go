package export

import "github.com/ipn-receiver/ipn-receiver/internal/ipn"

// The rows. These functions are the only list of columns: the row of names is written by the same calls.

func (l *lines) event(e *ipn.EventRow) {
	sign := signs[string(e.TransactionType)]
	l.integer("id", e.ID)
	l.word("transactionType", e.TransactionType)
	l.text("referenceNumber", e.ReferenceNumber)
	l.text("originalRefNum", e.OriginalReference)
	l.text("reversalRefNum", e.ReversalReference)
	l.text("subscriptionId", e.SubscriptionID)
	l.text("accountId", e.AccountID)
	l.text("contractId", e.ContractID)
	l.text("newContractId", e.NewContractID)
	l.text("merchantTransactionId", e.MerchantTransactionID)
	l.text("vendorId", e.VendorID)
	if sign == ipn.None {
		l.amount("signedAmount", nil, false)
	} else {
		l.amount("signedAmount", e.Amount, sign == ipn.Out)
	}
	l.amount("amount", e.Amount, false)
	l.text("currency", e.Currency)
	l.amount("amountUSD", e.AmountUSD, false)
	l.amount("taxAmount", e.TaxAmount, false)
	l.amount("taxAmountUSD", e.TaxUSD, false)
	l.deposits("deposits", e.Deposits)
	l.text("paymentMethod", e.PaymentMethod)
	l.text("country", e.Country)
	l.text("state", e.State)
	l.text("status", e.Status)
	l.flag("test", e.Test)
	l.instant("occurredAt", e.OccurredAt)
	l.instant("untilAt", e.UntilAt)
	l.instant("receivedAt", e.ReceivedAt)
	l.instant("lastReceivedAt", e.LastReceivedAt)
	l.integer("receipts", e.Receipts)
	l.integer("problemCount", e.Problems)
	l.text("verification", e.Verification)
	l.hash("identity", e.Identity)
	l.hash("digest", e.Digest)
	l.end()
}

func (l *lines) movement(m *ipn.MovementRow) {
	l.integer("eventId", m.EventID)
	l.integer("line", int64(m.Line))
	l.text("kind", m.Kind)
	l.instant("at", m.At)
	l.amount("amount", m.Amount, false)
	l.text("currency", m.Currency)
	l.amount("tax", m.Tax, false)
	l.amount("amountUSD", m.AmountUSD, false)
	l.text("referenceNumber", m.ReferenceNumber)
	l.text("subscriptionId", m.SubscriptionID)
	l.text("contractId", m.ContractID)
	l.text("country", m.Country)
	l.text("state", m.State)
	l.flag("test", m.Test)
	l.end()
}

// signs are the directions of the types that move money.
var signs = moneySigns()

func moneySigns() map[string]ipn.Sign {
	found := make(map[string]ipn.Sign)
	for _, t := range ipn.Types() {
		if t.Sign != ipn.None {
			found[t.Name] = t.Sign
		}
	}
	return found
}

// AppendEvent writes an event as a row.
func AppendEvent(to []byte, format Format, e *ipn.EventRow) []byte {
	l := lines{buffer: to, format: format}
	l.event(e)
	return l.buffer
}
