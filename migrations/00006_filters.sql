-- What finance asks of the history: where the shopper lives, which events were told differently, and the key that keeps
-- the cursors of lists from being made up.

-- +goose Up
set local lock_timeout = '200ms';

-- A new column with a constant default rewrites nothing. "not valid" spares a scan of the whole table under an exclusive
-- lock, which would hold up intake: rows that are there have nulls, and every row from now on is checked.
alter table events
    add column state  text,
    add column varied boolean not null default false,
    add constraint events_state_check check (state <> '' and octet_length(state) <= 255) not valid;

comment on column events.state is 'The shopper''s state, as sent: of the same address as country.';
comment on column events.varied is 'Whether variants has a row of this event. Kept by the trigger of that table, so that a list of such events is one walk of an index.';

-- +goose StatementBegin
create function variants_mark_event() returns trigger language plpgsql as $$
begin
    update events set varied = true where id = new.event_id and not varied;
    return null;
end $$;
-- +goose StatementEnd

create trigger variants_mark_event after insert on variants
    for each row execute function variants_mark_event();

create table cursor_key (
    single boolean primary key default true check (single),
    key    bytea   not null check (octet_length(key) = 32)
);

comment on table cursor_key is 'One row: the key that seals the cursors of lists, the same for every process on this database.';
comment on column cursor_key.single is 'Always true: there is one row.';
comment on column cursor_key.key is 'Random. A new one makes the cursors that were given out before invalid, and nothing else.';

insert into cursor_key (key) select sha256(convert_to(string_agg(gen_random_uuid()::text, ''), 'UTF8')) from generate_series(1, 4);

-- +goose Down
set local lock_timeout = '200ms';
drop trigger variants_mark_event on variants;
drop function variants_mark_event;
alter table events drop column state, drop column varied;
drop table cursor_key;
