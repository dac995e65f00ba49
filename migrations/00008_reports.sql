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

-- Sums by day and once more by month, so that a year is read from twelve months. Payouts are in none of them.

create table daily_taxes (
    test      boolean not null,
    day       date    not null,
    country   text    not null,
    state     text    not null,
    currency  text    not null check (currency ~ '^[A-Z]{3}$'),
    n         bigint  not null check (n >= 1),
    charged   numeric not null,
    collected numeric not null,
    reversed  numeric not null,
    refunded  numeric not null,
    untold    bigint  not null check (untold between 0 and n),
    primary key (test, day, country, state, currency)
);

comment on table daily_taxes is 'What movements come to by country and state, kept by their triggers.';
comment on column daily_taxes.test is 'Of test orders: a book of its own.';
comment on column daily_taxes.day is 'The day in UTC.';
comment on column daily_taxes.country is 'As of movements; empty where that is null.';
comment on column daily_taxes.state is 'As of movements; empty where that is null.';
comment on column daily_taxes.currency is 'ISO 4217 code of the amounts.';
comment on column daily_taxes.n is 'How many movements; a row of none is taken away.';
comment on column daily_taxes.charged is 'Sum of charges and renewals, tax included.';
comment on column daily_taxes.collected is 'Tax within charged, as far as it was told.';
comment on column daily_taxes.reversed is 'Taken away by refunds and disputes, less what won disputes gave back; tax included.';
comment on column daily_taxes.refunded is 'Tax within reversed, as far as it was told.';
comment on column daily_taxes.untold is 'Refunds and disputes that did not tell their tax.';

create table monthly_taxes (
    test      boolean not null,
    month     date    not null check (extract(day from month) = 1),
    country   text    not null,
    state     text    not null,
    currency  text    not null check (currency ~ '^[A-Z]{3}$'),
    n         bigint  not null check (n >= 1),
    charged   numeric not null,
    collected numeric not null,
    reversed  numeric not null,
    refunded  numeric not null,
    untold    bigint  not null check (untold between 0 and n),
    primary key (test, month, country, state, currency)
);

comment on table monthly_taxes is 'daily_taxes by month.';
comment on column monthly_taxes.test is 'Of test orders: a book of its own.';
comment on column monthly_taxes.month is 'The first day of the month, in UTC.';
comment on column monthly_taxes.country is 'As of movements; empty where that is null.';
comment on column monthly_taxes.state is 'As of movements; empty where that is null.';
comment on column monthly_taxes.currency is 'ISO 4217 code of the amounts.';
comment on column monthly_taxes.n is 'How many movements; a row of none is taken away.';
comment on column monthly_taxes.charged is 'Sum of charges and renewals, tax included.';
comment on column monthly_taxes.collected is 'Tax within charged, as far as it was told.';
comment on column monthly_taxes.reversed is 'Taken away by refunds and disputes, less what won disputes gave back; tax included.';
comment on column monthly_taxes.refunded is 'Tax within reversed, as far as it was told.';
comment on column monthly_taxes.untold is 'Refunds and disputes that did not tell their tax.';

create table daily_contracts (
    test        boolean not null,
    day         date    not null,
    contract_id text    not null,
    currency    text    not null check (currency ~ '^[A-Z]{3}$'),
    n           bigint  not null check (n >= 1),
    charges     bigint  not null check (charges between 0 and n),
    charged     numeric not null,
    reversed    numeric not null,
    amount_usd  numeric not null,
    primary key (test, day, contract_id, currency)
);

comment on table daily_contracts is 'What movements come to by plan, kept by their triggers.';
comment on column daily_contracts.test is 'Of test orders: a book of its own.';
comment on column daily_contracts.day is 'The day in UTC.';
comment on column daily_contracts.contract_id is 'As of movements; empty where that is null.';
comment on column daily_contracts.currency is 'ISO 4217 code of charged and reversed.';
comment on column daily_contracts.n is 'How many movements; a row of none is taken away.';
comment on column daily_contracts.charges is 'How many of them are charges and renewals.';
comment on column daily_contracts.charged is 'Sum of charges and renewals.';
comment on column daily_contracts.reversed is 'Taken away by refunds and disputes, less what won disputes gave back.';
comment on column daily_contracts.amount_usd is 'charged less reversed in US dollars, as far as that was told.';

