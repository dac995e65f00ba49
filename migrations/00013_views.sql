-- What programs for reports read: a schema of views, so that tables may change behind them, and a role that reads nothing
-- else. Nobody's name, address or card is in them; account_id is the one personal key.

-- +goose Up
set local lock_timeout = '200ms';

create schema finance;
comment on schema finance is 'Read-only views for reports. Amounts of movements and totals are signed: what comes in is positive. Test orders stand beside live ones: say where not test.';

create view finance.events as
    select id, transaction_type, reference_number, original_reference, reversal_reference, subscription_id, account_id, contract_id, new_contract_id,
        merchant_transaction_id, vendor_id, amount, currency, amount_usd, tax_amount, tax_usd, payment_method, country, state, status, test,
        sorted_at as at, occurred_at, until_at, received_at, last_received_at, receipts, varied, verification, problems
    from public.events;
comment on view finance.events is 'One row per IPN that was understood; repeats are counted in receipts. amount is a magnitude here: see finance.movements for what moved.';
comment on column finance.events.at is 'The time the event is listed under: the sender''s date, or that of the first receipt where the sender gave none.';

create view finance.movements as
    select event_id, line, kind, test, reference_number, subscription_id, contract_id, country, state, at, day, currency, amount, tax, amount_usd
    from public.movements;
comment on view finance.movements is 'Signed amounts of money, one per event and currency; positive comes in.';

create view finance.transactions as
    select reference_number, test, state, currency, charged, refunded, disputed, refundable, tax, tax_refundable, charged_usd,
        subscription_id, merchant_transaction_id, account_id, first_at, last_at, events, attention
    from public.transactions;
comment on view finance.transactions is 'Where each reference number stands, made of all of its events. The amounts are magnitudes.';

create view finance.subscriptions as
    select subscription_id, test, state, contract_id, plan_moves, charges, failures, last_amount, currency, next_due_at, started_at, ended_at, last_at, account_id, events, attention,
        state in ('past_due', 'cancel_at_period_end') or state <> 'cancelled' and attention is not null as at_risk
    from public.subscriptions;
comment on view finance.subscriptions is 'Where each subscription stands, made of all of its events.';
comment on column finance.subscriptions.at_risk is 'Whether it may be lost: past due, not to be renewed, or with something that a person should look at.';

create view finance.disputes as
    select reference_number, nullif(reversal_reference, '') as reversal_reference, test, state, status, path, amount, currency, opened_at, ended_at, last_at, events
    from public.disputes;
comment on view finance.disputes is 'Where each dispute stands, made of all events of its transaction. amount is a magnitude.';
comment on column finance.disputes.reversal_reference is 'The dispute''s own number; null where the sender gave none.';

create view finance.payouts as
    select event_id, line, test, at, day, currency, -amount as amount, -amount_usd as amount_usd
    from public.movements where kind = 'payout';
comment on view finance.payouts is 'What was paid out to the merchant''s bank, one row per event and currency.';
comment on column finance.payouts.event_id is 'finance.events.id.';
comment on column finance.payouts.line is '0, and on for the further currencies of a payout.';
comment on column finance.payouts.test is 'Of a test order: a book of its own.';
comment on column finance.payouts.at is 'When it happened: the sender''s date, or that of the receipt.';
comment on column finance.payouts.day is 'The day of at, in UTC.';
comment on column finance.payouts.currency is 'ISO 4217 code of amount.';
comment on column finance.payouts.amount is 'Paid to the bank, a magnitude: the movement''s with its sign turned around.';
comment on column finance.payouts.amount_usd is 'The same, where it was in US dollars.';

create view finance.daily_totals as
    select test, day, kind, currency, n as movements, amount, tax, amount_usd from public.daily_totals;
comment on view finance.daily_totals is 'The plain sums of finance.movements by day, kind and currency. Payouts stand beside the net, never in it.';
comment on column finance.daily_totals.movements is 'How many movements.';

create view finance.daily_taxes as
    select test, day, nullif(country, '') as country, nullif(state, '') as state, currency, n as movements, charged, collected, reversed, refunded, untold
    from public.daily_taxes;
comment on view finance.daily_taxes is 'What finance.movements come to by day, country, state and currency, without payouts. The amounts are magnitudes; what won disputes give back is taken from reversed.';
comment on column finance.daily_taxes.country is 'Where the shopper lives, in upper case; null where it is not known.';
comment on column finance.daily_taxes.state is 'The shopper''s state, in upper case; null where it is not known.';
comment on column finance.daily_taxes.movements is 'How many movements.';

create view finance.daily_contracts as
    select test, day, nullif(contract_id, '') as contract_id, currency, n as movements, charges, charged, reversed, amount_usd
    from public.daily_contracts;
comment on view finance.daily_contracts is 'What finance.movements come to by day, plan and currency, without payouts. charged and reversed are magnitudes, amount_usd is signed.';
comment on column finance.daily_contracts.contract_id is 'The plan; null where it is not known.';
comment on column finance.daily_contracts.movements is 'How many movements.';

create view finance.daily_declines as
    select test, day, n as declines from public.daily_declines;
