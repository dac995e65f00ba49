-- What finance asks of the books: taxes by country and state, what each plan came to, how often payments fail, and lists.

-- +goose Up
set local lock_timeout = '200ms';

-- One writer of the books waits here until this is done; intake never does.
select event_id from ledger_reach for update;

alter table movements
    add column country     text,
    add column state       text,
    add column contract_id text,
    add constraint movements_country_check check (country <> '' and octet_length(country) <= 255) not valid,
    add constraint movements_state_check check (state <> '' and octet_length(state) <= 255) not valid,
    add constraint movements_contract_id_check check (contract_id <> '' and octet_length(contract_id) <= 255) not valid;

comment on column movements.country is 'Where the shopper lives, in upper case: as the event tells, else as the charge of its transaction does. Null where neither does, and of rows that were written before this column until a rebuild.';
comment on column movements.state is 'The shopper''s state, in upper case; with country.';
comment on column movements.contract_id is 'The plan: as the event tells, else as the charge of its transaction does.';

create index movements_listed on movements (test, kind, at desc, event_id desc, line desc);

create table tax_totals (
    test     boolean not null,
    per      text    not null check (per in ('day', 'month')),
    day      date    not null check (per = 'day' or extract(day from day) = 1),
    kind     text    not null check (kind in ('charge', 'recurring', 'refund', 'cancellation_refund', 'chargeback', 'chargeback_reversal')),
    country  text    not null,
    state    text    not null,
    currency text    not null check (currency ~ '^[A-Z]{3}$'),
    n        bigint  not null check (n >= 1),
    amount   numeric not null,
    tax      numeric not null,
    untold   bigint  not null check (untold between 0 and n),
    primary key (test, per, day, kind, country, state, currency)
);

comment on table tax_totals is 'The plain sums of movements by country and state, without payouts, kept by the triggers of movements. By day and once more by month, so that a year is read from twelve months.';
comment on column tax_totals.test is 'Of test orders: a book of its own.';
comment on column tax_totals.per is 'Whether the row sums up a day or a month.';
comment on column tax_totals.day is 'The day in UTC, or the first one of the month.';
comment on column tax_totals.kind is 'As of movements.';
comment on column tax_totals.country is 'As of movements; empty where that is null.';
comment on column tax_totals.state is 'As of movements; empty where that is null.';
comment on column tax_totals.currency is 'ISO 4217 code of amount and tax.';
comment on column tax_totals.n is 'How many movements; a row of none is taken away.';
comment on column tax_totals.amount is 'Sum of amount.';
comment on column tax_totals.tax is 'Sum of tax, as far as it was told.';
comment on column tax_totals.untold is 'How many of them did not tell their tax.';

create table contract_totals (
    test        boolean not null,
    per         text    not null check (per in ('day', 'month')),
    day         date    not null check (per = 'day' or extract(day from day) = 1),
    kind        text    not null check (kind in ('charge', 'recurring', 'refund', 'cancellation_refund', 'chargeback', 'chargeback_reversal')),
    contract_id text    not null,
    currency    text    not null check (currency ~ '^[A-Z]{3}$'),
    n           bigint  not null check (n >= 1),
    amount      numeric not null,
    amount_usd  numeric not null,
    primary key (test, per, day, kind, contract_id, currency)
);

comment on table contract_totals is 'The plain sums of movements by plan, without payouts, kept by the triggers of movements; by day and once more by month.';
comment on column contract_totals.test is 'Of test orders: a book of its own.';
comment on column contract_totals.per is 'Whether the row sums up a day or a month.';
comment on column contract_totals.day is 'The day in UTC, or the first one of the month.';
comment on column contract_totals.kind is 'As of movements.';
comment on column contract_totals.contract_id is 'As of movements; empty where that is null.';
comment on column contract_totals.currency is 'ISO 4217 code of amount.';
comment on column contract_totals.n is 'How many movements; a row of none is taken away.';
comment on column contract_totals.amount is 'Sum of amount.';
comment on column contract_totals.amount_usd is 'Sum of amount_usd, as far as it was told.';