create table monthly_contracts (
    test        boolean not null,
    month       date    not null check (extract(day from month) = 1),
    contract_id text    not null,
    currency    text    not null check (currency ~ '^[A-Z]{3}$'),
    n           bigint  not null check (n >= 1),
    charges     bigint  not null check (charges between 0 and n),
    charged     numeric not null,
    reversed    numeric not null,
    amount_usd  numeric not null,
    primary key (test, month, contract_id, currency)
);

comment on table monthly_contracts is 'daily_contracts by month.';
comment on column monthly_contracts.test is 'Of test orders: a book of its own.';
comment on column monthly_contracts.month is 'The first day of the month, in UTC.';
comment on column monthly_contracts.contract_id is 'As of movements; empty where that is null.';
comment on column monthly_contracts.currency is 'ISO 4217 code of charged and reversed.';
comment on column monthly_contracts.n is 'How many movements; a row of none is taken away.';
comment on column monthly_contracts.charges is 'How many of them are charges and renewals.';
comment on column monthly_contracts.charged is 'Sum of charges and renewals.';
comment on column monthly_contracts.reversed is 'Taken away by refunds and disputes, less what won disputes gave back.';
comment on column monthly_contracts.amount_usd is 'charged less reversed in US dollars, as far as that was told.';

-- The four tables follow movements whoever writes those: this program, one from before them that is still running, or a
-- person. What came is added, many rows at once; what went, which is little, is taken away row by row, each through its key.
-- +goose StatementBegin
create function movements_add_up() returns trigger language plpgsql as $$
begin
    insert into public.daily_taxes as t (test, day, country, state, currency, n, charged, collected, reversed, refunded, untold)
        select test, day, coalesce(country, '') as country, coalesce(state, '') as state, currency,
            count(*) as n, coalesce(sum(amount) filter (where charge), 0) as charged, coalesce(sum(tax) filter (where charge), 0) as collected,
            -coalesce(sum(amount) filter (where not charge), 0) as reversed, -coalesce(sum(tax) filter (where not charge), 0) as refunded,
            count(*) filter (where tax is null and kind in ('refund', 'cancellation_refund', 'chargeback')) as untold
        from (select *, kind in ('charge', 'recurring') as charge from moved where kind <> 'payout') as m group by 1, 2, 3, 4, 5
        on conflict (test, day, country, state, currency) do update set
            n = t.n + excluded.n, charged = t.charged + excluded.charged, collected = t.collected + excluded.collected, reversed = t.reversed + excluded.reversed, refunded = t.refunded + excluded.refunded, untold = t.untold + excluded.untold;
    insert into public.monthly_taxes as t (test, month, country, state, currency, n, charged, collected, reversed, refunded, untold)
        select test, date_trunc('month', day::timestamp)::date as month, coalesce(country, '') as country, coalesce(state, '') as state, currency,
            count(*) as n, coalesce(sum(amount) filter (where charge), 0) as charged, coalesce(sum(tax) filter (where charge), 0) as collected,
            -coalesce(sum(amount) filter (where not charge), 0) as reversed, -coalesce(sum(tax) filter (where not charge), 0) as refunded,
            count(*) filter (where tax is null and kind in ('refund', 'cancellation_refund', 'chargeback')) as untold
        from (select *, kind in ('charge', 'recurring') as charge from moved where kind <> 'payout') as m group by 1, 2, 3, 4, 5
        on conflict (test, month, country, state, currency) do update set
            n = t.n + excluded.n, charged = t.charged + excluded.charged, collected = t.collected + excluded.collected, reversed = t.reversed + excluded.reversed, refunded = t.refunded + excluded.refunded, untold = t.untold + excluded.untold;
    insert into public.daily_contracts as t (test, day, contract_id, currency, n, charges, charged, reversed, amount_usd)
        select test, day, coalesce(contract_id, '') as contract_id, currency,
            count(*) as n, count(*) filter (where charge) as charges, coalesce(sum(amount) filter (where charge), 0) as charged,
            -coalesce(sum(amount) filter (where not charge), 0) as reversed, coalesce(sum(amount_usd), 0) as amount_usd
        from (select *, kind in ('charge', 'recurring') as charge from moved where kind <> 'payout') as m group by 1, 2, 3, 4
        on conflict (test, day, contract_id, currency) do update set
            n = t.n + excluded.n, charges = t.charges + excluded.charges, charged = t.charged + excluded.charged, reversed = t.reversed + excluded.reversed, amount_usd = t.amount_usd + excluded.amount_usd;
    insert into public.monthly_contracts as t (test, month, contract_id, currency, n, charges, charged, reversed, amount_usd)
        select test, date_trunc('month', day::timestamp)::date as month, coalesce(contract_id, '') as contract_id, currency,
            count(*) as n, count(*) filter (where charge) as charges, coalesce(sum(amount) filter (where charge), 0) as charged,
            -coalesce(sum(amount) filter (where not charge), 0) as reversed, coalesce(sum(amount_usd), 0) as amount_usd
        from (select *, kind in ('charge', 'recurring') as charge from moved where kind <> 'payout') as m group by 1, 2, 3, 4
        on conflict (test, month, contract_id, currency) do update set
            n = t.n + excluded.n, charges = t.charges + excluded.charges, charged = t.charged + excluded.charged, reversed = t.reversed + excluded.reversed, amount_usd = t.amount_usd + excluded.amount_usd;
    return null;