comment on view finance.daily_declines is 'Payments and renewals that failed, by day. A failure that was told by two types of IPN counts once.';
comment on column finance.daily_declines.declines is 'How many.';

create view finance.unbooked as
    select u.event_id, u.reason, u.test, coalesce(u.reference_number, e.reference_number) as reference_number, e.transaction_type
    from public.unbooked u left join public.events e on e.id = u.event_id;
comment on view finance.unbooked is 'Events that tell of money which is not, or not all, in finance.movements: for a person to look at.';
comment on column finance.unbooked.reference_number is 'The number that the event tells.';
comment on column finance.unbooked.transaction_type is 'The type of the event.';

create view finance.handlers as
    select c.handler, c.kind, c.position, (select count(*) from (select from public.events e where e.id > c.position limit 10001) as ahead) as behind,
        (select count(*) from public.parked p where p.handler = c.handler and p.state = 'parked') as parked,
        (select count(*) from public.parked p where p.handler = c.handler and p.state = 'buried') as buried, c.paused_at, c.held_since, c.moved_at
    from public.handler_cursors c;
comment on view finance.handlers is 'How far each consumer of the log is. The ledger makes the books: what it is behind, they do not know yet.';
comment on column finance.handlers.handler is 'Name of the handler.';
comment on column finance.handlers.position is 'finance.events.id of the last event it is done with.';
comment on column finance.handlers.behind is 'Events it has not seen yet; counted up to 10,001.';
comment on column finance.handlers.parked is 'Events it failed on and tries again.';
comment on column finance.handlers.buried is 'Events it gave up on, until somebody redrives them.';

create view finance.bank_transfer_returns as
    select id, status, order_id, nullif(transaction_id, '') as transaction_id, nullif(merchant_transaction_id, '') as merchant_transaction_id, receipts, received_at, last_received_at
    from public.bank_transfer_returns;
comment on view finance.bank_transfer_returns is 'What shoppers'' browsers brought back from their bank. Nobody signed it: no money is booked by it.';
comment on column finance.bank_transfer_returns.id is 'The order in which they came first.';
comment on column finance.bank_transfer_returns.transaction_id is 'TRANSACTION-ID, which is the reference_number of the event; null unless the status is SUCCESS.';
comment on column finance.bank_transfer_returns.merchant_transaction_id is 'MTI; null where the merchant gave none.';

create view finance.tax_records as
    select id, test, reference_number, merchant_transaction_id, tax_reference, currency, country, state, lines, delivery_fee, recorded_at
    from public.tax_records;
comment on view finance.tax_records is 'The tax of each item of a purchase, as the merchant told it.';
comment on column finance.tax_records.id is 'The order in which they were told.';

create view finance.tax_refunds as
    select id, record_id, items, amount, tax, reversal_reference, refunded_at from public.tax_refunds;
comment on view finance.tax_refunds is 'What the merchant said was refunded of a tax record. amount and tax are magnitudes.';
comment on column finance.tax_refunds.id is 'The order in which they were told.';

-- A column that shows one of the same name of the table of the same name means what that one means.
-- +goose StatementBegin
do $$
declare
    c record;
begin
    for c in
        select v.relname as view, a.attname as name, col_description(t.oid, b.attnum) as meaning
        from pg_class v
            join pg_attribute a on a.attrelid = v.oid and a.attnum > 0
            join pg_class t on t.relname = case v.relname when 'handlers' then 'handler_cursors' else v.relname end and t.relnamespace = 'public'::regnamespace
            join pg_attribute b on b.attrelid = t.oid and b.attname = a.attname
        where v.relnamespace = 'finance'::regnamespace and v.relkind = 'v' and col_description(v.oid, a.attnum) is null and col_description(t.oid, b.attnum) is not null
    loop
        execute format('comment on column finance.%I.%I is %L', c.view, c.name, c.meaning);
    end loop;
end $$;
-- +goose StatementEnd

-- What the tables leave to their names.
comment on column finance.events.last_received_at is 'When the latest receipt arrived.';
comment on column finance.handlers.kind is 'projection: writes this database. sink: speaks to the outside.';

-- The role belongs to the cluster: another database may have made it, or be making it now. Who may not create roles asks
-- somebody who may; the grants below are then to be given by hand. The timeout holds for those who sign in as the role.
-- +goose StatementBegin
do $$
begin
    if not exists (select from pg_roles where rolname = 'ipn_finance') then
        create role ipn_finance nologin;
        alter role ipn_finance set statement_timeout = '30s';
        comment on role ipn_finance is 'Reads the views of the schema finance, and nothing else.';
    end if;
exception
    when duplicate_object or unique_violation then null;
    when insufficient_privilege then
        raise warning 'role ipn_finance is not created: this user may not create roles. Have it created, then: grant usage on schema finance to ipn_finance; grant select on all tables in schema finance to ipn_finance';
end $$;

do $$
begin
    if exists (select from pg_roles where rolname = 'ipn_finance') then
        grant usage on schema finance to ipn_finance;
        grant select on all tables in schema finance to ipn_finance;
    end if;
end $$;
-- +goose StatementEnd

-- The role stays: other databases of the cluster may have given it theirs.
-- +goose Down
set local lock_timeout = '200ms';
drop schema finance cascade;
