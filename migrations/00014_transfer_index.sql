-- +goose NO TRANSACTION
-- The list of bank transfers, newest first. Cards, which are most of all events, are not in it: they cost it nothing.

-- +goose Up
set lock_timeout = '200ms';

-- A build that was interrupted leaves an invalid index, which "if not exists" would take for a good one.
-- +goose StatementBegin
do $$
begin
    if exists (select from pg_index where indexrelid = to_regclass('public.events_transfers') and not indisvalid) then
        drop index public.events_transfers;
    end if;
end $$;
-- +goose StatementEnd

-- A build waits for transactions that began before it, and for another vacuum or build of the table; nobody waits behind it.
set lock_timeout = '30s';
create index concurrently if not exists events_transfers on events (test, payment_method, sorted_at desc, id desc)
    where payment_method <> 'CC' and transaction_type in ('CHARGE', 'CHARGE_PENDING', 'DECLINE');
reset lock_timeout;

-- +goose Down
set lock_timeout = '30s';
drop index concurrently if exists events_transfers;
reset lock_timeout;