end $$;

create function movements_take_away() returns trigger language plpgsql as $$
declare
    g record;
begin
    for g in
        select test, day, coalesce(country, '') as country, coalesce(state, '') as state, currency,
            count(*) as n, coalesce(sum(amount) filter (where charge), 0) as charged, coalesce(sum(tax) filter (where charge), 0) as collected,
            -coalesce(sum(amount) filter (where not charge), 0) as reversed, -coalesce(sum(tax) filter (where not charge), 0) as refunded,
            count(*) filter (where tax is null and kind in ('refund', 'cancellation_refund', 'chargeback')) as untold
        from (select *, kind in ('charge', 'recurring') as charge from moved where kind <> 'payout') as m group by 1, 2, 3, 4, 5
    loop
        delete from public.daily_taxes t where (t.test, t.day, t.country, t.state, t.currency) = (g.test, g.day, g.country, g.state, g.currency) and t.n = g.n;
        if not found then
            update public.daily_taxes t set n = t.n - g.n, charged = t.charged - g.charged, collected = t.collected - g.collected, reversed = t.reversed - g.reversed, refunded = t.refunded - g.refunded, untold = t.untold - g.untold
            where (t.test, t.day, t.country, t.state, t.currency) = (g.test, g.day, g.country, g.state, g.currency);
        end if;
    end loop;
    for g in
        select test, date_trunc('month', day::timestamp)::date as month, coalesce(country, '') as country, coalesce(state, '') as state, currency,
            count(*) as n, coalesce(sum(amount) filter (where charge), 0) as charged, coalesce(sum(tax) filter (where charge), 0) as collected,
            -coalesce(sum(amount) filter (where not charge), 0) as reversed, -coalesce(sum(tax) filter (where not charge), 0) as refunded,
            count(*) filter (where tax is null and kind in ('refund', 'cancellation_refund', 'chargeback')) as untold
        from (select *, kind in ('charge', 'recurring') as charge from moved where kind <> 'payout') as m group by 1, 2, 3, 4, 5
    loop
        delete from public.monthly_taxes t where (t.test, t.month, t.country, t.state, t.currency) = (g.test, g.month, g.country, g.state, g.currency) and t.n = g.n;
        if not found then
            update public.monthly_taxes t set n = t.n - g.n, charged = t.charged - g.charged, collected = t.collected - g.collected, reversed = t.reversed - g.reversed, refunded = t.refunded - g.refunded, untold = t.untold - g.untold
            where (t.test, t.month, t.country, t.state, t.currency) = (g.test, g.month, g.country, g.state, g.currency);
        end if;
    end loop;
    for g in
        select test, day, coalesce(contract_id, '') as contract_id, currency,
            count(*) as n, count(*) filter (where charge) as charges, coalesce(sum(amount) filter (where charge), 0) as charged,
            -coalesce(sum(amount) filter (where not charge), 0) as reversed, coalesce(sum(amount_usd), 0) as amount_usd
        from (select *, kind in ('charge', 'recurring') as charge from moved where kind <> 'payout') as m group by 1, 2, 3, 4
    loop
        delete from public.daily_contracts t where (t.test, t.day, t.contract_id, t.currency) = (g.test, g.day, g.contract_id, g.currency) and t.n = g.n;
        if not found then
            update public.daily_contracts t set n = t.n - g.n, charges = t.charges - g.charges, charged = t.charged - g.charged, reversed = t.reversed - g.reversed, amount_usd = t.amount_usd - g.amount_usd
            where (t.test, t.day, t.contract_id, t.currency) = (g.test, g.day, g.contract_id, g.currency);
        end if;
    end loop;
    for g in
        select test, date_trunc('month', day::timestamp)::date as month, coalesce(contract_id, '') as contract_id, currency,
            count(*) as n, count(*) filter (where charge) as charges, coalesce(sum(amount) filter (where charge), 0) as charged,
            -coalesce(sum(amount) filter (where not charge), 0) as reversed, coalesce(sum(amount_usd), 0) as amount_usd
        from (select *, kind in ('charge', 'recurring') as charge from moved where kind <> 'payout') as m group by 1, 2, 3, 4
    loop
        delete from public.monthly_contracts t where (t.test, t.month, t.contract_id, t.currency) = (g.test, g.month, g.contract_id, g.currency) and t.n = g.n;
        if not found then
            update public.monthly_contracts t set n = t.n - g.n, charges = t.charges - g.charges, charged = t.charged - g.charged, reversed = t.reversed - g.reversed, amount_usd = t.amount_usd - g.amount_usd
            where (t.test, t.month, t.contract_id, t.currency) = (g.test, g.month, g.contract_id, g.currency);
        end if;
    end loop;
    return null;