-- The two tables follow movements whoever writes those: this program, one from before them that is still running, or a
-- person. Rows that came count once, rows that went count against; what comes to no movement is taken away.
-- +goose StatementBegin
create function movements_add_up() returns trigger language plpgsql as $$
declare
    sign constant integer := tg_argv[0]::integer;
begin
    with g as (
        select m.test, p.per, p.day, m.kind, coalesce(m.country, '') as country, coalesce(m.state, '') as state, m.currency,
            sign * count(*) as n, sign * sum(m.amount) as amount, sign * coalesce(sum(m.tax), 0) as tax, sign * count(*) filter (where m.tax is null) as untold
        from moved m, lateral (values ('day', m.day), ('month', date_trunc('month', m.day::timestamp)::date)) as p (per, day)
        where m.kind <> 'payout' group by 1, 2, 3, 4, 5, 6, 7
    ), gone as (
        delete from public.tax_totals t using g
        where t.test = g.test and t.per = g.per and t.day = g.day and t.kind = g.kind and t.country = g.country and t.state = g.state and t.currency = g.currency
            and t.n + g.n = 0
    ), grown as (
        update public.tax_totals t set n = t.n + g.n, amount = t.amount + g.amount, tax = t.tax + g.tax, untold = t.untold + g.untold from g
        where t.test = g.test and t.per = g.per and t.day = g.day and t.kind = g.kind and t.country = g.country and t.state = g.state and t.currency = g.currency
            and t.n + g.n <> 0
    )
    insert into public.tax_totals (test, per, day, kind, country, state, currency, n, amount, tax, untold)
    select * from g where g.n > 0 and not exists (
        select from public.tax_totals t
        where t.test = g.test and t.per = g.per and t.day = g.day and t.kind = g.kind and t.country = g.country and t.state = g.state and t.currency = g.currency);

    with g as (
        select m.test, p.per, p.day, m.kind, coalesce(m.contract_id, '') as contract_id, m.currency,
            sign * count(*) as n, sign * sum(m.amount) as amount, sign * coalesce(sum(m.amount_usd), 0) as amount_usd
        from moved m, lateral (values ('day', m.day), ('month', date_trunc('month', m.day::timestamp)::date)) as p (per, day)
        where m.kind <> 'payout' group by 1, 2, 3, 4, 5, 6
    ), gone as (
        delete from public.contract_totals t using g
        where t.test = g.test and t.per = g.per and t.day = g.day and t.kind = g.kind and t.contract_id = g.contract_id and t.currency = g.currency
            and t.n + g.n = 0
    ), grown as (
        update public.contract_totals t set n = t.n + g.n, amount = t.amount + g.amount, amount_usd = t.amount_usd + g.amount_usd from g
        where t.test = g.test and t.per = g.per and t.day = g.day and t.kind = g.kind and t.contract_id = g.contract_id and t.currency = g.currency
            and t.n + g.n <> 0
    )
    insert into public.contract_totals (test, per, day, kind, contract_id, currency, n, amount, amount_usd)
    select * from g where g.n > 0 and not exists (
        select from public.contract_totals t
        where t.test = g.test and t.per = g.per and t.day = g.day and t.kind = g.kind and t.contract_id = g.contract_id and t.currency = g.currency);
    return null;
end $$;
-- +goose StatementEnd

create trigger movements_added after insert on movements
    referencing new table as moved for each statement execute function movements_add_up('1');
create trigger movements_removed after delete on movements
    referencing old table as moved for each statement execute function movements_add_up('-1');
create trigger movements_changed_from after update on movements
    referencing old table as moved for each statement execute function movements_add_up('-1');
create trigger movements_changed_to after update on movements
    referencing new table as moved for each statement execute function movements_add_up('1');

