package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// insertReceipt keeps one receipt: a new event with its payload, or one more receipt of a known event, beside it the
// variant if it tells something else. The update on conflict is deliberate: it writes WAL, so that the acknowledgement
// of a duplicate waits for whatever the original's commit waits for.
const insertReceipt = `
with event as (
    insert into events (identity, transaction_type, reference_number, original_reference, reversal_reference, subscription_id, account_id, contract_id,
                        merchant_transaction_id, vendor_id, amount, currency, amount_usd, tax_amount, tax_usd, payment_method, country, status, test, occurred_at,
                        problems, verification, digest, content_digest, received_at, last_received_at, new_contract_id, until_at, deposits, state)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $25, $30, $31, $32, $33)
    on conflict (identity) do update set receipts = events.receipts + 1, last_received_at = greatest(events.last_received_at, excluded.last_received_at)
    returning id, receipts, content_digest
), payload as (
    insert into payloads (event_id, received_at, raw, fields, headers, peer)
    select id, $25, $26, $27, $28, $29 from event where receipts = 1
), variant as (
    insert into variants (event_id, digest, content_digest, raw, fields, headers, peer, verification, received_at, last_received_at)
    select id, $23, $24, $26, $27, $28, $29, $22, $25, $25 from event where receipts > 1 and content_digest <> $24
    on conflict (event_id, content_digest) do update
        set receipts = variants.receipts + 1, last_received_at = greatest(variants.last_received_at, excluded.last_received_at)
)
select id, receipts, content_digest from event`

// row is a receipt as the parameters of insertReceipt, made by the caller's goroutine so that the committer only sends.
type row struct {
	content ipn.Digest
	args    []any
}

// rowOf turns a receipt into parameters. It fails only on headers that JSON cannot hold, which strings never are.
func rowOf(r *ipn.Receipt) (row, error) {
	problems, err := problemsJSON(r.Event.Problems)
	if err != nil {
		return row{}, err
	}
	headers, err := headersJSON(r.Headers)
	if err != nil {
		return row{}, err
	}
	f := &r.Event.Facts
	deposits, err := depositsJSON(f.Deposits)
	if err != nil {
		return row{}, err
	}
	return row{content: r.Content, args: []any{
		r.Identity[:], textOrNull(f.TransactionType), textOrNull(f.ReferenceNumber), textOrNull(f.OriginalReference), textOrNull(f.ReversalReference),
		textOrNull(f.SubscriptionID), textOrNull(f.AccountID), textOrNull(f.ContractID), textOrNull(f.MerchantTransactionID), textOrNull(f.VendorID),
		moneyOrNull(f.Amount), textOrNull(f.Currency), moneyOrNull(f.AmountUSD), moneyOrNull(f.TaxAmount), moneyOrNull(f.TaxUSD),
		textOrNull(f.PaymentMethod), textOrNull(f.Country), textOrNull(f.Status), f.Test, timeOrNull(f.OccurredAt),
		problems, string(r.Vouched), r.Digest[:], r.Content[:], r.ReceivedAt.UTC().Truncate(time.Microsecond),
		r.Raw, r.Event.Fields.AppendJSON(nil), headers, peerOrNull(r.Peer),
		textOrNull(f.NewContractID), timeOrNull(f.UntilAt), deposits, textOrNull(f.State),
	}}, nil
}

// insert commits rows as one transaction in one round trip: the log lock first, as a statement of its own, so that no
// id is drawn before it is held; then the rows; then one notification. The lock falls with the commit.
func insert(ctx context.Context, pool *pgxpool.Pool, rows []row) ([]ipn.Recorded, error) {
	batch := &pgx.Batch{}
	batch.Queue("select pg_advisory_xact_lock($1)", logLock)
	for _, r := range rows {
		batch.Queue(insertReceipt, r.args...)
	}
	batch.Queue("select pg_notify($1, '')", logChannel)

	results := pool.SendBatch(ctx, batch)
	recorded, err := readRecorded(results, rows)
	if closing := results.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	return recorded, nil
}

// RecordAlone keeps one receipt in a transaction of its own, by the very same statements. It is the yardstick that the
// Recorder is measured against, and keeps the promises of Recorder.Record but for the hold: it tries once.
func (s *Store) RecordAlone(ctx context.Context, receipt *ipn.Receipt) (ipn.Recorded, error) {
	one, err := rowOf(receipt)
	if err != nil {
		return ipn.Recorded{}, err
	}
	recorded, err := insert(ctx, s.queries, []row{one})
	if err != nil {
		return ipn.Recorded{}, known(err)
	}
	return recorded[0], nil
}

func readRecorded(results pgx.BatchResults, rows []row) ([]ipn.Recorded, error) {
	if _, err := results.Exec(); err != nil {
		return nil, fmt.Errorf("take the log lock: %w", err)
	}
	recorded := make([]ipn.Recorded, len(rows))
	for i, r := range rows {
		var first []byte
		if err := results.QueryRow().Scan(&recorded[i].EventID, &recorded[i].Receipts, &first); err != nil {
			return nil, fmt.Errorf("insert the receipt: %w", err)
		}
		recorded[i].Outcome = outcomeOf(recorded[i].Receipts, bytes.Equal(first, r.content[:]))
	}
	if _, err := results.Exec(); err != nil {
		return nil, fmt.Errorf("notify the log: %w", err)
	}
	return recorded, nil
}

func outcomeOf(receipts int64, sameContent bool) ipn.Outcome {
	switch {
	case receipts == 1:
		return ipn.OutcomeNew
	case sameContent:
		return ipn.OutcomeDuplicate
	default:
		return ipn.OutcomeVariant
	}
}

func problemsJSON(problems []ipn.Problem) ([]byte, error) {
	if len(problems) == 0 {
		return []byte("[]"), nil
	}
	text, err := json.Marshal(problems)
	if err != nil {
		return nil, fmt.Errorf("encode the problems: %w", err)
	}
	return text, nil
}

// depositsJSON returns nil, which is null, for none.
func depositsJSON(deposits []ipn.Deposit) ([]byte, error) {
	if len(deposits) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(deposits)
	if err != nil {
		return nil, fmt.Errorf("encode the deposits: %w", err)
	}
	return text, nil
}

func headersJSON(headers map[string]string) ([]byte, error) {
	if headers == nil {
		return []byte("{}"), nil
	}
	// A NUL cannot come through HTTP, but it is what jsonb refuses, and a header must never cost an event.
	storable := make(map[string]string, len(headers))
	for name, value := range headers {
		storable[withoutNUL(name)] = withoutNUL(value)
	}
	text, err := json.Marshal(storable)
	if err != nil {
		return nil, fmt.Errorf("encode the headers: %w", err)
	}
	return text, nil
}

func withoutNUL(s string) string { return strings.ReplaceAll(s, "\x00", "\ufffd") }

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func moneyOrNull(m ipn.Money) *string {
	if m.IsZero() {
		return nil
	}
	return textOrNull(m.String())
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func peerOrNull(a netip.Addr) *netip.Addr {
	if !a.IsValid() {
		return nil
	}
	plain := a.Unmap().WithZone("")
	return &plain
}
