package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/shopspring/decimal"

	"github.com/ipn-receiver/ipn-receiver/internal/ipn"
)

// mostReturns bounds what strangers can make the record keep of returns. The oldest go first: those that nobody missed for so
// long have told what they had to tell.
const mostReturns = 200_000

// AddTransferReturn keeps what a shopper's browser brought back, or counts it if it came before. It fails with
// ipn.ErrUnavailable.
func (s *Store) AddTransferReturn(ctx context.Context, r ipn.TransferReturn) error {
	_, err := s.queries.Exec(ctx, `
		insert into bank_transfer_returns as r (status, order_id, transaction_id, merchant_transaction_id, received_at, last_received_at)
		values ($1, $2, $3, $4, $5, $5)
		on conflict (order_id, status, transaction_id, merchant_transaction_id)
		do update set receipts = r.receipts + 1, last_received_at = greatest(r.last_received_at, excluded.last_received_at)`,
		r.Status, r.OrderID, r.TransactionID, r.MerchantTransactionID, r.ReceivedAt)
	if err != nil {
		return unavailable(err)
	}
	const every = 1000 // a look now and then is enough for a bound
	if s.returnsKept.Add(1)%every != 1 {
		return nil
	}
	_, err = s.queries.Exec(ctx, `
		delete from bank_transfer_returns where id <= (select id from bank_transfer_returns order by id desc offset $1 limit 1)`, mostReturns)
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// transfers are the bank transfers of one book, put together of two walks that each end with the page: the events by bank
// transfer, with the latest return that names their transaction or, where no other transaction bears it, the merchant's own id;
// and the returns that none of those events belongs to, which are no trouble where a payment by another method does. A
// transaction that was pending is told of by its later event. The troubles are those of the time $2, with the patience $3;
// nothing older than $10 is looked at. The page begins behind ($6, $7, $8).
//
// Cards are left out in words, so that the index events_transfers, which has none, is known to serve; what a work list cannot
// hold is left out by its type or status, before anything is looked up for it.
//
// Returns are of no book: nobody tells whether they are of a test order. They are shown in both until an event claims them.
const transfers = `
	with paid as (
		select e.id as event_id, e.transaction_type, e.reference_number, e.amount, e.currency, e.sorted_at as at, e.trouble, coalesce(e.return_id, 0) as return_id
		from unnest($4::text[]) as methods (method), lateral (
			select p.id, p.transaction_type, p.reference_number, p.amount, p.currency, p.sorted_at, t.trouble, l.id as return_id
			from events p left join lateral (
				select r.id from (
					select id, last_received_at from bank_transfer_returns where transaction_id <> '' and transaction_id = p.reference_number
					union all
					select id, last_received_at from bank_transfer_returns
					where transaction_id = '' and merchant_transaction_id <> '' and merchant_transaction_id = p.merchant_transaction_id
						and not exists (select from events other where other.merchant_transaction_id = p.merchant_transaction_id
							and other.reference_number is distinct from p.reference_number)) as r
				order by r.last_received_at desc, r.id desc limit 1) as l on true,
			lateral (select case
				when p.sorted_at >= $2::timestamptz - $3::interval then ''
				when p.transaction_type = 'CHARGE_PENDING' then 'pending'
				when p.transaction_type = 'CHARGE' and l.id is null then 'ipn_without_return'
				else '' end as trouble) as t
			where p.payment_method = methods.method and p.payment_method <> 'CC' and p.sorted_at >= $10 and (p.sorted_at, p.id) < ($6::timestamptz, $7::bigint)
				and p.transaction_type in ('CHARGE', 'CHARGE_PENDING', 'DECLINE') and p.test = $1
				and ($5 = '' or t.trouble = $5)
				and case p.transaction_type when 'CHARGE_PENDING' then $5 in ('', 'pending') when 'CHARGE' then $5 in ('', 'ipn_without_return') else $5 = '' end
				and not (p.transaction_type = 'CHARGE_PENDING' and exists (select from events later
					where later.reference_number = p.reference_number and later.transaction_type in ('CHARGE', 'DECLINE') and later.test = p.test))
			order by p.sorted_at desc, p.id desc limit $9) as e
	), claims as (
		select 0::bigint, '', '', null::numeric, '', r.received_at, t.trouble, r.id
		from bank_transfer_returns r, lateral (
			select count(*) > 0 as told, coalesce(bool_or(e.payment_method = any($4) and e.payment_method <> 'CC'), false) as listed from (
				select payment_method from events
				where r.transaction_id <> '' and reference_number = r.transaction_id and transaction_type in ('CHARGE', 'CHARGE_PENDING', 'DECLINE')
				union all
				select payment_method from events
				where r.transaction_id = '' and r.merchant_transaction_id <> '' and merchant_transaction_id = r.merchant_transaction_id
					and transaction_type in ('CHARGE', 'CHARGE_PENDING', 'DECLINE') and 1 = (select count(*) from (
						select distinct reference_number from events other where other.merchant_transaction_id = r.merchant_transaction_id limit 2) as bearers)) as e) as e,
		lateral (select case
			when r.received_at >= $2::timestamptz - $3::interval or e.told then ''
			when r.status = 'PENDING' then 'pending'
			when r.status = 'SUCCESS' then 'return_without_ipn'
			else '' end as trouble) as t
		where r.received_at >= $10 and r.received_at <= $6 and (r.received_at, 0::bigint, r.id) < ($6::timestamptz, $7::bigint, $8::bigint)
			and ($5 = '' or t.trouble = $5)
			and case r.status when 'PENDING' then $5 in ('', 'pending') when 'SUCCESS' then $5 in ('', 'return_without_ipn') else $5 = '' end
			and not e.listed
		order by r.received_at desc, r.id desc limit $9
	), page as (
		select * from paid union all select * from claims order by at desc, event_id desc, return_id desc limit $9
	)
	select page.event_id, coalesce(page.transaction_type, ''), coalesce(page.reference_number, ''), page.amount::text, coalesce(page.currency, ''),
		page.at, page.trouble, page.return_id, coalesce(r.status, ''), coalesce(r.order_id, 0), coalesce(r.transaction_id, ''),
		coalesce(r.merchant_transaction_id, ''), coalesce(r.received_at, page.at), coalesce(r.last_received_at, page.at), coalesce(r.receipts, 0)
	from page left join bank_transfer_returns r on r.id = page.return_id
	order by page.at desc, page.event_id desc, page.return_id desc`

// Transfers returns at most q.Limit bank transfers, newest first. It fails with ipn.ErrUnavailable.
//
// It is planned anew for the values that are asked for, as Events is.
func (s *Store) Transfers(ctx context.Context, q ipn.TransferQuestion) ([]ipn.Transfer, error) {
	before, after := pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}, ipn.TransferPosition{}
	if q.After != nil {
		after = *q.After
		before = pgtype.Timestamptz{Time: after.At, Valid: true}
	}
	rows, err := s.queries.Query(ctx, transfers, pgx.QueryExecModeCacheDescribe, q.Test, q.Now, ipn.TransferPatience, q.Methods, string(q.Trouble),
		before, after.EventID, after.ReturnID, max(q.Limit, 1), q.Since)
	if err != nil {
		return nil, known(err)
	}
	found, err := pgx.CollectRows(rows, readTransfer)
	if err != nil {
		return nil, known(err)
	}
	return found, nil
}

func readTransfer(row pgx.CollectableRow) (ipn.Transfer, error) {
	var t ipn.Transfer
	var r ipn.TransferReturn
	var amount decimal.NullDecimal
	err := row.Scan(&t.EventID, &t.TransactionType, &t.ReferenceNumber, &amount, &t.Currency, &t.At, (*string)(&t.Trouble), &r.ID,
		&r.Status, &r.OrderID, &r.TransactionID, &r.MerchantTransactionID, &r.ReceivedAt, &r.LastReceivedAt, &r.Receipts)
	t.At, t.Amount = t.At.UTC(), amount
	if r.ID != 0 {
		r.ReceivedAt, r.LastReceivedAt = r.ReceivedAt.In(time.UTC), r.LastReceivedAt.In(time.UTC)
		t.Return = &r
	}
	return t, err
}