insert into tax_totals (test, per, day, kind, country, state, currency, n, amount, tax, untold)
    select m.test, p.per, p.day, m.kind, '', '', m.currency, count(*), sum(m.amount), coalesce(sum(m.tax), 0), count(*) filter (where m.tax is null)
    from movements m, lateral (values ('day', m.day), ('month', date_trunc('month', m.day::timestamp)::date)) as p (per, day)
    where m.kind <> 'payout' group by 1, 2, 3, 4, 7;
insert into contract_totals (test, per, day, kind, contract_id, currency, n, amount, amount_usd)
    select m.test, p.per, p.day, m.kind, '', m.currency, count(*), sum(m.amount), coalesce(sum(m.amount_usd), 0)
    from movements m, lateral (values ('day', m.day), ('month', date_trunc('month', m.day::timestamp)::date)) as p (per, day)
    where m.kind <> 'payout' group by 1, 2, 3, 4, 6;

create table declines (
    event_id bigint  primary key,
    test     boolean not null,
    day      date    not null
);

comment on table declines is 'The events that count as a payment or a renewal that failed. A failure that was told by two types of event counts once.';
comment on column declines.event_id is 'events.id.';
comment on column declines.test is 'Of a test order: a book of its own.';
comment on column declines.day is 'The day in UTC.';

create table daily_declines (
    test boolean not null,
    day  date    not null,
    n    bigint  not null check (n >= 1),
    primary key (test, day)
);

comment on table daily_declines is 'How many declines there are of each day.';
comment on column daily_declines.test is 'Of test orders: a book of its own.';
comment on column daily_declines.day is 'The day in UTC.';
comment on column daily_declines.n is 'How many; a row of none is taken away.';

alter table ledger_reach add column declines bigint not null default 0 check (declines >= 0);

comment on column ledger_reach.declines is 'events.id up to which declines are counted. Behind event_id where a program from before that table wrote; the next one counts anew.';

-- The types are those that tell of a failure as of this migration; the list that counts is the program's.
insert into declines (event_id, test, day)
    select id, test, day from (
        select id, test, day, dense_rank() over (partition by test, day, payer order by told desc, transaction_type collate "C") as place from (
            select id, test, day, payer, transaction_type, count(*) over (partition by test, day, payer, transaction_type) as told from (
                select id, test, (sorted_at at time zone 'UTC')::date as day, transaction_type, coalesce('s' || subscription_id, 'r' || reference_number, 'e' || id) as payer
                from events, ledger_reach
                where transaction_type in ('DECLINE', 'CC_CHARGE_FAILED', 'SUBSCRIPTION_CHARGE_FAILURE', 'FRAUD_DECLINE', 'CANCEL') and id <= ledger_reach.event_id) as failed) as counted) as placed
    where place = 1;
insert into daily_declines (test, day, n) select test, day, count(*) from declines group by test, day;
update ledger_reach set declines = event_id;

-- Open disputes are few among many; the list of them goes both ways.
create index disputes_by_state on disputes (test, state, opened_at, reference_number, reversal_reference);

-- Subscriptions are listed by their next due date; those that tell none come last.
create index subscriptions_due on subscriptions (test, state, coalesce(next_due_at, 'infinity'), subscription_id);
create index subscriptions_at_risk on subscriptions (test, coalesce(next_due_at, 'infinity'), subscription_id)
    where state in ('past_due', 'cancel_at_period_end') or state <> 'cancelled' and attention is not null;

-- +goose Down
set local lock_timeout = '200ms';
drop index subscriptions_at_risk, subscriptions_due, disputes_by_state;
alter table ledger_reach drop column declines;
drop table declines, daily_declines, tax_totals, contract_totals;
drop trigger movements_added on movements;
drop trigger movements_removed on movements;
drop trigger movements_changed_from on movements;
drop trigger movements_changed_to on movements;
drop function movements_add_up;
drop index movements_listed;
alter table movements drop column country, drop column state, drop column contract_id;
