-- +goose NO TRANSACTION
-- One index for each thing that finance filters by, so that the first page of any filter is one short walk, however rare the
-- value is. They are built beside intake, which goes on; a build that was interrupted leaves an invalid index, which is
-- dropped before the next try. All that narrow a list end in its order (time, id): without that the planner walks the whole
-- list for a value that stopped coming long ago.

-- +goose Up
set lock_timeout = '200ms';

-- +goose StatementBegin
do $$
declare
    broken regclass;
begin
    for broken in select indexrelid::regclass from pg_index where indrelid = 'public.events'::regclass and not indisvalid loop
        execute format('drop index %s', broken);
    end loop;
end $$;
-- +goose StatementEnd

-- Those from before the trigger. A receipt of one of these events waits for a thousand of them at most, not for all.
reset lock_timeout;
-- +goose StatementBegin
do $$
declare
    reached bigint := 0;
begin
    loop
        with batch as (
            select distinct event_id from variants where event_id > reached order by event_id limit 1000
        ), marked as (
            update events set varied = true where id in (select event_id from batch) and not varied
        )
        select max(event_id) into reached from batch;
        exit when reached is null;
        commit;
    end loop;
end $$;
-- +goose StatementEnd

-- A build waits for transactions that began before it, and for another vacuum or build of the table; nobody waits behind it.
set lock_timeout = '30s';

-- Lists by time of receipt. Times of receipt hardly ever go back, so inserts fill its last page: the cheapest index there is.
create index concurrently if not exists events_received on events (received_at desc, id desc);

-- A currency that hardly occurs. Inserts go to the ends of a few runs, one per currency.
create index concurrently if not exists events_currency_sorted on events (currency, sorted_at desc, id desc);

-- One amount is a walk; a range of amounts is sorted by what the index holds, without looking at rows. Currency and test stand
-- in it because a range of amounts is seldom asked for without them. Its inserts are scattered: the dearest one here.
create index concurrently if not exists events_amount_sorted on events (amount, sorted_at desc, id desc) include (currency, test) where amount is not null;

-- Renewals and refunds by the charge they go back to: a handful each, so that no order is needed.
create index concurrently if not exists events_original on events (original_reference) where original_reference is not null;

-- A refund or dispute by its own number.
create index concurrently if not exists events_reversal on events (reversal_reference) where reversal_reference is not null;

-- A vendor, of a few or of thousands.
create index concurrently if not exists events_vendor_sorted on events (vendor_id, sorted_at desc, id desc) where vendor_id is not null;

-- Disputes and changes of plan by what became of them: few events have one.
create index concurrently if not exists events_status_sorted on events (status, sorted_at desc, id desc) where status is not null;

-- The few among the many. An ordinary event is in none of these.
create index concurrently if not exists events_test on events (sorted_at desc, id desc) where test;
create index concurrently if not exists events_odd on events (sorted_at desc, id desc) where problems <> '[]';
create index concurrently if not exists events_varied on events (sorted_at desc, id desc) where varied;

-- In place of events_type_sorted: a rare type in a rare currency, or of test orders, is found in the index alone.
create index concurrently if not exists events_type_listed on events (transaction_type, sorted_at desc, id desc) include (currency, test);
drop index concurrently if exists events_type_sorted;

-- In place of events_account: an account that many guests share has thousands of events, all of which had to be sorted.
create index concurrently if not exists events_account_sorted on events (account_id, sorted_at desc, id desc) where account_id is not null;
drop index concurrently if exists events_account;

reset lock_timeout;

-- +goose Down
set lock_timeout = '30s';
create index concurrently if not exists events_account on events (account_id) where account_id is not null;
create index concurrently if not exists events_type_sorted on events (transaction_type, sorted_at desc, id desc);
drop index concurrently if exists events_type_listed;
drop index concurrently if exists events_account_sorted;
drop index concurrently if exists events_varied;
drop index concurrently if exists events_odd;
drop index concurrently if exists events_test;
drop index concurrently if exists events_status_sorted;
drop index concurrently if exists events_vendor_sorted;
drop index concurrently if exists events_reversal;
drop index concurrently if exists events_original;
drop index concurrently if exists events_amount_sorted;
drop index concurrently if exists events_currency_sorted;
drop index concurrently if exists events_received;
reset lock_timeout;
