package ledger

import (
	"cmp"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// queueTransactions, like the two after it, adds the statement that writes the books which differ; none for no books.
func queueTransactions(batch *pgx.Batch, rows []ipn.Transaction) {
	if len(rows) == 0 {
		return
	}
	type book = ipn.Transaction
	batch.Queue(writeTransactions,
		column(rows, func(b *book) bool { return b.Test }),
		column(rows, func(b *book) string { return b.ReferenceNumber }),
		column(rows, func(b *book) string { return string(b.State) }),
		column(rows, func(b *book) string { return b.Currency }),
		column(rows, func(b *book) string { return ipn.Digits(b.Charged) }),
		column(rows, func(b *book) string { return ipn.Digits(b.Refunded) }),
		column(rows, func(b *book) string { return ipn.Digits(b.Disputed) }),
		column(rows, func(b *book) string { return ipn.Digits(b.Refundable) }),
		column(rows, func(b *book) string { return digitsOrNull(b.Tax) }),
		column(rows, func(b *book) string { return digitsOrNull(b.TaxRefundable) }),
		column(rows, func(b *book) string { return digitsOrNull(b.ChargedUSD) }),
		column(rows, func(b *book) string { return b.SubscriptionID }),
		column(rows, func(b *book) string { return b.MerchantTransactionID }),
		column(rows, func(b *book) string { return b.AccountID }),
		column(rows, func(b *book) time.Time { return b.FirstAt }),
		column(rows, func(b *book) time.Time { return b.LastAt }),
		column(rows, func(b *book) int { return b.Events }),
		column(rows, func(b *book) string { return jsonOrNull(b.Attention) }))
}

func queueSubscriptions(batch *pgx.Batch, rows []ipn.SubscriptionBook) {
	if len(rows) == 0 {
		return
	}
	type book = ipn.SubscriptionBook
	batch.Queue(writeSubscriptions,
		column(rows, func(b *book) bool { return b.Test }),
		column(rows, func(b *book) string { return b.SubscriptionID }),
		column(rows, func(b *book) string { return string(b.State) }),
		column(rows, func(b *book) string { return b.ContractID }),
		column(rows, func(b *book) string { return jsonOrNull(b.PlanMoves) }),
		column(rows, func(b *book) int { return b.Charges }),
		column(rows, func(b *book) int { return b.Failures }),
		column(rows, func(b *book) string { return digitsOrNull(b.LastAmount) }),
		column(rows, func(b *book) string { return b.Currency }),
		column(rows, func(b *book) *time.Time { return b.NextDueAt }),
		column(rows, func(b *book) time.Time { return b.StartedAt }),
		column(rows, func(b *book) *time.Time { return b.EndedAt }),
		column(rows, func(b *book) time.Time { return b.LastAt }),
		column(rows, func(b *book) string { return b.AccountID }),
		column(rows, func(b *book) int { return b.Events }),
		column(rows, func(b *book) string { return jsonOrNull(b.Attention) }))
}

func queueDisputes(batch *pgx.Batch, rows []ipn.DisputeBook) {
	if len(rows) == 0 {
		return
	}
	type book = ipn.DisputeBook
	batch.Queue(writeDisputes,
		column(rows, func(b *book) bool { return b.Test }),
		column(rows, func(b *book) string { return b.ReferenceNumber }),
		column(rows, func(b *book) string { return b.ReversalReference }),
		column(rows, func(b *book) string { return string(b.State) }),
		column(rows, func(b *book) string { return b.Status }),
		column(rows, func(b *book) string { return cmp.Or(jsonOrNull(b.Path), "[]") }),
		column(rows, func(b *book) string { return digitsOrNull(b.Amount) }),
		column(rows, func(b *book) string { return b.Currency }),
		column(rows, func(b *book) time.Time { return b.OpenedAt }),
		column(rows, func(b *book) *time.Time { return b.EndedAt }),
		column(rows, func(b *book) time.Time { return b.LastAt }),
		column(rows, func(b *book) int { return b.Events }))
}