end $$;
-- +goose StatementEnd

create trigger movements_added after insert on movements
    referencing new table as moved for each statement execute function movements_add_up();
create trigger movements_removed after delete on movements
    referencing old table as moved for each statement execute function movements_take_away();
create trigger movements_changed_from after update on movements
    referencing old table as moved for each statement execute function movements_take_away();
create trigger movements_changed_to after update on movements
    referencing new table as moved for each statement execute function movements_add_up();

insert into daily_taxes (test, day, country, state, currency, n, charged, collected, reversed, refunded, untold)
    select test, day, '', '', currency, count(*), coalesce(sum(amount) filter (where charge), 0), coalesce(sum(tax) filter (where charge), 0),
        -coalesce(sum(amount) filter (where not charge), 0), -coalesce(sum(tax) filter (where not charge), 0),
        count(*) filter (where tax is null and kind in ('refund', 'cancellation_refund', 'chargeback'))
    from (select *, kind in ('charge', 'recurring') as charge from movements where kind <> 'payout') as m group by test, day, currency;
insert into monthly_taxes (test, month, country, state, currency, n, charged, collected, reversed, refunded, untold)
    select test, date_trunc('month', day::timestamp)::date, country, state, currency, sum(n), sum(charged), sum(collected), sum(reversed), sum(refunded), sum(untold)
    from daily_taxes group by 1, 2, 3, 4, 5;
insert into daily_contracts (test, day, contract_id, currency, n, charges, charged, reversed, amount_usd)
    select test, day, '', currency, count(*), count(*) filter (where charge), coalesce(sum(amount) filter (where charge), 0),
        -coalesce(sum(amount) filter (where not charge), 0), coalesce(sum(amount_usd), 0)
    from (select *, kind in ('charge', 'recurring') as charge from movements where kind <> 'payout') as m group by test, day, currency;
insert into monthly_contracts (test, month, contract_id, currency, n, charges, charged, reversed, amount_usd)
    select test, date_trunc('month', day::timestamp)::date, contract_id, currency, sum(n), sum(charges), sum(charged), sum(reversed), sum(amount_usd)
    from daily_contracts group by 1, 2, 3, 4;

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
drop table declines, daily_declines, daily_taxes, monthly_taxes, daily_contracts, monthly_contracts;
drop trigger movements_added on movements;
drop trigger movements_removed on movements;
drop trigger movements_changed_from on movements;
drop trigger movements_changed_to on movements;
drop function movements_add_up, movements_take_away;
drop index movements_listed;
alter table movements drop column country, drop column state, drop column contract_id;
