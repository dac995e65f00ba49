-- Sums of sums, so that a year of totals is read from few rows: by day whatever the kind, and by month.

-- +goose Up
set local lock_timeout = '200ms';

-- One writer of the books waits here until this is done; intake never does.
select event_id from ledger_reach for update;

create table daily_sums (
    test       boolean not null,
    day        date    not null,
    payout     boolean not null,
    currency   text    not null check (currency ~ '^[A-Z]{3}$'),
    n          bigint  not null check (n >= 1),
    amount     numeric not null,
    tax        numeric not null,
    amount_usd numeric not null,
    primary key (test, day, payout, currency)
);

comment on table daily_sums is 'daily_totals with the kinds added up, payouts apart; kept by triggers.';
comment on column daily_sums.test is 'Of test orders: a book of its own.';
comment on column daily_sums.day is 'The day in UTC.';
comment on column daily_sums.payout is 'Whether this is what was paid out, which is never in the net.';
comment on column daily_sums.currency is 'ISO 4217 code of amount and tax.';
comment on column daily_sums.n is 'How many movements; a row of none is taken away.';
comment on column daily_sums.amount is 'Sum of amount.';
comment on column daily_sums.tax is 'Sum of tax, as far as it was told.';
comment on column daily_sums.amount_usd is 'Sum of amount_usd, as far as it was told.';

create table monthly_totals (
    test       boolean not null,
    month      date    not null check (extract(day from month) = 1),
    kind       text    not null,
    currency   text    not null check (currency ~ '^[A-Z]{3}$'),
    n          bigint  not null check (n >= 1),
    amount     numeric not null,
    tax        numeric not null,
    amount_usd numeric not null,
    primary key (test, month, kind, currency)
);

comment on table monthly_totals is 'daily_totals by month; kept by triggers.';
comment on column monthly_totals.test is 'Of test orders: a book of its own.';
comment on column monthly_totals.month is 'The first day of the month, in UTC.';
comment on column monthly_totals.kind is 'As of movements.';
comment on column monthly_totals.currency is 'ISO 4217 code of amount and tax.';
comment on column monthly_totals.n is 'How many movements; a row of none is taken away.';
comment on column monthly_totals.amount is 'Sum of amount.';
comment on column monthly_totals.tax is 'Sum of tax, as far as it was told.';
comment on column monthly_totals.amount_usd is 'Sum of amount_usd, as far as it was told.';

-- Both follow daily_totals whoever writes that. A row that changes keeps its key, so that the difference can be added
-- to a row that is there; to move it, delete and insert it.
-- +goose StatementBegin
create function daily_totals_come() returns trigger language plpgsql as $$
begin
    insert into public.daily_sums as t (test, day, payout, currency, n, amount, tax, amount_usd)
        select test, day, kind = 'payout', currency, sum(n), sum(amount), sum(tax), sum(amount_usd) from came group by 1, 2, 3, 4
        on conflict (test, day, payout, currency) do update set
            n = t.n + excluded.n, amount = t.amount + excluded.amount, tax = t.tax + excluded.tax, amount_usd = t.amount_usd + excluded.amount_usd;
    insert into public.monthly_totals as t (test, month, kind, currency, n, amount, tax, amount_usd)
        select test, date_trunc('month', day::timestamp)::date, kind, currency, sum(n), sum(amount), sum(tax), sum(amount_usd) from came group by 1, 2, 3, 4
        on conflict (test, month, kind, currency) do update set
            n = t.n + excluded.n, amount = t.amount + excluded.amount, tax = t.tax + excluded.tax, amount_usd = t.amount_usd + excluded.amount_usd;
    return null;
end $$;

