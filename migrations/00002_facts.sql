-- Three more facts that consequences are drawn from: a payload may be dropped by retention, the books must not need it.

-- +goose Up
set local lock_timeout = '200ms';

-- "not valid" spares a scan of the whole table under an exclusive lock, which would hold up intake: rows that are there
-- have nulls, and every row from now on is checked.
alter table events
    add column new_contract_id text,
    add column until_at        timestamptz,
    add column deposits        jsonb,
    add constraint events_new_contract_id_check check (new_contract_id <> '' and octet_length(new_contract_id) <= 255) not valid,
    add constraint events_deposits_check check (jsonb_typeof(deposits) = 'array' and deposits <> '[]') not valid;

comment on column events.new_contract_id is 'The plan a CONTRACT_CHANGE moves to.';
comment on column events.until_at is 'The sender''s untilDate as an instant: next renewal, or end of what was paid; null when absent or unreadable.';
comment on column events.deposits is 'The amounts of a payout or a vendor''s report, [{index, amount, currency}]; null where there are none.';

-- +goose Down
set local lock_timeout = '200ms';
alter table events drop column new_contract_id, drop column until_at, drop column deposits;