create function daily_totals_change() returns trigger language plpgsql as $$
begin
    update public.daily_sums t set n = t.n + d.n, amount = t.amount + d.amount, tax = t.tax + d.tax, amount_usd = t.amount_usd + d.amount_usd
        from (
            select test, day, kind = 'payout' as payout, currency, sum(n) as n, sum(amount) as amount, sum(tax) as tax, sum(amount_usd) as amount_usd
            from (select * from came union all select test, day, kind, currency, -n, -amount, -tax, -amount_usd from went) as moved group by 1, 2, 3, 4) as d
        where (t.test, t.day, t.payout, t.currency) = (d.test, d.day, d.payout, d.currency);
    update public.monthly_totals t set n = t.n + d.n, amount = t.amount + d.amount, tax = t.tax + d.tax, amount_usd = t.amount_usd + d.amount_usd
        from (
            select test, date_trunc('month', day::timestamp)::date as month, kind, currency, sum(n) as n, sum(amount) as amount, sum(tax) as tax, sum(amount_usd) as amount_usd
            from (select * from came union all select test, day, kind, currency, -n, -amount, -tax, -amount_usd from went) as moved group by 1, 2, 3, 4) as d
        where (t.test, t.month, t.kind, t.currency) = (d.test, d.month, d.kind, d.currency);
    return null;
end $$;

create function daily_totals_go() returns trigger language plpgsql as $$
begin
    delete from public.daily_sums t
        using (select test, day, kind = 'payout' as payout, currency, sum(n) as n from went group by 1, 2, 3, 4) as d
        where (t.test, t.day, t.payout, t.currency, t.n) = (d.test, d.day, d.payout, d.currency, d.n);
    update public.daily_sums t set n = t.n - d.n, amount = t.amount - d.amount, tax = t.tax - d.tax, amount_usd = t.amount_usd - d.amount_usd
        from (
            select test, day, kind = 'payout' as payout, currency, sum(n) as n, sum(amount) as amount, sum(tax) as tax, sum(amount_usd) as amount_usd
            from went group by 1, 2, 3, 4) as d
        where (t.test, t.day, t.payout, t.currency) = (d.test, d.day, d.payout, d.currency);
    delete from public.monthly_totals t
        using (select test, date_trunc('month', day::timestamp)::date as month, kind, currency, sum(n) as n from went group by 1, 2, 3, 4) as d
        where (t.test, t.month, t.kind, t.currency, t.n) = (d.test, d.month, d.kind, d.currency, d.n);
    update public.monthly_totals t set n = t.n - d.n, amount = t.amount - d.amount, tax = t.tax - d.tax, amount_usd = t.amount_usd - d.amount_usd
        from (
            select test, date_trunc('month', day::timestamp)::date as month, kind, currency, sum(n) as n, sum(amount) as amount, sum(tax) as tax, sum(amount_usd) as amount_usd
            from went group by 1, 2, 3, 4) as d
        where (t.test, t.month, t.kind, t.currency) = (d.test, d.month, d.kind, d.currency);
    return null;
end $$;

create function daily_totals_keep_their_key() returns trigger language plpgsql as $$
begin
    raise exception 'a row of daily_totals keeps its key: delete it and insert another' using errcode = 'restrict_violation';
end $$;
-- +goose StatementEnd

create trigger daily_totals_came after insert on daily_totals
    referencing new table as came for each statement execute function daily_totals_come();
create trigger daily_totals_changed after update on daily_totals
    referencing old table as went new table as came for each statement execute function daily_totals_change();
create trigger daily_totals_went after delete on daily_totals
    referencing old table as went for each statement execute function daily_totals_go();
create trigger daily_totals_moved before update of test, day, kind, currency on daily_totals
    for each row when ((old.test, old.day, old.kind, old.currency) is distinct from (new.test, new.day, new.kind, new.currency))
    execute function daily_totals_keep_their_key();

insert into daily_sums (test, day, payout, currency, n, amount, tax, amount_usd)
    select test, day, kind = 'payout', currency, sum(n), sum(amount), sum(tax), sum(amount_usd) from daily_totals group by 1, 2, 3, 4;
insert into monthly_totals (test, month, kind, currency, n, amount, tax, amount_usd)
    select test, date_trunc('month', day::timestamp)::date, kind, currency, sum(n), sum(amount), sum(tax), sum(amount_usd) from daily_totals group by 1, 2, 3, 4;

-- +goose Down
set local lock_timeout = '200ms';
drop trigger daily_totals_moved on daily_totals;
drop trigger daily_totals_went on daily_totals;
drop trigger daily_totals_changed on daily_totals;
drop trigger daily_totals_came on daily_totals;
drop function daily_totals_keep_their_key(), daily_totals_go(), daily_totals_change(), daily_totals_come();
drop table monthly_totals, daily_sums;
